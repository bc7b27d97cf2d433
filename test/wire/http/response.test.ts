// The response decoder: a table of what servers write, and the laws that hold for all of it.

import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { ResponseDecoder } from '../../../src/wire/http/response.ts';
import { CORPUS, type Outcome } from './corpus.ts';

/** Feeds the pieces one after the other, each in memory of its own. */
function decode(pieces: readonly string[], closes: boolean): Outcome {
  let status = 0;
  let body = '';
  const decoder = new ResponseDecoder({
    onHead(head) {
      status = head.status;
    },
    onBody(bytes) {
      expect(bytes.length).toBeGreaterThan(0);
      body += bytes.toString('latin1');
    },
  });
  let step: ReturnType<typeof decoder.feed> = 'more';
  let fed = 0;
  for (const piece of pieces) {
    step = decoder.feed(Buffer.from(piece, 'latin1'));
    fed += 1;
    if (step !== 'more') break;
  }
  if (step === 'more' && closes) step = decoder.close();
  if (step === 'more') return 'waits';
  if (typeof step === 'object') return step;
  // A later read finds the connection idle, and closes it there.
  const isSpent = pieces.slice(fed).every((piece) => piece === '');
  return { status, body, reusable: decoder.isReusable && isSpent };
}

function expectOutcome(found: Outcome, expected: Outcome): void {
  if (typeof expected === 'object' && 'fault' in expected) {
    expect(found).toEqual({ fault: expect.stringContaining(expected.fault) });
  } else expect(found).toEqual(expected);
}

/** Every piece at least one byte. */
function split(text: string, cuts: readonly number[]): string[] {
  const at = [...new Set(cuts.map((cut) => cut % (text.length + 1)))].sort((a, b) => a - b);
  const edges = [0, ...at, text.length];
  return edges
    .slice(1)
    .map((edge, index) => text.slice(edges[index], edge))
    .filter((piece) => piece !== '');
}

test('the corpus has at least sixty rows, each under its own name', () => {
  expect(CORPUS.length).toBeGreaterThanOrEqual(60);
  expect(new Set(CORPUS.map(([name]) => name)).size).toBe(CORPUS.length);
});

describe('an answer with', () => {
  test.each(CORPUS.map((row) => [row[0], row] as const))('%s', (_name, row) => {
    const [, bytes, outcome, whenClosed] = row;
    expectOutcome(decode([bytes], false), outcome);
    if (outcome === 'waits') expectOutcome(decode([bytes], true), whenClosed ?? 'waits');
    else expectOutcome(decode([bytes], true), outcome);
  });

  test.each(CORPUS.filter(([, bytes]) => bytes.length < 3_000))(
    '%s, byte by byte',
    (_name, bytes, outcome) => expectOutcome(decode([...bytes], false), outcome),
  );
});

describe('laws', () => {
  const row = fc.constantFrom(...CORPUS.filter(([, bytes]) => bytes.length < 8_000));

  test('any split of the bytes gives the same answer', () => {
    fc.assert(
      fc.property(row, fc.array(fc.nat(), { maxLength: 12 }), ([, bytes, outcome], cuts) => {
        expectOutcome(decode(split(bytes, cuts), false), outcome);
      }),
      { numRuns: 2_000 },
    );
  });

  test('no true part of a framed answer is an answer', () => {
    const framed = CORPUS.filter(
      ([, , outcome]) => typeof outcome === 'object' && 'status' in outcome,
    );
    for (const [, bytes, outcome] of framed) {
      if (bytes.length > 3_000 || typeof outcome === 'string' || 'fault' in outcome) continue;
      for (let length = 0; length < bytes.length; length += 1) {
        const part = decode([bytes.slice(0, length)], true);
        if (typeof part === 'object' && 'fault' in part) continue;
        // Only what lies behind the end of the answer may be missing.
        expect({ ...Object(part), reusable: false }).toEqual({ ...outcome, reusable: false });
        expect(outcome.reusable).toBe(false);
      }
    }
  });

  test('any body written in chunks is read back, in one piece a read', () => {
    const chunks = fc.array(fc.uint8Array({ minLength: 1, maxLength: 300 }), { maxLength: 20 });
    fc.assert(
      fc.property(chunks, fc.array(fc.nat(), { maxLength: 8 }), (pieces, cuts) => {
        const texts = pieces.map((piece) => Buffer.from(piece).toString('latin1'));
        const lines = texts.map((text) => `${text.length.toString(16)};x\r\n${text}\r\n`);
        const bytes = `HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n${lines.join('')}0\r\n\r\n`;
        expect(decode(split(bytes, cuts), false)).toEqual({
          status: 200,
          body: texts.join(''),
          reusable: true,
        });
      }),
    );
  });

  test('noise is never taken for an answer, and never throws', () => {
    const noise = fc.string({ unit: fc.constantFrom(...'HTP/1.0 2:;\r\n\0aF5,x'), maxLength: 60 });
    fc.assert(
      fc.property(noise, (text) => {
        const found = decode([text], true);
        expect(typeof found === 'object' && 'fault' in found).toBe(true);
      }),
      { numRuns: 2_000 },
    );
    fc.assert(
      fc.property(noise, (text) => {
        const head = 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n';
        decode([head + text], true);
      }),
      { numRuns: 2_000 },
    );
  });
});
