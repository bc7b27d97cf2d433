// Which statements belong to a transaction, and which wait for it: on the one connection of a
// SQLite file, where a statement at the wrong moment would become part of another caller's work.

import { afterAll, beforeEach, expect, test } from 'bun:test';
import { sql } from 'drizzle-orm';
import fc from 'fast-check';
import type { SqliteDatabase } from '../../src/store/database.ts';
import { settings } from '../../src/store/tables.ts';
import { newDatabase, temporaryDirectory } from '../support/database.ts';

const directory = temporaryDirectory();
const database: SqliteDatabase = await newDatabase(directory);
afterAll(() => database.close());
beforeEach(async () => void (await database.db.delete(settings)));

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

const add = async (name: string): Promise<void> =>
  void (await database.db.insert(settings).values({ name, value: '', updatedAt: 0 }));

const names = async (): Promise<string[]> =>
  (await database.db.select().from(settings).orderBy(sql`rowid`)).map(({ name }) => name);

const counted = database.prepare<object, [bigint]>(
  database.db.select({ count: sql<bigint>`count(*)` }).from(settings),
);

/** A transaction that is open until the test releases it. */
async function openTransaction(name: string) {
  const begun = Promise.withResolvers<void>();
  const go = Promise.withResolvers<void>();
  const done = database.transaction(async () => {
    await add(name);
    begun.resolve();
    await go.promise;
  });
  await begun.promise;
  return { commit: go.resolve, undo: go.reject, done };
}

const WAYS: readonly [name: string, ask: () => unknown][] = [
  ['a query', names],
  ['a query that is awaited itself', () => database.db.select().from(settings)],
  ['a query that is written out', () => database.rows(sql`select * from settings`)],
  ['a prepared statement', () => counted.all({})],
];

test.each(WAYS)(
  '%s of others waits for the transaction, and sees what it has written',
  async (_, ask) => {
    const open = await openTransaction('within');
    let answer: unknown;
    const asked = Promise.resolve(ask()).then((given) => {
      answer = given;
    });
    for (let turns = 0; turns < 10; turns += 1) await turn();
    expect(answer).toBeUndefined();
    open.commit();
    await open.done;
    await asked;
    expect(answer).toEqual(await ask());
    expect(await counted.get({})).toEqual([1n]);
  },
);

test.each(WAYS)(
  '%s of the task itself is part of it, after timers and promises too',
  async (_, ask) => {
    await database.transaction(async () => {
      await add('within');
      await turn();
      await new Promise((resolve) => setTimeout(resolve, 1));
      const [one, two] = await Promise.all([ask(), Promise.resolve().then(() => ask())]);
      expect(Bun.inspect(one)).toMatch(/within|1n/);
      expect(two).toEqual(one);
      expect(await names()).toEqual(['within']);
    });
  },
);

test('what others write in between is not undone with it', async () => {
  const open = await openTransaction('undone');
  const others = [add('first'), database.quickly(() => add('second')), add('third')];
  open.undo(new Error('no'));
  await expect(open.done).rejects.toThrow('no');
  await Promise.all(others);
  expect((await names()).sort()).toEqual(['first', 'second', 'third']);
});

test('nothing runs between two transactions that wait', async () => {
  const open = await openTransaction('first');
  const failing = database.transaction(async () => {
    await add('never');
    await turn();
    throw new Error('no');
  });
  // Both are woken by the end of the first: each in its turn, this one after the second has ended.
  const single = add('single');
  open.commit();
  const late = add('late');
  await expect(failing).rejects.toThrow('no');
  await Promise.all([single, late]);
  expect(await names()).toEqual(['first', 'single', 'late']);
});

test('two that begin in the same turn are two', async () => {
  const begin = (name: string, fails: boolean) =>
    database.transaction(async () => {
      await add(name);
      await turn();
      if (fails) throw new Error(name);
      return names();
    });
  const both = await Promise.allSettled([begin('one', true), begin('two', false)]);
  expect(both).toEqual([
    { status: 'rejected', reason: new Error('one') },
    { status: 'fulfilled', value: ['two'] },
  ]);
});

test('waiting callers are served in order', async () => {
  const open = await openTransaction('open');
  const order: string[] = [];
  const ways = [database.transaction, database.snapshot, database.quickly, database.transaction];
  const waiting = ways.map((begin, index) =>
    begin(async () => {
      await turn();
      order.push(`waited ${index}`);
    }),
  );
  open.commit();
  // Who comes when the wait is over stands behind them all.
  const last = open.done.then(() => database.transaction(async () => order.push('last')));
  await Promise.all([...waiting, last]);
  expect(order).toEqual(['waited 0', 'waited 1', 'waited 2', 'waited 3', 'last']);
});

