// Parses the bytes of an answer in either client format, streamed or whole, into one shape to
// compare. Deliberately independent of the gateway's own parsers.

import type { Format } from './client.ts';
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

/** The Messages format's words for how an answer ended; it has none for a filter. */
const REASONS: Readonly<Record<string, string>> = {
  stop: 'end_turn',
  length: 'max_tokens',
  tool_calls: 'tool_use',
  content_filter: 'end_turn',
};

/** The same with its reason in the words of a format, as `readAnswerContent` reads it. */
export function inWordsOf(format: Format, said: AnswerContent): AnswerContent {
  return format === 'chat' ? said : { ...said, reason: REASONS[String(said.reason)] };
}

export function readAnswerContent(format: Format, text: string): AnswerContent {
  const isWhole = text.startsWith('{');
  const events = isWhole ? [JSON.parse(text)] : parseEvents(text).map((event) => event.json ?? {});
  if (format === 'chat') return readChunks(events);
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
