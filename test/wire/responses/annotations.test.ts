// Citations from an upstream of this format to a client of it: each names the same words of the text,
// wherever the gateway has put them. The other formats have none.

import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { isFailure } from '../../../src/core/failure.ts';
import { answerEvents, Fold } from '../../../src/core/fold.ts';
import type { GenerationEvent, Receipt } from '../../../src/core/generation.ts';
import { createStopCutter } from '../../../src/core/stop.ts';
import { chatFormat } from '../../../src/wire/chat/format.ts';
import type { AnswerHead, ClientFormat } from '../../../src/wire/format.ts';
import { messagesFormat } from '../../../src/wire/messages/format.ts';
import { responsesFormat } from '../../../src/wire/responses/format.ts';
import { exchange } from '../../fuzz/inputs/exchanges.ts';
import { parseEvents } from '../../support/sse.ts';
import { bodyOf, decodeReads, frame, readResponse, USAGE } from '../upstream/responses/support.ts';

type Fields = Record<string, unknown>;
type Cited = { readonly words: string; readonly title: string };
/** By their addresses, each of which is cited once. */
type Citations = Readonly<Record<string, Cited>>;
type Annotation = { type: string; url: string; title: string } & Record<
  'start_index' | 'end_index',
  number
>;
type Item = { readonly type: string; readonly content: readonly Part[] };
type Part = { readonly text: string; readonly annotations: readonly Annotation[] };

const HEAD: AnswerHead = {
  ...{ id: 'a', requestId: 'req_a', model: 'm', createdSeconds: 0 },
  ...{ includeUsage: true, showReasoning: true },
};
const RECEIPT: Receipt = {
  ...{
    modelServed: 'm',
    fallbackUsed: false,
    tokensDebited: '1',
    costUsd: '1',
    balanceTokens: '1',
  },
  usage: {
    ...{ inputTokens: 1, cachedInputTokens: 0, cacheWriteTokens: 0, outputTokens: 1 },
    ...{ reasoningTokens: 0, basis: 'estimated' },
  },
  outcome: 'completed',
};

const words = fc.string({
  unit: fc.constantFrom('a', 'b', ' ', '\n', 'é', '🙂'),
  minLength: 1,
  maxLength: 8,
});
const title = fc.string({ unit: fc.constantFrom('"', 'é', '\ud83d', '\ude42'), maxLength: 4 });
const part = fc.record({
  text: words,
  ranges: fc.array(fc.record({ start: fc.nat(8), length: fc.nat(8), title }), {
    maxLength: 3,
  }),
});
const output = fc.array(
  fc.oneof(
    { weight: 3, arbitrary: fc.array(part, { minLength: 1, maxLength: 3 }) },
    { weight: 1, arbitrary: words.map((text) => `thinking ${text}`) },
  ),
  { minLength: 1, maxLength: 5 },
);

/** The items of an upstream's answer, with an address of its own for each citation. */
function itemsOf(answer: typeof output extends fc.Arbitrary<infer Answer> ? Answer : never) {
  let count = 0;
  return answer.map((item, index) => {
    if (typeof item === 'string') {
      return {
        type: 'reasoning',
        id: `rs_${index}`,
        summary: [{ type: 'summary_text', text: item }],
      };
    }
    const content = item.map(({ text, ranges }) => ({
      ...{ type: 'output_text', text },
      annotations: ranges.map(({ start, length, title }) => {
        count += 1;
        const start_index = start % (text.length + 1);
        const end_index = Math.min(text.length, start_index + length);
        const url = `https://example.com/${count}`;
        return { type: 'url_citation', start_index, end_index, url, title, secret: 'SECRET' };
      }),
    }));
    return { type: 'message', id: `msg_${index}`, role: 'assistant', content };
  });
}

type Items = ReturnType<typeof itemsOf>;

/** The events of each item. An annotation comes after its text, in the whole item, or in both. */
function framesOf(items: Items, pieceLength: number, ways: readonly number[]): string[][] {
  let way = 0;
  return items.map((item, output_index) => {
    const frames = [
      frame('response.output_item.added', { output_index, item: { type: item.type } }),
    ];
    for (const [summary_index, { text }] of (item.summary ?? []).entries()) {
      const at = { output_index, summary_index };
      frames.push(frame('response.reasoning_summary_text.delta', { ...at, delta: text }));
    }
    const content = (item.content ?? []).map((given, content_index) => {
      const at = { output_index, content_index };
      for (let from = 0; from < given.text.length; from += pieceLength) {
        const delta = given.text.slice(from, from + pieceLength);
        frames.push(frame('response.output_text.delta', { ...at, delta }));
      }
      const annotations = given.annotations.filter((annotation) => {
        const chosen = ways[way % ways.length] ?? 0;
        way += 1;
        const event = frame('response.output_text.annotation.added', { ...at, annotation });
        if (chosen !== 0) frames.push(event);
        // One that precedes its text has to come again.
        if (chosen === 0) frames.splice(1, 0, event);
        return chosen !== 1;
      });
      return { ...given, annotations };
    });
    const whole = item.content === undefined ? item : { ...item, content };
    return [...frames, frame('response.output_item.done', { output_index, item: whole })];
  });
}