test('a task that lives on after its commit is one of the others', async () => {
  const go = Promise.withResolvers<void>();
  let task: Promise<unknown> = Promise.resolve();
  await database.transaction(async () => {
    task = go.promise.then(async () => {
      await add('later');
      return database.transaction(() => add('in one of its own'));
    });
  });
  const open = await openTransaction('undone');
  go.resolve();
  await turn();
  open.undo(new Error('no'));
  await expect(open.done).rejects.toThrow('no');
  await task;
  expect(await names()).toEqual(['later', 'in one of its own']);
});

test('what is left over of work that was undone is not written', async () => {
  const go = Promise.withResolvers<void>();
  let task: Promise<unknown> = Promise.resolve();
  const failing = database.transaction(async () => {
    task = go.promise.then(() => add('left over'));
    throw new Error('no');
  });
  await expect(failing).rejects.toThrow('no');
  go.resolve();
  await expect(task).rejects.toThrow('undone already');
  expect(await names()).toEqual([]);
});

test.each(['transaction', 'quickly'] as const)(
  '%s: a commit that fails leaves nothing behind',
  async (way) => {
    const { connection } = database;
    const failing = database[way](async () => {
      await add('never');
      connection.run('PRAGMA defer_foreign_keys = ON');
      connection.run("INSERT INTO balances (account_id, posted, held) VALUES ('acct_none', 0, 0)");
    });
    const after = add('after');
    await expect(failing).rejects.toThrow('FOREIGN KEY constraint failed');
    await after;
    expect([await names(), connection.inTransaction]).toEqual([['after'], false]);
    expect(connection.query('PRAGMA synchronous').values()).toEqual([[1n]]);
  },
);

test('a statement after a full disk, which ended the transaction, is not written alone', async () => {
  await using full = await newDatabase(directory);
  const { connection } = full;
  const put = (name: string, value: string) =>
    full.db.insert(settings).values({ name, value, updatedAt: 0 });
  const [pages] = connection.query('PRAGMA page_count').values()[0] ?? [];
  connection.run(`PRAGMA max_page_count = ${pages}`);
  const failing = full.transaction(() =>
    Promise.allSettled([put('large', 'x'.repeat(100_000)), put('small', '')]),
  );
  await expect(failing).rejects.toThrow();
  expect(await full.db.select().from(settings)).toEqual([]);
  await put('after', '');
});

test('one that cannot begin blocks no caller', async () => {
  await using other = await newDatabase(
    directory,
    database.connection.filename.replace(/^.*\/|\.db$/g, ''),
  );
  database.connection.run('PRAGMA busy_timeout = 1');
  // As one of another process would: those of this one take turns.
  other.connection.run('BEGIN IMMEDIATE');
  const refused = database.transaction(() => add('refused'));
  await expect(refused).rejects.toThrow('locked');
  expect(await names()).toEqual([]);
  other.connection.run('COMMIT');
  await database.transaction(() => add('later'));
  expect(await names()).toEqual(['later']);
});

test('closing waits for the transaction that is open', async () => {
  const name = crypto.randomUUID();
  const closing = await newDatabase(directory, name);
  const written = closing.transaction(async (tx) => {
    await turn();
    await tx.insert(settings).values({ name: 'kept', value: '', updatedAt: 0 });
  });
  await Promise.all([closing.close(), written]);
  await using again = await newDatabase(directory, name);
  expect((await again.db.select().from(settings)).map((row) => row.name)).toEqual(['kept']);
});

test('law: for any statements in any order, each transaction is whole and alone', async () => {
  const anyWork = fc.record({
    kind: fc.constantFrom('transaction', 'quickly', 'single'),
    turns: fc.array(fc.constantFrom('turn', 'promise', 'none'), { maxLength: 3 }),
    fails: fc.boolean(),
    startsAfter: fc.nat(3),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(anyWork, { minLength: 2, maxLength: 8 }), async (works) => {
      await database.db.delete(settings);
      const kept: string[] = [];
      const all = works.map(async ({ kind, turns, fails, startsAfter }, index) => {
        for (let left = startsAfter; left > 0; left -= 1) await turn();
        if (kind === 'single') {
          await add(`${index}`);
          kept.push(`${index}`);
          return;
        }
        const done = database[kind](async () => {
          const before = await names();
          const mine: string[] = [];
          for (const [step, wait] of turns.entries()) {
            await add(`${index}.${step}`);
            mine.push(`${index}.${step}`);
            if (wait === 'turn') await turn();
            else if (wait === 'promise') await Promise.resolve();
            // Nothing of others is seen to come, and nothing of ours to go.
            expect(await names()).toEqual([...before, ...mine]);
          }
          if (fails) throw new Error('undone');
          return mine;
        });
        kept.push(
          ...(await done.catch((error: Error) => {
            if (error.message !== 'undone') throw error;
            return [];
          })),
        );
      });
      await Promise.all(all);
      expect((await names()).sort()).toEqual(kept.sort());
    }),
    { numRuns: 60 },
  );
});
