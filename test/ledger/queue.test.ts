// How commands share transactions, and what becomes of them when one is bad or the disk fails.

import { describe, expect, test } from 'bun:test';
import { createLedger, type LedgerTrouble } from '../../src/ledger/ledger.ts';
import type { Database } from '../../src/store/database.ts';
import { newDatabase, temporaryDirectory } from '../support/database.ts';
import {
  type Books,
  closeBooks,
  creditOf,
  fundAccount,
  holdOf,
  openBooks,
  outcomeOf,
  PRICE,
  releaseOf,
  settleOf,
} from '../support/ledger.ts';

const directory = temporaryDirectory();
const UNAVAILABLE = 'LedgerUnavailable: The ledger could not be written.';

/** Books that count their transactions. */
function countedBooks(): Books & { readonly commits: () => number } {
  const database = newDatabase(directory);
  let count = 0;
  const counted: Database = {
    ...database,
    transaction: (work) => {
      count += 1;
      return database.transaction(work);
    },
  };
  return { database, ledger: createLedger({ database: counted }), commits: () => count };
}

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((next) => setTimeout(next, 1));
}

describe('group commit', () => {
  test('what comes in one turn shares a transaction, up to 256 commands', async () => {
    const books = countedBooks();
    await fundAccount(books, 'ada', 1_000n);
    const before = books.commits();
    const holds = Array.from({ length: 600 }, (_, n) =>
      books.ledger.hold(holdOf(`r${n}`, 'ada', 1n)),
    );
    expect(books.ledger.pending()).toBe(600);
    const results = await Promise.all(holds);
    expect(results.map((result) => result.available)).toEqual(
      Array.from({ length: 600 }, (_, n) => BigInt(999 - n)),
    );
    expect(books.commits() - before).toBe(3);
    expect(books.ledger.pending()).toBe(0);
    closeBooks(books);
  });

  test('commands that wait for each other do not share one', async () => {
    const books = countedBooks();
    await fundAccount(books, 'ada', 10n);
    const before = books.commits();
    for (const id of ['r1', 'r2', 'r3']) await books.ledger.hold(holdOf(id, 'ada', 1n));
    expect(books.commits() - before).toBe(3);
    closeBooks(books);
  });
});

describe('a command that fails', () => {
  test('does not touch the others of its batch, nor leave half of itself', async () => {
    const books = openBooks(directory);
    await fundAccount(books, 'ada', 100n);
    const { ledger } = books;
    const other = { ...PRICE, output: PRICE.output + 1n };
    const results = await Promise.all([
      outcomeOf(ledger.hold(holdOf('r1', 'ada', 10n))),
      outcomeOf(ledger.hold(holdOf('r1', 'ada', 20n))),
      outcomeOf(ledger.hold({ ...holdOf('r2', 'ada', 30n), price: other })),
      outcomeOf(ledger.settle(settleOf('none', 1n))),
      outcomeOf(ledger.hold(holdOf('r3', 'ada', 5n))),
      outcomeOf(ledger.credit(creditOf('c1', 'ada', 7n))),
    ]);
    expect(results).toEqual([
      { ok: true, available: 90n },
      'SQLiteError: UNIQUE constraint failed: holds.request_id',
      'AssertionError: price version swift-1@1 was used before with other prices',
      'LedgerRefusal: There is no hold with this request id.',
      { ok: true, available: 85n },
      { applied: true, available: 92n },
    ]);
    expect(ledger.balance('ada')).toEqual({ posted: 107n, held: 15n, available: 92n });
    expect(ledger.audit()).toEqual([]);
    closeBooks(books);
  });

  test('a price version is written again when the batch that first wrote it was undone', async () => {
    const books = openBooks(directory);
    await fundAccount(books, 'ada', 100n);
    await Promise.all([
      outcomeOf(books.ledger.hold(holdOf('r1', 'ada', 1n))),
      outcomeOf(books.ledger.hold(holdOf('r1', 'ada', 1n))),
    ]);
    expect(books.ledger.explain('r1')?.prices).toEqual([
      { ...PRICE, model: 'swift-1', firstUsedAt: expect.any(Number) },
    ]);
    closeBooks(books);
  });
});

