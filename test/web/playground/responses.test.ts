// The playground in the Responses format: it reads of any answer what it reads of the same answer in
// chat completions, and its requests are read by the gateway as those of chat completions are.

import '../../support/english.ts';
import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { Fold } from '../../../src/core/fold.ts';
import { type Answer, NO_ANSWER } from '../../../src/web/customer/playground/answer.ts';
import { readAnswer } from '../../../src/web/customer/playground/answer-reader.ts';
import { requestBody, type Turn } from '../../../src/web/customer/playground/request.ts';
import {
  type Format,
  NO_SETTINGS,
  type Settings,
} from '../../../src/web/customer/playground/settings.ts';
import { chatFormat } from '../../../src/wire/chat/format.ts';
import type { ClientFormat } from '../../../src/wire/format.ts';
import { responsesFormat } from '../../../src/wire/responses/format.ts';
import { type Exchange, exchange } from '../../fuzz/inputs/exchanges.ts';
import { parseEvents } from '../../support/sse.ts';

const solid = (text: string): string => text.replaceAll(/\s/g, '');

/** What is the same in both: the words for an end differ, and blank ends are left out. */
function common({ text, reasoning, calls, usage, bill, problem }: Answer): object {
  return { text: solid(text), reasoning: solid(reasoning), calls, usage, bill, problem };
}

function streamed(format: ClientFormat, { events, head, receipt }: Exchange): Answer {
  const encoder = format.stream(head);
  const text = encoder.start() + events.map((event) => encoder.push(event)).join('');
  return parseEvents(text + encoder.finish(receipt))
    .filter(({ data }) => data !== '[DONE]')
    .reduce((answer, { data }) => readAnswer(answer, data), NO_ANSWER);
}

function whole(format: ClientFormat, { events, head, receipt }: Exchange): Answer {
  const fold = new Fold();
  for (const event of events) fold.push(event);
  return readAnswer(NO_ANSWER, format.response(head, fold.answer(), receipt));
}

/** Clients know a call by its id, which is its own in an answer. */
const answers = exchange
  .map((input) => ({
    ...input,
    head: { ...input.head, includeUsage: true },
  }))
  .filter(({ events }) => {
    const ids = events.flatMap((event) => (event.kind === 'tool-start' ? event.id : []));
    return new Set(ids).size === ids.length;
  });

test('an answer is read as the same one in chat completions', () => {
  fc.assert(
    fc.property(answers, (input) => {
      expect(common(streamed(responsesFormat, input))).toEqual(common(streamed(chatFormat, input)));
      expect(common(whole(responsesFormat, input))).toEqual(common(whole(chatFormat, input)));
    }),
  );
});

const MODEL = {
  ...{ id: 'swift-1', max_output_tokens: 8_192 },
  features: { reasoning: true, tools: true, json_mode: true },
};

const SETTINGS: Settings = {
  ...NO_SETTINGS,
  system: 'Be brief.',
  parameters: {
    ...{ temperature: '0.5', max_tokens: '300', top_p: '1', user: 'me' },
    ...{ reasoning_effort: 'high', response_format: 'json_object' },
  },
  tools: '[{"name":"get_time","parameters":{"type":"object"}}]',
  toolChoice: 'tool:get_time',
};

const CALL = { id: 'call_1', name: 'get_time', arguments: '{"zone":"CET"}' };
const FACTS = {
  ...{ requestId: 'req_1', asked: 'swift-1', model: 'swift-1', firstMs: 1, totalMs: 2 },
  end: 'complete' as const,
};
const PICTURE = { name: 'a.png', type: 'image/png', data: 'iVBORw0KGgo=' };
const TURNS: readonly Turn[] = [
  { kind: 'user', text: 'What is it?', pictures: [PICTURE] },
  {
    kind: 'assistant',
    answer: { ...NO_ANSWER, text: 'Let me look.', reasoning: 'Hm.', calls: [CALL] },
    facts: FACTS,
  },
  { kind: 'tool', callId: 'call_1', text: 'Noon.' },
];

test('a request reads as the same one in chat completions', () => {
  const read = (format: Format, codec: ClientFormat) => {
    const text = JSON.stringify(requestBody({ ...SETTINGS, format }, MODEL, TURNS));
    const parsed = codec.parse({ value: JSON.parse(text), text });
    const { maxOutputTokens, repeated: _repeated, ...request } = parsed;
    return { ...request, bound: maxOutputTokens?.tokens };
  };
  expect(read('responses', responsesFormat)).toEqual(read('chat', chatFormat));
});
