// Two connections of one thread to one file: SQLite would block the thread for the second writer,
// and the first with it, so writers take turns; a reader waits only for its own connection.

import { describe, expect } from 'bun:test';
import { sql } from 'drizzle-orm';
import { openDatabase } from '../../src/store/database.ts';
import { sqliteTest, temporaryDirectory } from '../support/database.ts';

const directory = temporaryDirectory();
const test = sqliteTest('PostgreSQL lets writers wait itself');

async function openTwo() {
  const url = `sqlite:${directory}/${crypto.randomUUID()}.db`;
  const [a, b] = [openDatabase({ url, sync: 'full' }), openDatabase({ url, sync: 'normal' })];
  await a.db.run(sql`create table t (writer text, number integer)`);
  const insert = (database: typeof a, writer: string, number: number) =>
    database.db.run(sql`insert into t values (${writer}, ${number})`);
  /** Several writes, and what is there in between. */
  const write = (database: typeof a, writer: string) =>
    database.transaction(async () => {
      for (let number = 0; number < 3; number += 1) await insert(database, writer, number);
    });
  const writers = async () =>
    (await a.rows<{ writer: string }>(sql`select writer from t order by rowid`)).map(
      ({ writer }) => writer,
    );
  return { a, b, insert, write, writers };
}

describe('two connections of a thread', () => {
  test('write one after the other, in order, and block no reader', async () => {
    const { a, b, insert, write, writers } = await openTwo();
    const startedAt = performance.now();
    await Promise.all([
      write(a, 'first'),
      write(b, 'second'),
      write(a, 'third'),
      write(b, 'fourth'),
      insert(a, 'fifth', 0),
      insert(b, 'sixth', 0),
    ]);
    const thrice = (writer: string) => Array(3).fill(writer);
    expect(await writers()).toEqual([
      ...[...thrice('first'), ...thrice('second'), ...thrice('third'), ...thrice('fourth')],
      ...['fifth', 'sixth'],
    ]);
    // The thread would have stopped for five seconds.
    expect(performance.now() - startedAt).toBeLessThan(4_000);
    await Promise.all([a.close(), b.close()]);
  });

  test('read while the other writes, and see nothing of it before it ends', async () => {
    const { a, b, insert, writers } = await openTwo();
    await a.transaction(async () => {
      await insert(a, 'unseen', 0);
      expect(await b.rows(sql`select * from t`)).toEqual([]);
      await b.snapshot(async () => expect(await b.rows(sql`select * from t`)).toEqual([]));
    });
    expect(await writers()).toEqual(['unseen']);
    await Promise.all([a.close(), b.close()]);
  });

  test('do not wait for each other within one task', async () => {
    const { a, b, insert, write, writers } = await openTwo();
    await a.transaction(async () => {
      await insert(a, 'first', 0);
      await expect(b.rows(sql`delete from t`)).rejects.toThrow('would wait for itself');
      await expect(write(b, 'never')).rejects.toThrow('would wait for itself');
      await b.snapshot(async () => void (await insert(a, 'second', 0)));
    });
    await insert(b, 'third', 0);
    expect(await writers()).toEqual(['first', 'second', 'third']);
    await Promise.all([a.close(), b.close()]);
  });

  test('go on after a transaction that was undone', async () => {
    const { a, b, insert, write, writers } = await openTwo();
    const failing = a.transaction(async () => {
      await insert(a, 'undone', 0);
      throw new Error('no');
    });
    const [first, second] = await Promise.allSettled([failing, write(b, 'other')]);
    expect([first.status, second.status]).toEqual(['rejected', 'fulfilled']);
    expect(await writers()).toEqual(Array(3).fill('other'));
    await Promise.all([a.close(), b.close()]);
  });
});
