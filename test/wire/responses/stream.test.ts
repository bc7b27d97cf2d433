// A Responses stream as the library of its vendor reads it: what it accumulates is what a whole answer
// says.

import { expect, test } from 'bun:test';
import fc from 'fast-check';
import OpenAI from 'openai';
import type { Response as OpenAiResponse } from 'openai/resources/responses/responses';
import OpenAI6 from 'openai-6';
import { Fold } from '../../../src/core/fold.ts';
import type { GenerationEvent } from '../../../src/core/generation.ts';
import type { AnswerHead } from '../../../src/wire/format.ts';
import { responsesFormat } from '../../../src/wire/responses/format.ts';
import { type Exchange, exchange } from '../../fuzz/inputs/exchanges.ts';
import { parseEvents } from '../../support/sse.ts';

/** Every second name is that of a custom tool, and every third one has a namespace. */
function withTools(head: AnswerHead, events: readonly GenerationEvent[]): AnswerHead {
  const names = events.flatMap((event) => (event.kind === 'tool-start' ? event.name : []));
  const distinct = [...new Set(names)];
  return {
    ...head,
    customTools: distinct.filter((_, index) => index % 2 === 1),
    namespaced: distinct
      .filter((_, index) => index % 3 === 2)
      .map((name) => ({ name, inNamespace: { namespace: 'space', name: 'tool' } })),
  };
}

function streamed(head: AnswerHead, { events, receipt, silences }: Exchange): string {
  const encoder = responsesFormat.stream(head);
  let text = encoder.start();
  for (const [place, event] of events.entries()) {
    if (silences.includes(place)) text += encoder.heartbeat();
    text += encoder.push(event);
  }
  return text + encoder.finish(receipt);
}

/** What the library makes of a stream. */
async function accumulated(Library: typeof OpenAI, text: string): Promise<OpenAiResponse> {
  const headers = { 'content-type': 'text/event-stream' };
  const client = new Library({
    apiKey: 'sk-test',
    maxRetries: 0,
    fetch: async () => new Response(text, { headers }),
  });
  return client.responses.stream({ model: 'm', input: 'Hello?' }).finalResponse();
}

function said({ output, status, incomplete_details: details, usage }: OpenAiResponse): object {
  const of = (type: string) => output.filter((item) => item.type === type);
  return {
    text: of('message')
      .flatMap((item) => (item.type === 'message' ? item.content : []))
      .map((part) => (part.type === 'output_text' ? part.text : ''))
      .join(''),
    calls: output.flatMap((item) => {
      if (item.type === 'function_call') {
        return [[item.type, item.call_id, item.name, item.namespace, item.arguments]];
      }
      if (item.type !== 'custom_tool_call') return [];
      return [[item.type, item.call_id, item.name, item.namespace, item.input]];
    }),
    status,
    details,
    usage: {
      input: usage?.input_tokens,
      inputDetails: usage?.input_tokens_details,
      output: usage?.output_tokens,
      outputDetails: usage?.output_tokens_details,
      total: usage?.total_tokens,
    },
  };
}

/** The pieces of each item make what its end says, and the last event repeats the items. */
function checkItems(text: string): void {
  const events = parseEvents(text).map(({ json }) => Object(json));
  const of = (name: string) => events.filter(({ type }) => String(type).endsWith(name));
  const items = of('output_item.done');
  const whole = events.at(-1)?.response.output;
  expect(items.toSorted((a, b) => a.output_index - b.output_index).map(({ item }) => item)).toEqual(
    whole,
  );
  expect(of('output_item.added').map(({ item }) => item.id)).toEqual(
    whole.map(({ id }: { id: string }) => id),
  );
  for (const { output_index: index, item } of items) {
    const pieces = of('.delta').filter((event) => event.output_index === index);
    const said = item.arguments ?? item.input ?? (item.summary ?? item.content)[0]?.text ?? '';
    expect(pieces.map(({ delta }) => delta).join('')).toBe(said);
  }
}

test.each([
  ['openai 6', OpenAI6 as unknown as typeof OpenAI],
  ['openai 7', OpenAI],
])('%s accumulates what the whole answer says', async (_name, Library) => {
  await fc.assert(
    fc.asyncProperty(exchange, async (input) => {
      const { events, receipt } = input;
      const head = withTools(input.head, events);
      const fold = new Fold();
      for (const event of events) fold.push(event);
      const whole = JSON.parse(responsesFormat.response(head, fold.answer(), receipt));
      const text = streamed(head, input);
      expect(said(await accumulated(Library, text))).toEqual(said(whole));
      checkItems(text);
      const numbers = parseEvents(text).map(({ json }) => Object(json).sequence_number);
      expect(numbers).toEqual(numbers.map((_, index) => index));
    }),
  );
});
