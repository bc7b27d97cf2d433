// A chat-completions request as the stand-ins read it. Vendors differ in what they refuse of it.

import type { Ask } from './script.ts';
import type { Json } from './server.ts';

export type ChatPart = {
  readonly type: string;
  readonly text?: string;
  readonly image_url?: { readonly url?: string };
  readonly thinking?: readonly ChatPart[];
};

export type ChatCall = {
  readonly id: string;
  readonly type?: string;
  readonly function: { readonly name: string; readonly arguments: string };
  readonly extra_content?: { readonly google?: { readonly thought_signature?: string } };
};

/** A reasoning detail of OpenRouter and MiniMax. */
export type Detail = Json & {
  readonly type: string;
  readonly text?: string;
  readonly data?: string;
};

export type ChatTurn = {
  readonly role: string;
  readonly content?: string | null | readonly ChatPart[];
  readonly name?: string;
  readonly tool_calls?: readonly ChatCall[] | null;
  readonly tool_call_id?: string;
  readonly reasoning_content?: string | null;
  readonly reasoning?: string | null;
  readonly reasoning_details?: readonly Detail[];
  readonly prefix?: boolean;
  readonly partial?: boolean;
};

type Schema = Json & { readonly additionalProperties?: unknown; readonly properties?: unknown };

export type ChatFunction = {
  readonly name: string;
  readonly parameters?: Schema;
  readonly strict?: boolean | null;
};

export type ChatBody = Json & {
  readonly model: string;
  readonly messages: readonly ChatTurn[];
  readonly stream?: boolean;
  readonly stream_options?: { readonly include_usage?: boolean };
  readonly tools?: readonly { readonly type: string; readonly function: ChatFunction }[];
  readonly tool_choice?: string | { readonly function?: { readonly name?: string } };
  readonly response_format?: {
    readonly type: string;
    readonly json_schema?: { readonly strict?: boolean; readonly schema?: Schema };
  };
  readonly reasoning_effort?: string | null;
  readonly thinking?: Json & { readonly type?: string };
  readonly stop?: string | readonly string[] | null;
  readonly max_tokens?: number | null;
  readonly max_completion_tokens?: number | null;
};

/** The text of a content, in one piece. */
export function textIn(content: ChatTurn['content']): string {
  if (typeof content === 'string') return content;
  return (content ?? []).map((part) => part.text ?? '').join('\n');
}

/** All parts of a kind in the request's turns. */
export function partsOf(body: ChatBody, type: string): ChatPart[] {
  return body.messages.flatMap(({ content }) => {
    return typeof content === 'string' ? [] : (content ?? []).filter((part) => part.type === type);
  });
}

/** The names of the request's tools. */
export function toolNames(body: ChatBody): string[] {
  return (body.tools ?? []).map((tool) => tool.function.name);
}

/** Whether the request forces a tool, by name or at all. */
export function forcedTool({ tools = [], tool_choice: choice }: ChatBody): string | undefined {
  if (tools.length === 0) return undefined;
  if (choice === 'required' || choice === 'any') return 'any';
  return typeof choice === 'object' ? choice.function?.name : undefined;
}

/** The text of a last assistant turn without calls; empty where the request has none. */
export function prefillOf({ messages }: ChatBody): string {
  const last = messages.at(-1);
  const calls = last?.tool_calls?.length ?? 0;
  return last?.role === 'assistant' && calls === 0 ? textIn(last.content) : '';
}

/** The first assistant turn with calls for which `isMissing`; -1 where there is none. */
export function callTurnWithout(
  { messages }: ChatBody,
  isMissing: (turn: ChatTurn) => boolean,
): number {
  return messages.findIndex((turn) => {
    return turn.role === 'assistant' && (turn.tool_calls?.length ?? 0) > 0 && isMissing(turn);
  });
}

/** What the request asks the model. `prefill` is what the vendor takes as a beginning. */
export function askOf(body: ChatBody, thinks: boolean, prefill: string): Omit<Ask, 'forced'> {
  const { messages, response_format: format } = body;
  const lastUser = messages.findLastIndex((turn) => turn.role === 'user');
  const asking = messages.filter(({ role }) => role !== 'assistant' && role !== 'tool');
  return {
    last: textIn(messages[lastUser]?.content),
    prompt: asking.map((turn) => textIn(turn.content)).join('\n'),
    tools: toolNames(body),
    forbidden: body.tool_choice === 'none',
    json: format !== undefined && format.type !== 'text',
    results: messages.slice(lastUser).filter(({ role }) => role === 'tool').length,
    prefill,
    spoken: textIn(messages.findLast((turn) => turn.role === 'assistant')?.content),
    thinks,
  };
}
