// What requests of both formats are made of.

import fc from 'fast-check';
import { jsonObjectText } from './json-text.ts';
import { solidText, wholeText } from './text.ts';
import { all, list, optional, quoted, raw, type Tree } from './tree.ts';

export const shownText: fc.Arbitrary<Tree> = wholeText.map((text) => ({ text }));

/** Few ids, so that calls and results meet, and some that upstreams would not take. */
export const callId = fc.constantFrom(
  'call_1',
  'call_2',
  'call_1',
  'toolu_x',
  'a b',
  'é'.repeat(40),
  'f:0',
);

export const toolName = fc.constantFrom('f', 'get_weather', '__proto__', 'é "quoted"');

export const address = fc.constantFrom('https://images.example/a.png', 'http://b.example/?q="é"');
export const PIXEL =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

export const words = (...texts: readonly string[]) => fc.constantFrom(...texts).map(quoted);
export const bool = fc.boolean().map((value) => raw(String(value)));
export const numbers = (...texts: readonly string[]) => fc.constantFrom(...texts).map(raw);
export const schema = fc
  .oneof(
    fc.constant('{"type":"object","properties":{}}'),
    fc.constant('{"type":"object","properties":{},"additionalProperties":false}'),
    jsonObjectText,
  )
  .map(raw);

export const EFFORTS = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'] as const;

export const sampling = all(
  optional('temperature', numbers('0', '1', '0.5', '1e0')),
  optional('top_p', numbers('1', '0.1')),
);

export function stops(): fc.Arbitrary<Tree> {
  const stop = fc.oneof(solidText, fc.constantFrom(' ', '\n', 'END', '\n\n'));
  return list(stop.map(quoted), { maxLength: 16 });
}
