// A Responses request as the stand-ins read it, and the rules of its items.
//
// Every call has an output and every output a call. A reasoning item has `summary` and no `content`,
// belongs to the model that gave it, and stands before the message, call or reasoning that followed
// it. Its content is what `output_item.done` had: the one of `added` is incomplete. Ids of calls begin
// with `fc_`. Images are strings.
// From: types of openai 7.59.0 (28 November 2026); reports of agent-framework-go 784, sub2api 3138,
// bifrost 5410 and LibreChat agents 422.

import { openai } from './openai-errors.ts';
import type { Ask } from './script.ts';
import type { Json } from './server.ts';

export type Part = {
  readonly type: string;
  readonly text?: string;
  readonly image_url?: unknown;
  readonly file_id?: string;
};

export type InputItem = {
  readonly type?: string;
  readonly id?: string | null;
  readonly role?: string;
  readonly content?: string | readonly Part[];
  readonly call_id?: string;
  readonly phase?: string | null;
  readonly summary?: unknown;
  readonly encrypted_content?: string | null;
};

type ResponsesTool = {
  readonly type: string;
  readonly name?: string;
  readonly parameters?: Json | null;
  readonly strict?: boolean | null;
};

export type ResponsesBody = Json & {
  readonly model: string;
  readonly input?: string | readonly InputItem[];
  readonly instructions?: string | null;
  readonly tools?: readonly ResponsesTool[];
  readonly tool_choice?: string | { readonly type: string; readonly name?: string };
  readonly reasoning?: { readonly effort?: string | null; readonly summary?: string | null };
  readonly text?: {
    readonly format?: { readonly type: string; readonly name?: string; readonly schema?: Json };
  };
  readonly include?: readonly string[];
  readonly store?: boolean;
  readonly stream?: boolean;
  readonly max_output_tokens?: number | null;
};

/** The request's items; a string is one user message. */
export function itemsOf({ input = [] }: ResponsesBody): readonly InputItem[] {
  return typeof input === 'string' ? [{ role: 'user', content: input }] : input;
}

/** The text of a message item. */
export function textIn(content: InputItem['content']): string {
  if (typeof content === 'string') return content;
  return (content ?? []).map((part) => part.text ?? '').join('\n');
}

/** What the request asks the model. */
export function askOf(body: ResponsesBody, thinks: boolean): Ask {
  const items = itemsOf(body);
  const lastUser = items.findLastIndex(({ role }) => role === 'user');
  const asking = items.filter(({ role }) => role !== undefined && role !== 'assistant');
  const { tool_choice: choice, text } = body;
  const last = items.at(-1);
  return {
    last: textIn(items[lastUser]?.content),
    prompt: [body.instructions ?? '', ...asking.map((item) => textIn(item.content))].join('\n'),
    tools: (body.tools ?? []).map((tool) => tool.name ?? ''),
    forbidden: choice === 'none',
    forced: choice === 'required' ? 'any' : typeof choice === 'object' ? choice.name : undefined,
    json: text?.format !== undefined && text.format.type !== 'text',
    results: items.slice(lastUser).filter(({ type }) => type === 'function_call_output').length,
    prefill: last?.role === 'assistant' ? textIn(last.content) : '',
    spoken: textIn(items.findLast(({ role }) => role === 'assistant')?.content),
    thinks,
  };
}

const ROLES = ['user', 'assistant', 'system', 'developer'];
const ASSISTANT_PARTS = ['output_text', 'refusal'];
const USER_PARTS = ['input_text', 'input_image', 'input_file'];

/** Names the model that gave an encrypted content. */
type OwnerOf = (content: string) => string | undefined;

/** Checks the items of a request. Without `ownerOf`, reasoning is text. */
export function checkItems(body: ResponsesBody, ownerOf: OwnerOf | undefined): void {
  const items = itemsOf(body);
  const callIds = (type: string) => {
    return new Set(items.filter((item) => item.type === type).map((item) => item.call_id));
  };
  const calls = callIds('function_call');
  const outputs = callIds('function_call_output');
  for (const [index, item] of items.entries()) {
    const at = `input[${index}]`;
    switch (item.type ?? 'message') {
      case 'message':
        checkMessage(item, at);
        break;
      case 'function_call':
        if (!outputs.has(item.call_id)) {
          throw openai(`No tool output found for function call ${item.call_id}.`, {
            param: 'input',
          });
        }
        if (item.id != null && !item.id.startsWith('fc_')) {
          const text = `Invalid '${at}.id': '${item.id}'. Expected an ID that begins with 'fc'.`;
          throw openai(text, { param: `${at}.id`, code: 'invalid_value' });
        }
        break;
      case 'function_call_output':
        if (!calls.has(item.call_id)) {
          const text = `No tool call found for function call output with call_id ${item.call_id}.`;
          throw openai(text, { param: 'input' });
        }
        break;
      case 'reasoning':
        checkReasoning(item, items[index + 1], at, body.model, ownerOf);
        break;
      default:
        throw openai(`Invalid value: '${item.type}'.`, {
          param: `${at}.type`,
          code: 'invalid_value',
        });
    }
  }
}

function checkMessage({ role = '', content }: InputItem, at: string): void {
  if (!ROLES.includes(role)) {
    throw openai(`Invalid value: '${role}'.`, { param: `${at}.role`, code: 'invalid_value' });
  }
  const allowed = role === 'assistant' ? ASSISTANT_PARTS : USER_PARTS;
  for (const part of typeof content === 'string' ? [] : (content ?? [])) {
    const envelope = { param: `${at}.content`, code: 'invalid_value' };
    if (!allowed.includes(part.type)) throw openai(`Invalid value: '${part.type}'.`, envelope);
    if (part.type !== 'input_image' || part.file_id !== undefined) continue;
    if (typeof part.image_url !== 'string') {
      throw openai(`Invalid type for '${at}.content.image_url': expected an image URL.`, envelope);
    }
  }
}

function checkReasoning(
  item: InputItem,
  next: InputItem | undefined,
  at: string,
  model: string,
  ownerOf: OwnerOf | undefined,
): void {
  if (!Array.isArray(item.summary)) {
    const param = `${at}.summary`;
    throw openai(`Missing required parameter: '${param}'.`, {
      param,
      code: 'missing_required_parameter',
    });
  }
  if (ownerOf !== undefined) checkEncrypted(item, at, model, ownerOf);
  const follows = ['function_call', 'reasoning'].includes(next?.type ?? '');
  if (!follows && next?.role !== 'assistant') {
    const text = `Item '${item.id}' of type 'reasoning' was provided without its required following item.`;
    throw openai(text, { param: 'input' });
  }
}

function checkEncrypted(
  { id, content, encrypted_content: encrypted }: InputItem,
  at: string,
  model: string,
  ownerOf: OwnerOf,
): void {
  if ((content?.length ?? 0) > 0) {
    const text = `Invalid '${at}.content': expected an array with maximum length 0.`;
    throw openai(text, { param: `${at}.content`, code: 'array_above_max_length' });
  }
  if (encrypted == null) {
    const text = `Item with id '${id}' not found. Items are not persisted when \`store\` is set to false.`;
    throw openai(text, { status: 404, param: 'input' });
  }
  if (ownerOf(encrypted) !== model) {
    const text = `The encrypted content for item ${id} could not be verified.`;
    throw openai(text, { code: 'invalid_encrypted_content' });
  }
}
