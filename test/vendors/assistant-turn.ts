// An answer as the assistant turn, or the items, that a client keeps: whole, or put together from a
// stream, with every member that the server gave.

import type { EveryFormat } from '../support/client.ts';
import { parseEvents } from '../support/sse.ts';
import type { Json } from './stand-ins/server.ts';

/** The turn of an answer; in Responses, its items. */
export function answerTurns(format: EveryFormat, text: string): readonly Json[] {
  if (text.startsWith('{')) {
    const whole = JSON.parse(text) as Json;
    if (format === 'messages') return [{ role: 'assistant', content: whole['content'] }];
    if (format === 'responses') return whole['output'] as readonly Json[];
    const [choice] = whole['choices'] as readonly { readonly message: Json }[];
    return [choice?.message ?? {}];
  }
  const events = parseEvents(text).map((event) => event.json ?? {});
  if (format === 'responses') {
    const done = events.filter(({ type }) => type === 'response.output_item.done');
    return done
      .toSorted((a, b) => Number(a['output_index']) - Number(b['output_index']))
      .map(({ item }) => item as Json);
  }
  return [format === 'messages' ? turnOfBlocks(events) : turnOfChunks(events)];
}

type Delta = {
  readonly content?: string | null;
  readonly reasoning_content?: string;
  readonly tool_calls?: readonly CallDelta[];
};

type CallDelta = {
  readonly index: number;
  readonly id?: string;
  readonly function: { readonly name?: string; readonly arguments: string };
};

function turnOfChunks(chunks: readonly Json[]): Json {
  let content = '';
  let reasoning = '';
  const calls: { id?: string; type: string; function: { name?: string; arguments: string } }[] = [];
  for (const chunk of chunks) {
    const [choice] = (chunk['choices'] ?? []) as readonly { readonly delta: Delta }[];
    content += choice?.delta.content ?? '';
    reasoning += choice?.delta.reasoning_content ?? '';
    for (const { index, ...call } of choice?.delta.tool_calls ?? []) {
      const known = calls[index];
      if (known === undefined) calls[index] = { type: 'function', ...structuredClone(call) };
      else known.function.arguments += call.function.arguments;
    }
  }
  return {
    role: 'assistant',
    content: content === '' ? null : content,
    ...(reasoning === '' ? {} : { reasoning_content: reasoning }),
    ...(calls.length === 0 ? {} : { tool_calls: calls }),
  };
}

type OpenBlock = Record<string, unknown>;

/** Which member of a block grows by which member of a delta. */
const GROWING = [
  ['text', 'text'],
  ['thinking', 'thinking'],
  ['signature', 'signature'],
  ['json', 'partial_json'],
] as const;

function turnOfBlocks(events: readonly Json[]): Json {
  const blocks: OpenBlock[] = [];
  for (const event of events) {
    if (event['type'] === 'content_block_start') {
      blocks.push({ ...(event['content_block'] as Json) });
    }
    const block = blocks[Number(event['index'])];
    const delta = (event['delta'] ?? {}) as Json;
    if (event['type'] !== 'content_block_delta' || block === undefined) continue;
    for (const [member, piece] of GROWING) {
      if (piece in delta) block[member] = `${block[member] ?? ''}${delta[piece]}`;
    }
  }
  const content = blocks.map(({ json, ...block }) => {
    return block['type'] === 'tool_use' ? { ...block, input: JSON.parse(String(json)) } : block;
  });
  return { role: 'assistant', content };
}
