// The two header forms, as a table. Each row is a request that a real client or an attacker sends.

import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { type PresentedKey, readPresentedKey } from '../../src/core/key.ts';

const A = `sk-${'Aa0'.repeat(16)}`;
const B = `sk-${'Bb1'.repeat(16)}`;
const MISSING: PresentedKey = { kind: 'missing' };
const MALFORMED: PresentedKey = { kind: 'malformed' };
const KEY_A: PresentedKey = { kind: 'key', key: A };

type Row = [name: string, authorization: string | null, xApiKey: string | null, PresentedKey];

const ROWS: Row[] = [
  ['no header at all', null, null, MISSING],
  ['both headers blank', '  ', '\t', MISSING],
  ['the scheme alone', 'Bearer', null, MISSING],
  ['the scheme and spaces', 'Bearer   ', null, MISSING],
  ['a blank x-api-key', null, '', MISSING],
  ['a bearer key', `Bearer ${A}`, null, KEY_A],
  ['a lower-case scheme', `bearer ${A}`, null, KEY_A],
  ['an upper-case scheme and two spaces', `BEARER  ${A}`, null, KEY_A],
  ['an x-api-key', null, A, KEY_A],
  ['both, the same key', `Bearer ${A}`, A, KEY_A],
  ['a blank bearer beside an x-api-key', 'Bearer ', A, KEY_A],
  ['a bearer key beside a blank x-api-key', `Bearer ${A}`, ' ', KEY_A],
  ['both, different keys', `Bearer ${A}`, B, MALFORMED],
  ['a key beside garbage', `Bearer ${A}`, 'garbage', MALFORMED],
  ['garbage beside a key', 'Bearer garbage', A, MALFORMED],
  ['another scheme beside a key', 'Basic dXNlcjpwYXNz', A, MALFORMED],
  ['the basic scheme', 'Basic dXNlcjpwYXNz', null, MALFORMED],
  ['the token scheme', `Token ${A}`, null, MALFORMED],
  ['a key without a scheme', A, null, MALFORMED],
  ['a scheme that only begins like Bearer', `Bearers ${A}`, null, MALFORMED],
  ['no space after the scheme', `Bearer${A}`, null, MALFORMED],
  ['a scheme inside x-api-key', null, `Bearer ${A}`, MALFORMED],
  ['Authorization sent twice', `Bearer ${A}, Bearer ${A}`, null, MALFORMED],
  ['x-api-key sent twice', null, `${A}, ${A}`, MALFORMED],
  ['two values in one', 'Bearer a,b', null, MALFORMED],
  ['a wrong prefix', null, `pk-${'Aa0'.repeat(16)}`, MALFORMED],
  ['47 characters', null, A.slice(0, -1), MALFORMED],
  ['49 characters', null, `${A}x`, MALFORMED],
  ['10 KiB', null, `sk-${'a'.repeat(10_240)}`, MALFORMED],
  ['a scheme and 10 KiB', `Bearer ${'a'.repeat(10_240)}`, null, MALFORMED],
  ['257 characters of white space', null, ' '.repeat(257), MALFORMED],
  ['an inner space', null, `${A.slice(0, 20)} ${A.slice(21)}`, MALFORMED],
  ['a trailing line break', null, `${A}\n`, MALFORMED],
  ['a trailing line break after a bearer key', `Bearer ${A}\n`, null, MALFORMED],
  ['a NUL', null, `${A.slice(0, -1)}\0`, MALFORMED],
  ['a look-alike letter', null, `${A.slice(0, -1)}а`, MALFORMED],
  ['a full-width digit', null, `${A.slice(0, -1)}０`, MALFORMED],
  ['SQL', null, "sk-' OR '1'='1", MALFORMED],
];

describe('readPresentedKey', () => {
  test.each(ROWS)('%s', (_name, authorization, xApiKey, expected) => {
    expect(readPresentedKey(authorization, xApiKey)).toEqual(expected);
  });

  test('any text gives an answer, and only a well-formed key is ever called one', () => {
    const value = fc.oneof(fc.string(), fc.constantFrom(A, B));
    const header = fc.option(
      fc.oneof(
        value,
        value.map((text) => `Bearer ${text}`),
      ),
    );
    fc.assert(
      fc.property(header, header, (authorization, xApiKey) => {
        const presented = readPresentedKey(authorization, xApiKey);
        if (presented.kind !== 'key') return;
        expect([A, B]).toContain(presented.key);
        for (const text of [authorization, xApiKey]) {
          const said = text?.replace(/^bearer( +|$)/i, '').replace(/^[ \t]*$/, '') ?? '';
          expect(['', presented.key]).toContain(said);
        }
      }),
    );
  });
});
