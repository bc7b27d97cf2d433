// What is stored of an upstream's usage report: numbers under plain keys, and no text.

import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { rawUsage } from '../../../src/wire/upstream/raw-usage.ts';

const read = (text: string): string => rawUsage(JSON.parse(text));

test.each([
  [
    'numbers, in their order and nesting',
    '{"prompt_tokens":10,"prompt_tokens_details":{"cached_tokens":4},"cost":0.25,"completion_tokens":-5}',
    '{"prompt_tokens":10,"prompt_tokens_details":{"cached_tokens":4},"cost":0.25,"completion_tokens":-5}',
  ],
  [
    'no texts, lists, nulls or flags',
    '{"a":"SECRET","b":["SECRET",1],"c":null,"d":true,"e":1}',
    '{"e":1}',
  ],
  [
    'no keys that could be prose',
    '{"SECRET key":1,"":1,"ключ":1,"a-b":1,"a.b":1,"ok_1":1}',
    '{"ok_1":1}',
  ],
  [
    'no keys that mean something else',
    '{"__proto__":{"x":1},"_a":1,"constructor":1}',
    '{"constructor":1}',
  ],
  ['no long keys', `{"${'a'.repeat(49)}":1,"${'a'.repeat(48)}":1}`, `{"${'a'.repeat(48)}":1}`],
  ['no empty objects', '{"a":{"b":{"c":"x"}},"d":{}}', '{}'],
  ['three levels', '{"a":{"b":{"c":1,"d":{"e":1}}}}', '{"a":{"b":{"c":1}}}'],
  ['numbers that are too large for one', '{"a":1e999,"b":1e18}', '{"b":1000000000000000000}'],
])('%s', (_title, text, expected) => expect(read(text)).toBe(expected));

test('a report of any size is kept up to 1 KB, from its beginning, and stays JSON', () => {
  const members = Array.from({ length: 10_000 }, (_, index) => `"count_${index}":${index}`);
  const kept = read(`{${members.join(',')}}`);
  expect(kept.length).toBeGreaterThan(900);
  expect(kept.length).toBeLessThanOrEqual(1_024);
  expect(Object.entries(JSON.parse(kept)).every(([key, value]) => key === `count_${value}`)).toBe(
    true,
  );
});

test('for any report, at most 1 KB of numbers is kept, and keeping it again changes nothing', () => {
  const key = fc.oneof(fc.constantFrom('a', 'b_1', 'prompt_tokens', 'A'.repeat(48)), fc.string());
  const { tree } = fc.letrec((tie) => ({
    tree: fc.dictionary(
      key,
      fc.oneof({ depthSize: 'small' }, fc.double(), fc.jsonValue(), tie('tree')),
      {
        maxKeys: 40,
      },
    ),
  }));
  fc.assert(
    fc.property(tree, (report) => {
      const kept = read(JSON.stringify(report));
      expect(kept.length).toBeLessThanOrEqual(1_024);
      expect(kept.replace(/"[A-Za-z][A-Za-z0-9_]{0,47}":/g, '')).toMatch(/^[{}\d.,e+-]*$/);
      expect(read(kept)).toBe(kept);
    }),
    { numRuns: 500 },
  );
});
