import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { formatTraceparent, readTraceparent, readTracestate } from '../../src/core/trace.ts';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const SPAN = '00f067aa0ba902b7';

const hex = (length: number): fc.Arbitrary<string> =>
  fc
    .string({ unit: fc.constantFrom(...'0123456789abcdef'), minLength: length, maxLength: length })
    .filter((text) => /[1-9a-f]/.test(text));

describe('readTraceparent', () => {
  test('reads what formatTraceparent writes', () => {
    fc.assert(
      fc.property(
        hex(32),
        hex(16),
        fc.boolean(),
        fc.boolean(),
        (traceId, spanId, isSampled, isRandom) => {
          const parent = { traceId, spanId, isSampled, isRandom };
          expect(readTraceparent(formatTraceparent(parent))).toEqual(parent);
        },
      ),
    );
  });

  test('reads later versions as version 00, and ignores other flags', () => {
    const parent = { traceId: TRACE, spanId: SPAN, isSampled: true, isRandom: false };
    expect(readTraceparent(`cc-${TRACE}-${SPAN}-01`)).toEqual(parent);
    expect(readTraceparent(`cc-${TRACE}-${SPAN}-01-what-comes`)).toEqual(parent);
    expect(readTraceparent(`00-${TRACE}-${SPAN}-fd`)).toEqual(parent);
  });

  test.each([
    null,
    '',
    `ff-${TRACE}-${SPAN}-01`,
    `00-${TRACE}-${SPAN}-01-more`,
    `00-${TRACE}-${SPAN}-01,00-${TRACE}-${SPAN}-01`,
    `00-${TRACE}-${SPAN}-1`,
    `00-${TRACE}-${SPAN}`,
    `00-${TRACE.toUpperCase()}-${SPAN}-01`,
    `00-${'0'.repeat(32)}-${SPAN}-01`,
    `00-${TRACE}-${'0'.repeat(16)}-01`,
    ` 00-${TRACE}-${SPAN}-01`,
    `00-${TRACE}-${SPAN}-01\r\nx: y`,
    `01-${TRACE}-${SPAN}-01-${'x'.repeat(600)}`,
  ])('ignores %p', (header) => {
    expect(readTraceparent(header)).toBeUndefined();
  });
});

describe('readTracestate', () => {
  test('keeps valid members in their order, without empty ones', () => {
    expect(readTracestate('vendor=a:b; c ,, tenant@system=1,\tz*=x')).toBe(
      'vendor=a:b; c,tenant@system=1,z*=x',
    );
    expect(readTracestate(`k=${'v'.repeat(200)}`)).toBe(`k=${'v'.repeat(200)}`);
  });

  test.each([
    null,
    '',
    ' , ',
    'no-value',
    'K=v',
    'a=b=c',
    'a=',
    'a=ü',
    'a=1,a=2',
    'a=b\r\nx: y',
    `a=${'v'.repeat(257)}`,
    `a=${'v'.repeat(250)},b=${'v'.repeat(250)},c=${'v'.repeat(20)}`,
    Array.from({ length: 33 }, (_, index) => `k${index}=v`).join(','),
  ])('ignores %p', (header) => {
    expect(readTracestate(header)).toBeUndefined();
  });

  test('never returns what could end a header', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary-ascii' }), (text) => {
        for (const header of [text, `a=${text}`]) {
          expect(readTracestate(header) ?? '').toMatch(/^[\x20-\x7e]{0,512}$/);
        }
      }),
    );
  });
});
