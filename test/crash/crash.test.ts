// A short run of the crash test: rounds of kills under load in which every law holds, then the same
// records with tampering, which must break each law. scripts/crash is the long run.

import { describe, expect, test } from 'bun:test';
import { describeWithSlowDisk } from '../support/slow-disk.ts';
import { slowTest } from '../support/tier.ts';
import { type Books, joinBooks } from './books.ts';
import { explainRequest } from './explain.ts';
import { judge, LAWS } from './laws/all.ts';
import { playRound } from './round.ts';
import { TAMPERINGS, type Tampering } from './tampering.ts';
import { KEYED_TAMPERINGS } from './tampering-keyed.ts';

const FIRST_SEED = 20_261_121;
const SEEDS = [FIRST_SEED, FIRST_SEED + 1];
const ROUNDS_MAX = 5;
const ROUND = { seconds: 4, killEvery: 2 };
/** Most of a round is work of the processor, after the load. */
const ROUND_TIMEOUT_MS = 180_000;

const ALL_TAMPERINGS = [...TAMPERINGS, ...KEYED_TAMPERINGS];

const played: Books[] = [];

/** Leaves the books of a round in which every law holds. */
async function playLawfully(seed: number): Promise<Books> {
  const { books, discard } = await playRound({ ...ROUND, seed });
  await discard();
  played.push(books);
  const violations = judge(books).map((each) => [each, explainRequest(books, each.subject)]);
  expect(violations).toEqual([]);
  return books;
}

/** The first of the books that has something to tamper with. A busy machine needs more rounds. */
async function tamperedBy(tamper: Tampering['tamper']): Promise<Books> {
  for (;;) {
    for (const books of played) {
      const tampered = tamper(books, joinBooks(books));
      if (tampered !== undefined) return tampered;
    }
    if (played.length === ROUNDS_MAX) throw new Error('no request of any round is fit');
    await playLawfully(FIRST_SEED + played.length);
  }
}

describe('kills under load', () => {
  test.each(SEEDS)(
    'with seed %d leave books in which every law holds',
    async (seed) => {
      const books = await playLawfully(seed);
      expect(books.kills.length).toBeGreaterThan(0);
      expect(books.ledger.records.some(({ basis }) => basis === 'recovered')).toBe(true);
    },
    ROUND_TIMEOUT_MS,
  );
});

describeWithSlowDisk('kills while each sync takes 300 ms', () => {
  slowTest(
    'leave books in which every law holds',
    async () => {
      const round = { seconds: 8, killEvery: 4, seed: 20_261_123, syncMs: 300 };
      const { books, discard } = await playRound(round);
      await discard();
      expect(judge(books).map((broken) => [broken, explainRequest(books, broken.subject)])).toEqual(
        [],
      );
      expect(books.kills.length).toBeGreaterThan(0);
      expect(books.ledger.records.length).toBeGreaterThan(0);
    },
    2 * ROUND_TIMEOUT_MS,
  );
});

describe('a law breaks', () => {
  test.each(ALL_TAMPERINGS.map((tampering) => [tampering.law, tampering.what, tampering] as const))(
    '%s: %s',
    async (law, _what, { tamper }) => {
      const books = await tamperedBy(tamper);
      expect(judge(books).map((violation) => violation.law)).toContain(law);
    },
    3 * ROUND_TIMEOUT_MS,
  );

  test('each of them in some way', () => {
    const names = new Set(ALL_TAMPERINGS.map(({ law }) => law));
    expect(LAWS.filter(({ name }) => !names.has(name))).toEqual([]);
  });
});