const ended = frame('response.completed', { response: { usage: USAGE } });

function decoded(text: string): readonly GenerationEvent[] {
  const { events, failure } = decodeReads([new TextEncoder().encode(text + ended)]);
  expect(failure).toBeUndefined();
  return events;
}

function streamed(format: ClientFormat, events: readonly GenerationEvent[], head = HEAD): string {
  const encoder = format.stream(head);
  const start = encoder.start();
  const pushed = events.map((event) => encoder.push(event)).join('');
  return start + pushed + encoder.finish(RECEIPT);
}

function folded(events: readonly GenerationEvent[]) {
  const fold = new Fold();
  for (const event of events) fold.push(event);
  return fold.answer();
}

const texts = (items: readonly Item[]): readonly Part[] =>
  items.flatMap(({ type, content }) => (type === 'message' ? content : []));

/** What each citation names. Fails for one that comes twice. */
function cited(parts: readonly Part[]): Citations {
  const all = parts.flatMap(({ text, annotations }) =>
    annotations.map(({ type, start_index: start, end_index: end, url, title, ...rest }) => {
      expect([type, Object.keys(rest)]).toEqual(['url_citation', []]);
      expect(start >= 0 && start <= end && end <= text.length).toBe(true);
      return [url, { words: text.slice(start, end).toWellFormed(), title }] as const;
    }),
  );
  expect(new Set(all.map(([url]) => url)).size).toBe(all.length);
  return Object.fromEntries(all);
}

function sent(items: Items): Citations {
  const all = items
    .flatMap(({ content }) => content ?? [])
    .flatMap(({ text, annotations }) =>
      annotations.map(({ start_index: start, end_index: end, url, title }) => {
        const named = text.slice(start, end).toWellFormed();
        return [url, { words: named, title: title.toWellFormed() }] as const;
      }),
    );
  return Object.fromEntries(all);
}

/** What a client gets of a stream; its events, parts and items say the same. */
function received(text: string): Citations {
  const events = parseEvents(text).map(({ json }) => Object(json));
  expect(events.map((event) => event.sequence_number)).toEqual(events.map((_, index) => index));
  const whole: readonly Item[] = events.at(-1).response.output;
  for (const { output_index, content_index, part } of events) {
    if (part?.type !== 'output_text' || part.text === '') continue;
    expect(part).toEqual(whole[output_index]?.content[content_index]);
    const added = events.filter(
      (event) =>
        event.type === 'response.output_text.annotation.added' &&
        event.output_index === output_index,
    );
    expect(added.map(({ annotation }) => annotation)).toEqual(part.annotations);
    expect(added.map((event) => event.annotation_index)).toEqual(added.map((_, index) => index));
    expect(added.every((event) => event.content_index === content_index && event.item_id)).toBe(
      true,
    );
  }
  const done = events.filter(({ type }) => type === 'response.output_item.done');
  expect(done.map(({ item }) => item)).toEqual([...whole]);
  return cited(texts(whole));
}

const layout = fc.record({
  answer: output,
  pieceLength: fc.integer({ min: 1, max: 9 }),
  ways: fc.array(fc.nat(2), { minLength: 1, maxLength: 8 }),
  showReasoning: fc.boolean(),
});

test('law: a citation names the same words, streamed and whole', () => {
  fc.assert(
    fc.property(layout, ({ answer, pieceLength, ways, showReasoning }) => {
      const items = itemsOf(answer);
      const head = { ...HEAD, showReasoning };
      const events = decoded(framesOf(items, pieceLength, ways).flat().join(''));
      expect(received(streamed(responsesFormat, events, head))).toEqual(sent(items));
      const whole = readResponse(bodyOf(items));
      if (isFailure(whole)) throw new Error(whole.detail);
      for (const one of [whole, folded(events)]) {
        const body = JSON.parse(responsesFormat.response(head, one, RECEIPT));
        expect(cited(texts(body.output))).toEqual(sent(items));
      }
      expect(received(streamed(responsesFormat, answerEvents(whole), head))).toEqual(sent(items));
    }),
    { numRuns: 1_000 },
  );
});

test('law: a citation of items that interleave names the same words, or is left out', () => {
  let named = 0;
  fc.assert(
    fc.property(layout, fc.infiniteStream(fc.nat(4)), ({ answer, pieceLength, ways }, picks) => {
      const items = itemsOf(answer);
      const queues = framesOf(items, pieceLength, ways);
      let text = '';
      for (let left = queues; left.length > 0; left = left.filter((queue) => queue.length > 0)) {
        text += left[(picks.next().value ?? 0) % left.length]?.shift() ?? '';
      }
      const expected = sent(items);
      const given = received(streamed(responsesFormat, decoded(text)));
      named += Object.keys(given).length;
      expect(expected).toMatchObject(given);
    }),
    { numRuns: 1_000 },
  );
  expect(named).toBeGreaterThan(100);
});

