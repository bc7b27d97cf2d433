// What the ledger and lists read of key budgets: an account has any number of them, because those
// of revoked keys stay.

import { expect, test } from 'bun:test';
import { sql } from 'drizzle-orm';
import { micro, tokenCount } from '../../src/core/money.ts';
import { readKeyBudgets } from '../../src/ledger/budget-list.ts';
import { spentBefore } from '../../src/ledger/key-budgets.ts';
import { createWriter, type LedgerRequest } from '../../src/ledger/writer.ts';
import type { Database, Query, Statement } from '../../src/store/contract.ts';
import { createQueries, type SqliteDatabase } from '../../src/store/database.ts';
import {
  describeOnEachDatabase,
  newDatabase,
  sqliteTest,
  temporaryDirectory,
} from '../support/database.ts';
import { fundAccount, holdOf, NOW, openBooks, settleOf } from '../support/ledger.ts';

const directory = temporaryDirectory();

const KEYS = Array.from({ length: 30 }, (_, n) => `key_${n}`);

function budget(keyId: string, total: bigint): LedgerRequest {
  const limits = { total: micro(total) };
  return {
    name: 'budget',
    command: { accountId: 'ada', family: keyId, keyId, limits, nowMs: NOW },
  };
}

/** Reserves `amount` of the budget of its key. */
function hold(id: string, keyId: string, amount: bigint): LedgerRequest {
  const command = { ...holdOf(id, 'ada', amount), keyId, outputBound: tokenCount(100) };
  return { name: 'hold', command };
}

const settle = (id: string, charge: bigint): LedgerRequest => ({
  name: 'settle',
  command: settleOf(id, charge),
});

/** Counts the budgets that prepared statements read. */
function countBudgets(database: Database) {
  let read = 0;
  function prepare<Values extends object, Row extends readonly unknown[] = []>(
    query: Query,
  ): Statement<Values, Row> {
    const statement = database.prepare<Values, Row>(query);
    if (!query.toSQL().sql.includes(' from key_budgets')) return statement;
    return {
      ...statement,
      async get(values) {
        const row = await statement.get(values);
        if (row !== undefined) read += 1;
        return row;
      },
      async all(values) {
        const rows = await statement.all(values);
        read += rows.length;
        return rows;
      },
    };
  }
  return { database: { ...database, prepare }, read: () => read };
}

const ACCEPTED = { ok: true, result: { ok: true } };
const REFUSED = { ok: true, result: { ok: false, budget: { period: 'total' } } };

/** The plan of each statement that `read` asks for. */
async function plansOf(
  database: SqliteDatabase,
  read: (database: Pick<Database, 'rows'>) => Promise<unknown>,
): Promise<readonly string[]> {
  const texts: string[] = [];
  const { rows } = createQueries((ask) => {
    texts.push(ask.text);
    return database.ask(ask);
  });
  await read({ rows });
  return texts.flatMap((text) => {
    using explained = database.connection.prepare<{ detail: string }, []>(
      `explain query plan ${text}`,
    );
    return explained.all().map(({ detail }) => detail);
  });
}

describeOnEachDatabase('budgets of an account that has many', () => {
  test('are read for the keys of a batch and for open holds alone', async () => {
    await using open = await openBooks(directory);
    await fundAccount(open, 'ada', 1_000_000n);
    await createWriter(open.database)(KEYS.map((keyId) => budget(keyId, 10n)));
    const { database, read } = countBudgets(open.database);
    const first = createWriter(database);
    expect(await first([hold('r1', 'key_3', 10n)])).toMatchObject([ACCEPTED]);
    expect(read()).toBe(1);
    // Of a cached account, too.
    expect(await first([hold('r2', 'key_4', 11n)])).toMatchObject([REFUSED]);
    expect(read()).toBe(2);
    expect(await first([hold('r3', 'key_free', 11n)])).toMatchObject([ACCEPTED]);
    expect(await first([hold('r4', 'key_free', 11n)])).toMatchObject([ACCEPTED]);
    expect(read()).toBe(2);
    // A writer without a cache reads the budget of the open hold, which its charge counts against.
    const second = createWriter(database);
    expect(await second([settle('r1', 7n), settle('r3', 11n)])).toMatchObject([
      { ok: true },
      { ok: true },
    ]);
    expect(read()).toBe(3);
    expect(await second([budget('key_new', 5n)])).toMatchObject([{ ok: true }]);
    expect(read()).toBe(3);
    const third = createWriter(database);
    expect(
      await third([hold('r5', 'key_3', 4n), hold('r6', 'key_3', 3n), hold('r7', 'key_new', 6n)]),
    ).toMatchObject([REFUSED, ACCEPTED, REFUSED]);
    expect(read()).toBe(5);
    expect(await open.books.audit()).toEqual([]);
    const [balance] = await open.database.rows<{ budgets: bigint }>(
      sql`select budgets from balances where account_id = 'ada'`,
    );
    expect(balance?.budgets).toBe(BigInt(KEYS.length + 1));
  });

  test('are listed for the given keys alone, each with what its own holds reserve', async () => {
    await using open = await openBooks(directory);
    await fundAccount(open, 'ada', 1_000_000n);
    const write = createWriter(open.database);
    await write(KEYS.map((keyId) => budget(keyId, 10n)));
    await write([hold('r1', 'key_3', 4n), hold('r2', 'key_4', 5n)]);
    const found = await readKeyBudgets(open.database, ['key_3', 'key_4', 'key_free']);
    expect([...found].map(([family, { reserved }]) => [family, reserved]).toSorted()).toEqual([
      ['key_3', micro(4n)],
      ['key_4', micro(5n)],
    ]);
    // More than a statement has parameters for.
    const many = Array.from({ length: 2_000 }, (_, n) => `other_${n}`);
    expect((await readKeyBudgets(open.database, [...many, 'key_5'])).size).toBe(1);
    expect((await readKeyBudgets(open.database, [])).size).toBe(0);
  });

  sqliteTest('it reads a plan of SQLite')('are found by indexes', async () => {
    await using database = await newDatabase(directory);
    const listed = await plansOf(database, ({ rows }) => readKeyBudgets({ rows }, KEYS));
    expect(listed).toContain('SEARCH b USING INDEX key_budgets_family (family=?)');
    expect(listed.filter((detail) => /^SCAN/.test(detail))).toEqual([]);
    const of = { accountId: 'ada', family: 'key_1', keyId: 'key_1', nowMs: NOW };
    const spent = await plansOf(database, (own) => spentBefore(own, { ...of, limits: {} }));
    expect(spent).toContain('SEARCH r USING INTEGER PRIMARY KEY (rowid>?)');
    expect(spent).toContain('SEARCH api_keys USING INDEX api_keys_account (account_id=?)');
    expect(spent.filter((detail) => /^SCAN (?!usage_mark|spent)/.test(detail))).toEqual([]);
  });
});
