// Parses the bytes of an answer in any client format, streamed or whole, into one shape to
// compare. Deliberately independent of the gateway's own parsers.

import { expect } from 'bun:test';
import type { EveryFormat } from './client.ts';
import { parseEvents } from './sse.ts';

type Json = Readonly<Record<string, unknown>>;

export type AnswerContent = {
  readonly reasoning: string;
  readonly text: string;
  readonly calls: readonly {
    readonly id: unknown;
    readonly name: unknown;
    readonly json: string;
  }[];
  /** In the words of the chat format. */
  readonly reason: unknown;
};

/** The words of the other formats for how an answer ended; Messages has none for a filter. */
const REASONS: Readonly<Record<Exclude<EveryFormat, 'chat'>, Readonly<Record<string, string>>>> = {
  messages: {
    stop: 'end_turn',
    length: 'max_tokens',
    tool_calls: 'tool_use',
    content_filter: 'end_turn',
  },
  responses: { stop: 'completed', length: 'max_output_tokens', tool_calls: 'completed' },
};

/** How an answer ended, in the words of a format. */
export function reasonIn(format: EveryFormat, reason: string): string {
  return format === 'chat' ? reason : (REASONS[format][reason] ?? reason);
}

/** The same with its reason in the words of a format, as `readAnswerContent` reads it. */
export function inWordsOf(format: EveryFormat, said: AnswerContent): AnswerContent {
  return { ...said, reason: reasonIn(format, String(said.reason)) };
}

/** The usage that an event or a whole answer has, if any. */
export function usageIn(json: Json): Json | undefined {
  return (json['usage'] ?? (json['response'] as Json | undefined)?.['usage']) as Json | undefined;
}

export function readAnswerContent(format: EveryFormat, text: string): AnswerContent {
  const isWhole = text.startsWith('{');
  const events = isWhole ? [JSON.parse(text)] : parseEvents(text).map((event) => event.json ?? {});
  if (format === 'chat') return readChunks(events);
  if (format === 'responses') return isWhole ? readOutput(events[0]) : readItemEvents(events);
  return isWhole ? readMessage(events[0]) : readBlockEvents(events);
}

/** A whole answer is one chunk with a `message` for a delta. */
function readChunks(chunks: readonly Json[]): AnswerContent {
  const calls: { id: unknown; name: unknown; json: string }[] = [];
  const said = { reasoning: '', text: '', reason: undefined as unknown };
  for (const chunk of chunks) {
    const [choice = {}] = (chunk['choices'] ?? []) as Json[];
    const delta = (choice['delta'] ?? choice['message'] ?? {}) as Json;
    said.reasoning += delta['reasoning_content'] ?? '';
    said.text += delta['content'] ?? '';
    said.reason = choice['finish_reason'] ?? said.reason;
    for (const [position, piece] of ((delta['tool_calls'] ?? []) as Json[]).entries()) {
      const { name, arguments: json } = piece['function'] as Json;
      const index = Number(piece['index'] ?? position);
      const call = calls[index] ?? { id: piece['id'], name, json: '' };
      calls[index] = { ...call, json: `${call.json}${json}` };
    }
  }
  return { ...said, calls };
}

function readMessage({ content, stop_reason: reason }: Json): AnswerContent {
  const blocks = (content as Json[]).map((block) => {
    return { ...block, json: JSON.stringify(block['input']) };
  });
  return fromBlocks(blocks, reason);
}

/** Which member of a block grows by which member of a delta. */
const GROWING = [
  ['text', 'text'],
  ['thinking', 'thinking'],
  ['json', 'partial_json'],
] as const;

function readBlockEvents(events: readonly Json[]): AnswerContent {
  const blocks: Record<string, unknown>[] = [];
  let reason: unknown;
  for (const event of events) {
    const delta = (event['delta'] ?? {}) as Json;
    if (event['type'] === 'message_delta') reason = delta['stop_reason'];
    if (event['type'] === 'content_block_start') {
      blocks.push({ ...(event['content_block'] as Json), json: '' });
    }
    const block = blocks[Number(event['index'])];
    if (event['type'] !== 'content_block_delta' || block === undefined) continue;
    for (const [member, piece] of GROWING) {
      if (piece in delta) block[member] = `${block[member]}${delta[piece]}`;
    }
  }
  return fromBlocks(blocks, reason);
}

function fromBlocks(blocks: readonly Json[], reason: unknown): AnswerContent {
  const joined = (member: string): string => blocks.map((block) => block[member] ?? '').join('');
  return {
    reasoning: joined('thinking'),
    text: joined('text'),
    calls: blocks
      .filter((block) => block['type'] === 'tool_use')
      .map(({ id, name, json }) => ({ id, name, json: String(json) })),
    reason,
  };
}

function readOutput({ output, status, incomplete_details: cut }: Json): AnswerContent {
  const items = output as Json[];
  const joined = (member: string): string =>
    items
      .flatMap((item) => (item[member] ?? []) as Json[])
      .map(({ text }) => text)
      .join('');
  return {
    reasoning: joined('summary'),
    text: joined('content'),
    calls: items
      .filter(({ type }) => type === 'function_call')
      .map(({ call_id: id, name, arguments: json }) => ({ id, name, json: String(json) })),
    reason: (cut as Json | null)?.['reason'] ?? (status === 'failed' ? undefined : status),
  };
}

/** By its deltas, which the response at its end must agree with. */
function readItemEvents(events: readonly Json[]): AnswerContent {
  const begun: Json[] = [];
  const pieces: string[] = [];
  for (const { type, output_index: at, item, delta } of events) {
    const index = Number(at);
    if (type === 'response.output_item.added') begun[index] = item as Json;
    if (delta !== undefined) pieces[index] = `${pieces[index] ?? ''}${delta}`;
  }
  const output = begun.map((item, index) => {
    const text = pieces[index] ?? '';
    if (item['type'] === 'function_call') return { ...item, arguments: text };
    return { ...item, [item['type'] === 'reasoning' ? 'summary' : 'content']: [{ text }] };
  });
  const end = events.findLast(({ type }) =>
    /^response\.(completed|incomplete|failed)$/.test(String(type)),
  );
  const last = (end?.['response'] ?? {}) as Json;
  const said = readOutput({ ...last, output });
  if (end !== undefined) expect(readOutput(last)).toEqual(said);
  return said;
}
