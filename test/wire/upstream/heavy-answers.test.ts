// Answers of a hostile upstream that would keep the parser or a reader for long. What is heavy is
// malformed, however it comes, and a long word takes no longer than its length.

import { describe, expect, test } from 'bun:test';
import { BUILT_IN_PROFILES } from '../../../src/core/built-in-profiles.ts';
import { dialectOf } from '../../../src/wire/upstream/dialect.ts';
import { cpuTimer } from '../../support/cpu-time.ts';

const many = (count: number, of: (index: number) => string): string =>
  Array.from({ length: count }, (_, index) => of(index)).join();
const nested = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth);

/** The value of a member that no reader uses. */
const HEAVY: readonly (readonly [string, string])[] = [
  ['1,000,000 levels', nested(1_000_000)],
  ['levels that never end', '['.repeat(1_000_000)],
  ['200,000 objects', `[${many(200_000, () => '{}')}]`],
  ['60,000 members', `[${many(60_000, () => '{"a":1}')}]`],
  ['30,000 different names', `{${many(30_000, (index) => `"a${index}":1`)}}`],
];

/** `@` is a long word, which no pattern may be compared with from every place in it. */
const WORDED: readonly string[] = [
  ...['{"type":"response.@"}', '{"choices":[{"delta":{},"finish_reason":"@"}]}'],
  ...['{"error":{"type":"@","code":"@","message":"@"}}', '{"type":"error","code":"@"}'],
  '{"type":"response.failed","response":{"status":"failed","error":{"code":"@"}}}',
  '{"type":"response.incomplete","response":{"incomplete_details":{"reason":"@"}}}',
  '{"type":"response.output_item.done","output_index":0,"item":{"type":"message","content":[{"text":"a","annotations":[{"type":"url_citation","url":"http://@","title":"","start_index":0,"end_index":1}]}]}}',
  '{"type":"message_delta","delta":{"stop_reason":"@"}}',
];

const DIALECTS = ['chat', 'messages', 'responses'] as const;

function dialect(name: string) {
  return dialectOf(BUILT_IN_PROFILES.get(name) ?? expect.unreachable());
}

/** The failure of a stream of these bytes, and how many events it had. */
function readStream(name: string, text: string) {
  let events = 0;
  const stream = dialect(name).stream(() => {
    events += 1;
  });
  const bytes = new TextEncoder().encode(text);
  let failure = stream.feed(bytes);
  failure ??= stream.end();
  return { failure, events };
}

describe.each(DIALECTS)('%s', (name) => {
  test.each(HEAVY)('%s in an event', (_name, value) => {
    for (const event of ['', 'event: error\n']) {
      const { failure, events } = readStream(name, `${event}data: {"x":${value}}\n\n`);
      expect([failure?.class, events]).toEqual(['malformed', 0]);
    }
  });

  test.each(HEAVY)('%s in a whole answer', (_name, value) => {
    expect(dialect(name).response(`{"x":${value}}`)).toMatchObject({ class: 'malformed' });
  });

  // A URL parser takes seconds for 200,000 labels of a host.
  test.each([
    ['_call', 40_000],
    ['policy', 40_000],
    ['image', 40_000],
    ['limit', 40_000],
    ['é.', 200_000],
  ])('a word of many "%s"', (unit, count) => {
    for (const event of WORDED) {
      const text = event.replaceAll('@', `${unit.repeat(count)}!`);
      const cpuMs = cpuTimer();
      readStream(name, `data: ${text}\n\n`);
      expect(cpuMs(), event).toBeLessThan(2_000);
    }
  });
});

test('so many choices in an event', () => {
  const choices = (count: number) =>
    `data: {"choices":[${many(count, (index) => `{"index":${index},"delta":{"content":"a"}}`)}]}\n\n`;
  const done = 'data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\n';
  expect(readStream('chat', choices(129) + done).failure?.class).toBe('malformed');
  expect(readStream('chat', choices(128) + done).failure).toBeUndefined();
});

test('so many lines without a blank one between them', () => {
  const lines = 'data: {"choices":[]}\n'.repeat(2_000);
  expect(readStream('chat', `${lines}\n`).failure?.class).toBe('malformed');
});

test('a long text in an event is not heavy', () => {
  const text = 'word "quoted" \\ '.repeat(50_000);
  const event = `data: ${JSON.stringify({
    choices: [{ index: 0, delta: { content: text }, finish_reason: 'stop' }],
  })}\n\n`;
  expect(readStream('chat', event).failure).toBeUndefined();
});
