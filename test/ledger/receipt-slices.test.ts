// The slice of a period equals that of a plain scan, and is found in small steps: a long history of
// one account must not delay the requests of all others.

import { afterAll, beforeAll, expect, test } from 'bun:test';
import fc from 'fast-check';
import type { Span } from '../../src/core/calendar.ts';
import { findSlice, type Slice } from '../../src/ledger/receipt-slices.ts';
import { createQueries } from '../../src/store/database.ts';
import type { Ask } from '../../src/store/writer/protocol.ts';
import { describeOnEachDatabase, sqliteTest, temporaryDirectory } from '../support/database.ts';
import {
  addAccount,
  closeBooks,
  creditOf,
  fundAccount,
  holdOf,
  type OpenBooks,
  openBooks,
  settleOf,
} from '../support/ledger.ts';
import { samples } from '../support/tier.ts';

const instant = fc.integer({ min: 0, max: 20 });

/** Clocks may be set back, also while a request runs. */
const histories = fc.array(
  fc.record({ kind: fc.constantFrom('credit', 'request'), startedAt: instant, endedAt: instant }),
  { minLength: 1, maxLength: 12 },
);

const spans = fc.record({
  fromMs: instant,
  untilMs: fc.oneof(instant, fc.constant(Number.MAX_SAFE_INTEGER)),
});

/** `times` are those of the receipts, in the order of the chain. */
function plainSlice(times: readonly number[], { fromMs, untilMs }: Span): Slice | undefined {
  const since = (ms: number): number => {
    const index = times.findIndex((at) => at >= ms);
    return index === -1 ? times.length + 1 : index + 1;
  };
  const slice = { first: since(fromMs), last: since(untilMs) - 1 };
  return slice.first > slice.last ? undefined : slice;
}

describeOnEachDatabase('the slice of a period', () => {
  const directory = temporaryDirectory();
  const RECEIPTS = 500;
  let open: OpenBooks;
  beforeAll(async () => {
    open = await openBooks(directory);
    await addAccount(open, 'long');
    await Promise.all(
      Array.from({ length: RECEIPTS }, (_, at) =>
        open.ledger.credit({ ...creditOf(`long ${at}`, 'long', 1n), nowMs: at }),
      ),
    );
  });
  afterAll(() => closeBooks(open));

  test('law: is that of a plain scan, with steps of any length', async () => {
    let runs = 0;
    const law = fc.asyncProperty(
      histories,
      fc.array(spans, { minLength: 1, maxLength: 4 }),
      fc.integer({ min: 1, max: 15 }),
      async (history, asked, step) => {
        runs += 1;
        const id = `acct_${runs}`;
        await fundAccount(open, id, 0n);
        await open.ledger.credit({ ...creditOf(`first ${id}`, id, 1_000n), nowMs: 10 });
        for (const [at, { kind, startedAt, endedAt }] of history.entries()) {
          const name = `${runs}x${at}`;
          if (kind === 'credit') {
            await open.ledger.credit({ ...creditOf(name, id, 1n), nowMs: endedAt });
          } else {
            await open.ledger.hold({ ...holdOf(`req_${name}`, id, 15n), nowMs: startedAt });
            await open.ledger.settle({ ...settleOf(`req_${name}`, 15n), nowMs: endedAt });
          }
        }
        const times = [10, ...history.map(({ endedAt }) => endedAt)];
        for (const span of asked) {
          const found = await findSlice(open.database.db, id, span, { step });
          expect([span, found]).toEqual([span, plainSlice(times, span)]);
        }
      },
    );
    await fc.assert(law, { numRuns: samples(20, 200, 8), endOnFailure: true });
  }, 120_000);

  sqliteTest('it reads a plan of SQLite')(
    'is found by statements that read a step of the account each',
    async () => {
      const asked: Ask[] = [];
      const { db } = createQueries((ask) => {
        asked.push(ask);
        return open.database.ask(ask);
      });
      const span = { fromMs: RECEIPTS - 100, untilMs: RECEIPTS - 5 };
      const slice = { first: RECEIPTS - 99, last: RECEIPTS - 5 };
      expect(await findSlice(db, 'long', span, { step: 50 })).toEqual(slice);
      const searches = asked.filter(({ text }) => text.includes('min('));
      expect(searches.length).toBeGreaterThan(2 * (RECEIPTS / 50));
      for (const { text, params } of searches) {
        using explained = open.database.connection.prepare<{ detail: string }, []>(
          `explain query plan ${text}`,
        );
        expect(explained.all()[0]?.detail).toMatch(
          /^SEARCH \w+ USING (COVERING )?INDEX \w+_receipt \(account=\? AND sequence>\? AND sequence<\?\)$/,
        );
        const [, from, until] = params.map(Number);
        expect(Number(until) - Number(from)).toBeLessThanOrEqual(50);
      }
    },
  );

  sqliteTest('PostgreSQL answers in turns of its own')('lets other work run', async () => {
    let turns = 0;
    let isOver = false;
    const count = (): void => {
      turns += 1;
      if (!isOver) setImmediate(count);
    };
    setImmediate(count);
    const span = { fromMs: RECEIPTS, untilMs: RECEIPTS + 1 };
    expect(await findSlice(open.database.db, 'long', span, { step: 1 })).toBeUndefined();
    isOver = true;
    expect(turns).toBeGreaterThan(0);
  });
});
