// Answers of the Responses endpoint, whole and as a stream. Each event has its type and a rising
// number; a reasoning item is incomplete until `output_item.done`.
// From: types of openai 7.59.0 (28 November 2026).

import type { ResponsesBody } from './responses-body.ts';
import { type OutputItem, outputItem } from './responses-items.ts';
import type { ResponsesSeller } from './responses-sellers.ts';
import { callsOf, fresh, pieces, slowWords, type Turn } from './script.ts';
import type { Counts, Json } from './server.ts';

export type ResponseRecord = Json & { readonly output: readonly OutputItem[] };

/** The whole answer. */
export function responseOf(
  body: ResponsesBody,
  turn: Turn,
  counts: Counts,
  seller: ResponsesSeller,
): ResponseRecord {
  const options = {
    filtered: turn.filtered,
    summarized: body.reasoning?.summary != null,
    encrypted: body.include?.includes('reasoning.encrypted_content') === true,
    open: seller === 'local',
    phase: callsOf(turn).length > 0 ? 'commentary' : 'final_answer',
  };
  const output = turn.items.map((item) => outputItem(item, options));
  return {
    id: fresh('resp_'),
    object: 'response',
    created_at: 1,
    status: 'completed',
    error: null,
    incomplete_details: null,
    model: body.model,
    output,
    store: body.store ?? true,
    service_tier: 'default',
    tools: body.tools ?? [],
    usage: {
      input_tokens: counts.prompt,
      input_tokens_details: { cached_tokens: counts.cached, cache_write_tokens: counts.written },
      output_tokens: counts.output,
      output_tokens_details: { reasoning_tokens: counts.thinking },
      total_tokens: counts.prompt + counts.output,
      ...(seller === 'xai' ? { cost_in_usd_ticks: 12_345 } : {}),
    },
  };
}

/** The same as a stream. */
export async function* streamResponse(
  response: ResponseRecord,
  turn: Turn,
): AsyncGenerator<string> {
  let number = 0;
  const event = (type: string, fields: Json): string => {
    const data = JSON.stringify({ type, sequence_number: number, ...fields });
    number += 1;
    return `event: ${type}\ndata: ${data}\n\n`;
  };
  const begun = { ...response, status: 'in_progress', output: [], usage: null };
  yield event('response.created', { response: begun });
  yield event('response.in_progress', { response: begun });
  for (const [index, item] of response.output.entries()) {
    const at = { item_id: item.id, output_index: index };
    yield event('response.output_item.added', { output_index: index, item: begunItem(item) });
    for await (const [type, fields] of innerEvents(item, turn)) {
      yield event(`response.${type}`, { ...at, ...fields });
    }
    yield event('response.output_item.done', { output_index: index, item });
  }
  yield event('response.completed', { response });
}

function begunItem(item: OutputItem): Json {
  switch (item.type) {
    case 'reasoning':
      return { ...item, summary: [], content: [], encrypted_content: 'incomplete' };
    case 'message':
      return { ...item, status: 'in_progress', content: [] };
    case 'function_call':
      return { ...item, status: 'in_progress', arguments: '' };
  }
}

type Inner = readonly [type: string, fields: Json];

async function* innerEvents(item: OutputItem, turn: Turn): AsyncGenerator<Inner> {
  switch (item.type) {
    case 'reasoning':
      for (const [index, part] of item.summary.entries()) {
        const at = { summary_index: index };
        const empty = { ...part, text: '' };
        yield ['reasoning_summary_part.added', { ...at, part: empty }];
        for (const delta of pieces(part.text)) {
          yield ['reasoning_summary_text.delta', { ...at, delta }];
        }
        yield ['reasoning_summary_text.done', { ...at, text: part.text }];
        yield ['reasoning_summary_part.done', { ...at, part }];
      }
      for (const [index, { text }] of (item.content ?? []).entries()) {
        const at = { content_index: index };
        for (const delta of pieces(text)) yield ['reasoning_text.delta', { ...at, delta }];
        yield ['reasoning_text.done', { ...at, text }];
      }
      return;
    case 'message': {
      const [part = { type: '' }] = item.content;
      const member = part.type === 'refusal' ? 'refusal' : 'text';
      const kind = part.type;
      const at = { content_index: 0 };
      yield ['content_part.added', { ...at, part: { ...part, [member]: '' } }];
      for await (const delta of slowWords(turn)) yield [`${kind}.delta`, { ...at, delta }];
      for (const delta of pieces(String(part[member]))) {
        yield [`${kind}.delta`, { ...at, delta, obfuscation: 'abcd' }];
      }
      yield [`${kind}.done`, { ...at, [member]: part[member] }];
      yield ['content_part.done', { ...at, part }];
      return;
    }
    case 'function_call':
      for (const delta of pieces(item.arguments)) {
        yield ['function_call_arguments.delta', { delta, obfuscation: 'x' }];
      }
      yield ['function_call_arguments.done', { name: item.name, arguments: item.arguments }];
  }
}