test('of many settles and releases of one request at once, one counts', async () => {
  const books = openBooks(directory);
  await fundAccount(books, 'ada', 1_000n);
  const { ledger } = books;
  await ledger.hold(holdOf('r1', 'ada', 100n));
  const results = await Promise.all(
    Array.from({ length: 300 }, (_, n) =>
      n % 3 === 2 ? ledger.release(releaseOf('r1')) : ledger.settle(settleOf('r1', BigInt(40 + n))),
    ),
  );
  expect(new Set(results.map((result) => Object.values(result).join(' ')))).toEqual(
    new Set(['40 0 960']),
  );
  expect(ledger.balance('ada')).toEqual({ posted: 960n, held: 0n, available: 960n });
  expect(ledger.explain('r1')?.entries.length).toBe(2);
  closeBooks(books);
});

describe('when the database cannot be written', () => {
  test('holds and credits are refused, settles and releases are kept until it can', async () => {
    const database = newDatabase(directory);
    const troubles: string[] = [];
    const onTrouble = ({ kind, requestId }: LedgerTrouble) => troubles.push(`${kind} ${requestId}`);
    const ledger = createLedger({ database, onTrouble });
    const books = { database, ledger };
    await fundAccount(books, 'ada', 100n);
    await ledger.hold(holdOf('r1', 'ada', 10n));
    await ledger.hold(holdOf('r2', 'ada', 10n));

    database.connection.run('PRAGMA query_only = ON');
    const results = await Promise.all([
      outcomeOf(ledger.hold(holdOf('r3', 'ada', 10n))),
      outcomeOf(ledger.credit(creditOf('c1', 'ada', 10n))),
      outcomeOf(ledger.settle(settleOf('r1', 4n))),
      outcomeOf(ledger.release(releaseOf('r2'))),
    ]);
    expect(results).toEqual([UNAVAILABLE, UNAVAILABLE, UNAVAILABLE, UNAVAILABLE]);
    expect(ledger.pending()).toBe(2);
    expect(ledger.balance('ada')).toEqual({ posted: 100n, held: 20n, available: 80n });
    await until(() => troubles.length >= 4);

    database.connection.run('PRAGMA query_only = OFF');
    await until(() => ledger.pending() === 0);
    expect(ledger.balance('ada')).toEqual({ posted: 96n, held: 0n, available: 96n });
    expect(new Set(troubles)).toEqual(new Set(['kept r1', 'kept r2']));
    expect(ledger.audit()).toEqual([]);
    closeBooks(books);
  });

  test('a lock that another process keeps counts as that too', async () => {
    const name = crypto.randomUUID();
    const database = newDatabase(directory, name);
    const other = newDatabase(directory, name);
    const books = { database, ledger: createLedger({ database }) };
    await fundAccount(books, 'ada', 100n);
    database.connection.run('PRAGMA busy_timeout = 1');
    other.connection.run('BEGIN IMMEDIATE');
    expect(await outcomeOf(books.ledger.hold(holdOf('r1', 'ada', 1n)))).toBe(UNAVAILABLE);
    other.connection.run('ROLLBACK');
    expect(await outcomeOf(books.ledger.hold(holdOf('r1', 'ada', 1n)))).toEqual({
      ok: true,
      available: 99n,
    });
    other.close();
    closeBooks(books);
  });

  test('a full disk undoes the batch and loses no settle', async () => {
    const books = openBooks(directory);
    await fundAccount(books, 'ada', 100n);
    await books.ledger.hold(holdOf('r1', 'ada', 10n));
    const { connection } = books.database;
    const pages = connection.query('PRAGMA page_count').values()[0]?.[0];
    connection.run(`PRAGMA max_page_count = ${pages}`);
    const large = { ...settleOf('r1', 4n), attempts: ['x'.repeat(100_000)] };
    expect(await outcomeOf(books.ledger.settle(large))).toBe(UNAVAILABLE);
    expect(books.ledger.balance('ada')).toEqual({ posted: 100n, held: 10n, available: 90n });
    connection.run('PRAGMA max_page_count = 1000000');
    expect(books.ledger.close()).toBe(0);
    expect(books.ledger.balance('ada')).toEqual({ posted: 96n, held: 0n, available: 96n });
    closeBooks(books);
  });

  test('closing tries once more and says what is left', async () => {
    const books = openBooks(directory);
    await fundAccount(books, 'ada', 100n);
    await books.ledger.hold(holdOf('r1', 'ada', 10n));
    books.database.connection.run('PRAGMA query_only = ON');
    const settled = outcomeOf(books.ledger.settle(settleOf('r1', 4n)));
    expect(books.ledger.close()).toBe(1);
    expect(await settled).toBe(UNAVAILABLE);
    books.database.connection.run('PRAGMA query_only = OFF');
    expect(books.ledger.close()).toBe(0);
    expect(books.ledger.balance('ada')).toEqual({ posted: 96n, held: 0n, available: 96n });
    closeBooks(books);
  });
});
