// Reads answers of the gateway in all formats: the events of a stream, a whole body, or an error.

import { t } from '../../text/t.ts';
import type { Answer, Bill, Problem, Usage } from './answer.ts';
import { isResponses, readResponses } from './responses-reader.ts';

type Counts = 'prompt_tokens' | 'prompt_cache_hit_tokens' | 'completion_tokens';
type MessagesCounts = 'input_tokens' | 'cache_read_input_tokens' | 'output_tokens';
type UsageFields = Readonly<Partial<Record<Counts | MessagesCounts, number>>>;

/** A content block of Messages, or what a delta adds to it. */
type Block = {
  readonly type?: string;
  readonly text?: string;
  readonly thinking?: string | undefined;
  readonly signature?: string;
  readonly id?: string | undefined;
  readonly name?: string | undefined;
  readonly input?: unknown;
  readonly partial_json?: string | undefined;
  /** The place of a tool call, in chat completions. Other blocks add to the last call. */
  readonly call?: number;
};

/** A message of chat completions, or what a chunk adds to it. */
type Message = {
  readonly content?: string | null;
  readonly reasoning_content?: string;
  readonly tool_calls?: readonly {
    readonly index?: number;
    readonly id?: string;
    readonly function?: { readonly name?: string; readonly arguments?: string };
  }[];
};

type Fields = Partial<Bill> & {
  readonly error?: Partial<Bill & Problem>;
  readonly usage?: Partial<Bill> & UsageFields;
  /** Chat completions. */
  readonly choices?: readonly {
    readonly delta?: Message;
    readonly message?: Message;
    readonly finish_reason?: string | null;
  }[];
  /** Messages. */
  readonly content?: readonly Block[];
  readonly content_block?: Block;
  readonly delta?: Block & { readonly stop_reason?: string | null };
  readonly stop_reason?: string | null;
};

export function isStream({ headers }: Response): boolean {
  return headers.get('content-type')?.startsWith('text/event-stream') === true;
}

/** Yields the data of each event of a stream, or the body of a whole answer. */
export async function* readBody(response: Response): AsyncGenerator<string> {
  if (!isStream(response) || response.body === null) {
    yield await response.text();
    return;
  }
  const reader = response.body.getReader();
  const decoder = new TextDecoder();
  let rest = '';
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    const events = (rest + decoder.decode(value, { stream: true })).split('\n\n');
    rest = events.pop() ?? '';
    for (const event of events) {
      const data = event.split('\n').find((line) => line.startsWith('data: '));
      if (data !== undefined && data !== 'data: [DONE]') yield data.slice('data: '.length);
    }
  }
}

/** The answer with `data` added: an event, or a whole body. */
export function readAnswer(answer: Answer, data: string): Answer {
  const fields: Fields = JSON.parse(data);
  if (isResponses(fields)) return readResponses(answer, fields, readBill);
  const { error, usage, content, content_block: begun, delta, stop_reason: stop } = fields;
  if (error !== undefined) {
    const { message = t('The gateway returned an error without a message.'), code = 'unknown' } =
      error;
    const { param, request_id } = error;
    const problem = { message, code, param, request_id };
    return { ...answer, problem, bill: readBill(error) ?? answer.bill };
  }
  const choice = fields.choices?.[0];
  // The input of a block that begins is empty: its text follows.
  const blocks = content ?? [{ ...begun, ...delta, input: undefined }];
  return {
    ...[...messageBlocks(choice?.delta ?? choice?.message), ...blocks].reduce(addBlock, answer),
    finish: choice?.finish_reason ?? delta?.stop_reason ?? stop ?? answer.finish,
    usage: usage === undefined ? answer.usage : readUsage(usage),
    bill: readBill(fields) ?? readBill(usage) ?? answer.bill,
  };
}

function messageBlocks(message: Message = {}): readonly Block[] {
  const { content, reasoning_content: thinking, tool_calls: calls = [] } = message;
  return [
    { text: content ?? '', thinking },
    ...calls.map(({ index, id, function: called }, place) => ({
      call: index ?? place,
      id,
      name: called?.name,
      partial_json: called?.arguments,
    })),
  ];
}

function addBlock(answer: Answer, block: Block): Answer {
  const { type, text = '', thinking = '', signature = '', input } = block;
  const { length } = answer.calls;
  const { call = type === 'tool_use' ? length : length - 1 } = block;
  const calls = [...answer.calls];
  const before = calls[call] ?? { id: '', name: '', arguments: '' };
  const json = block.partial_json ?? (input === undefined ? '' : JSON.stringify(input));
  if (call >= 0) {
    calls[call] = {
      id: block.id ?? before.id,
      name: block.name ?? before.name,
      arguments: before.arguments + json,
    };
  }
  return {
    ...answer,
    text: answer.text + text,
    reasoning: answer.reasoning + thinking,
    signature: answer.signature + signature,
    calls,
  };
}

function readUsage(usage: UsageFields): Usage {
  const { input_tokens: uncached = 0, cache_read_input_tokens: read = 0 } = usage;
  return {
    input: usage.prompt_tokens ?? uncached + read,
    cached: usage.prompt_cache_hit_tokens ?? read,
    output: usage.completion_tokens ?? usage.output_tokens ?? 0,
  };
}

function readBill(fields: Partial<Bill> = {}): Bill | undefined {
  const { svc_tokens_debited, svc_cost_usd = '', ...flags } = fields;
  const { svc_fallback_used = false, svc_estimated = false } = flags;
  if (svc_tokens_debited === undefined) return undefined;
  return { svc_tokens_debited, svc_cost_usd, svc_fallback_used, svc_estimated };
}