test('law: of an answer that is cut, a citation names text that is left', () => {
  const cuts = fc.record({
    stop: fc.array(fc.constantFrom('a', 'ba', '🙂', 'a b'), { maxLength: 2 }),
    /** How much of each text is left, if another limit cuts it. */
    length: fc.nat(30),
    isWhole: fc.boolean(),
  });
  let lost = 0;
  fc.assert(
    fc.property(layout, cuts, ({ answer, pieceLength, ways }, { stop, length, isWhole }) => {
      const items = itemsOf(answer);
      const all = decoded(framesOf(items, pieceLength, ways).flat().join(''));
      const cutter = createStopCutter(stop);
      const events = [...all.flatMap(cutter.push), ...cutter.end()];
      const { text, ...rest } = folded(events);
      const left = { ...rest, text: isWhole ? text : text.slice(0, length).toWellFormed() };
      const given = cited(texts(JSON.parse(responsesFormat.response(HEAD, left, RECEIPT)).output));
      lost += (rest.annotations?.length ?? 0) - Object.keys(given).length;
      expect(given).toMatchObject(received(streamed(responsesFormat, answerEvents(left))));
      received(streamed(responsesFormat, events));
    }),
    { numRuns: 1_000 },
  );
  expect(lost).toBeGreaterThan(100);
});

test('the other formats have none, and lose nothing to them', () => {
  fc.assert(
    fc.property(exchange, ({ events, head, receipt }) => {
      const without = events.filter(({ kind }) => kind !== 'annotation');
      for (const format of [chatFormat, messagesFormat]) {
        expect(streamed(format, events, head)).toBe(streamed(format, without, head));
        const whole = format.response(head, folded(events), receipt);
        expect(whole).toBe(format.response(head, folded(without), receipt));
      }
    }),
  );
});

describe('annotations of an upstream', () => {
  const text = frame('response.output_text.delta', { output_index: 0, delta: 'One, two.' });
  const event = (annotation: unknown): string =>
    frame('response.output_text.annotation.added', { output_index: 0, annotation });
  const citation = (fields: Fields = {}): Fields => ({
    ...{
      type: 'url_citation',
      start_index: 0,
      end_index: 3,
      url: 'https://example.com',
      title: 'T',
    },
    ...fields,
  });
  const read = (...annotations: unknown[]): object =>
    cited(texts(JSON.parse(whole(text + annotations.map(event).join(''))).output));
  const whole = (stream: string): string =>
    responsesFormat.response(HEAD, folded(decoded(stream)), RECEIPT);

  test('a citation without a title is one', () =>
    expect(read(citation({ title: '' }))).toEqual({
      'https://example.com': { words: 'One', title: '' },
    }));

  test.each<[string, unknown]>([
    ['a file', { type: 'file_citation', file_id: 'file-1', filename: 'a', index: 1 }],
    ['a path', { type: 'file_path', file_id: 'file-1', index: 1 }],
    ['no object', null],
    ['no address', citation({ url: undefined })],
    ['another scheme', citation({ url: 'javascript:alert(1)' })],
    ['half an address', citation({ url: 'https://' })],
    ['no title', citation({ title: null })],
    ['no number', citation({ start_index: '0' })],
    ['a fraction', citation({ end_index: 1.5 })],
    ['a negative place', citation({ start_index: -1 })],
    ['an end before its start', citation({ start_index: 3, end_index: 2 })],
    ['an end behind the text', citation({ end_index: 10 })],
  ])('%s is left out', (_name, annotation) => expect(read(annotation)).toEqual({}));

  test('of more than 64 KiB the rest is left out, and no part of the answer', () => {
    const many = Array.from({ length: 2_000 }, (_, index) =>
      citation({ url: `https://example.com/${index}`, title: 'é"'.repeat(index % 50) }),
    );
    const events = decoded(text + many.map(event).join('') + text);
    const output = JSON.parse(responsesFormat.response(HEAD, folded(events), RECEIPT)).output;
    const { length } = JSON.stringify(texts(output)[0]?.annotations);
    expect([length > 60_000, length <= 65_536]).toEqual([true, true]);
    expect(texts(output)[0]?.text).toBe('One, two.One, two.');
  });

  test('without a text they are no events', () => {
    const opened = frame('response.output_item.added', {
      output_index: 0,
      item: { type: 'message' },
    });
    const alone = opened + event(citation()).repeat(100);
    expect(decoded(alone)).toEqual(decoded(opened));
  });
});
