import { SQLiteError } from 'bun:sqlite';
import { describe, expect, test } from 'bun:test';
import { chmodSync, existsSync, mkdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { micro } from '../../src/core/money.ts';
import { openDatabase } from '../../src/store/database.ts';
import { isStoreFailure, StoreError } from '../../src/store/error.ts';
import { migrate } from '../../src/store/migrate.ts';
import { balances } from '../../src/store/money-tables.ts';
import { accounts, settings } from '../../src/store/tables.ts';
import { newDatabase, temporaryDirectory } from '../support/database.ts';

const directory = temporaryDirectory();

function setting(name: string) {
  return { name, value: 'on', updatedAt: 1_795_248_274_894 };
}

async function failureOf(url: string, readonly = false): Promise<string> {
  try {
    await openDatabase({ url, sync: 'full', readonly }).close();
  } catch (error) {
    if (error instanceof StoreError) return error.message;
    throw error;
  }
  return 'opened';
}

describe('opening', () => {
  test('creates directory and file for their owner alone', async () => {
    const path = join(directory, 'new', 'deep', 'tollgate.db');
    await openDatabase({ url: `sqlite:${path}`, sync: 'full' }).close();
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(statSync(join(directory, 'new')).mode & 0o777).toBe(0o700);
    expect(statSync(join(directory, 'new', 'deep')).mode & 0o777).toBe(0o700);
  });

  test('sets the connection up', async () => {
    const read = async (sync: 'full' | 'normal') => {
      const { connection, close } = openDatabase({ url: `sqlite:${join(directory, sync)}`, sync });
      const pragma = (name: string) => connection.query(`PRAGMA ${name}`).values()[0]?.[0];
      const found = ['journal_mode', 'synchronous', 'busy_timeout', 'foreign_keys'].map(pragma);
      await close();
      return found;
    };
    expect(await read('full')).toEqual(['wal', 2n, 5_000n, 1n]);
    expect(await read('normal')).toEqual(['wal', 1n, 5_000n, 1n]);
  });

  test.each(['postgres://localhost/tollgate', 'sqlite:', 'sqlite::memory:', 'tollgate.db', ''])(
    'refuses the URL %p',
    async (url) => {
      expect(await failureOf(url)).toBe(
        'DATABASE_URL does not name a SQLite file. Write it as sqlite:./data/tollgate.db.',
      );
    },
  );

  test('says what is wrong with a file in words for an operator', async () => {
    const text = join(directory, 'notes.txt');
    writeFileSync(text, 'Not a database, and longer than the header of one would be. '.repeat(20));
    const folder = join(directory, 'folder');
    mkdirSync(folder);
    const absent = join(directory, 'absent.db');
    expect(await failureOf(`sqlite:${text}`)).toBe(
      `${text} is not a SQLite database. Point DATABASE_URL at another file, or move this one away.`,
    );
    expect(await failureOf(`sqlite:${folder}`)).toStartWith(
      `The database ${folder} cannot be opened.`,
    );
    expect(await failureOf(`sqlite:${text}/below.db`)).toStartWith(
      `The database file ${text}/below.db cannot be created.`,
    );
    expect(await failureOf(`sqlite:${absent}`, true)).toBe(`There is no database at ${absent}.`);
    expect(existsSync(absent)).toBe(false);
  });

  // Root may write anywhere, so this says something for ordinary users only.
  test.skipIf(process.getuid?.() === 0)('says that a directory cannot be written', async () => {
    const locked = join(directory, 'locked');
    mkdirSync(locked, { mode: 0o500 });
    expect(await failureOf(`sqlite:${locked}/tollgate.db`)).toContain('cannot be created');
    chmodSync(locked, 0o700);
  });

  test('a read-only connection reads and does not write', async () => {
    await using database = await newDatabase(directory, 'readonly');
    await database.db.insert(settings).values(setting('maintenance')).run();
    const url = `sqlite:${join(directory, 'readonly.db')}`;
    const reader = openDatabase({ url, sync: 'full', readonly: true });
    expect(await reader.db.select().from(settings).all()).toEqual([setting('maintenance')]);
    await expect(reader.db.delete(settings).run()).rejects.toThrow('readonly');
    await reader.close();
  });
});

describe('values', () => {
  test('amounts are exact bigints beyond 2^53, everything else is a number', async () => {
    await using database = await newDatabase(directory);
    const account = {
      id: 'acct_1',
      email: 'a@b.c',
      plan: 'pro',
      planSince: 1_795_248_274_894,
      standing: 'active' as const,
      emailVerified: true,
      createdAt: 1_795_248_274_894,
    };
    const balance = {
      number: 7,
      accountId: 'acct_1',
      posted: micro(2n ** 53n + 1n),
      held: micro(10n ** 15n + 1n),
      unpaid: micro(0n),
      sequence: 3,
      head: null,
      receipted: micro(2n ** 53n + 3n),
      budgets: 0,
    };
    await database.db.insert(accounts).values(account).run();
    await database.db.insert(balances).values(balance).run();
    expect(await database.db.select().from(accounts).all()).toEqual([account]);
    expect(await database.db.select().from(balances).all()).toEqual([balance]);
  });
});

describe('transactions', () => {
  test('commit what returned, roll back what threw', async () => {
    await using database = await newDatabase(directory);
    expect(
      await database.transaction(async (tx) => {
        await tx.insert(settings).values(setting('kept')).run();
        return 'result';
      }),
    ).toBe('result');
    const dropped = database.transaction(async (tx) => {
      await tx.insert(settings).values(setting('dropped')).run();
      throw new Error('no');
    });
    await expect(dropped).rejects.toThrow('no');
    expect(await database.db.select().from(settings).all()).toEqual([setting('kept')]);
  });

  test('do not nest, and the outer one goes on', async () => {
    await using database = await newDatabase(directory);
    await database.transaction(async (tx) => {
      const nested = database.transaction(async () => 1);
      await expect(nested).rejects.toThrow('A transaction is already open.');
      await tx.insert(settings).values(setting('outer')).run();
    });
    expect(await database.db.select().from(settings).all()).toEqual([setting('outer')]);
  });
});

test('a quick transaction waits for no disk, and all others do afterwards', async () => {
  const path = join(directory, `${crypto.randomUUID()}.db`);
  const database = openDatabase({ url: `sqlite:${path}`, sync: 'full' });
  await migrate(database);
  const mode = () => database.connection.query('PRAGMA synchronous').values()[0]?.[0];
  expect([mode(), await database.quickly(async () => mode()), mode()]).toEqual([2n, 1n, 2n]);
  const failing = database.quickly(async (tx) => {
    await tx.insert(settings).values(setting('undone')).run();
    throw new Error('undo');
  });
  await expect(failing).rejects.toThrow('undo');
  expect([mode(), await database.db.select().from(settings).all()]).toEqual([2n, []]);
  await database.quickly((tx) => tx.insert(settings).values(setting('kept')).run());
  expect(await database.db.select().from(settings).all()).toEqual([setting('kept')]);
  await database.close();
});

test('a snapshot sees one state and keeps no writer out', async () => {
  const name = crypto.randomUUID();
  const ours = await newDatabase(directory, name);
  await using theirs = await newDatabase(directory, name);
  const names = async () => (await ours.db.select().from(settings).all()).length;
  await ours.snapshot(async () => {
    expect(await names()).toBe(0);
    await theirs.db.insert(settings).values(setting('theirs')).run();
    expect(await names()).toBe(0);
  });
  expect(await names()).toBe(1);
  await ours.close();
});

describe('changes made elsewhere', () => {
  test('are seen, our own are not', async () => {
    const name = crypto.randomUUID();
    const ours = await newDatabase(directory, name);
    await using theirs = await newDatabase(directory, name);
    const before = ours.foreignCommits?.();
    await ours.db.insert(settings).values(setting('ours')).run();
    expect(ours.foreignCommits?.()).toBe(before);
    await theirs.db.insert(settings).values(setting('theirs')).run();
    expect(ours.foreignCommits?.()).not.toBe(before);
    await ours.close();
  });
});

test('a refused statement is not a failure of the store, a locked file is', async () => {
  const name = crypto.randomUUID();
  const ours = await newDatabase(directory, name);
  await using theirs = await newDatabase(directory, name);
  const failure = async (work: () => unknown) => {
    try {
      await work();
    } catch (error) {
      return isStoreFailure(error);
    }
    return 'nothing thrown';
  };
  const insert = () => ours.connection.run("INSERT INTO settings VALUES ('a', 'b', 1)");
  insert();
  expect(await failure(insert)).toBe(false);
  expect(await failure(() => ours.connection.run('SELECT nonsense'))).toBe(false);
  ours.connection.run('PRAGMA busy_timeout = 1');
  // As one of another process would: those of this one take turns.
  theirs.connection.run('BEGIN IMMEDIATE');
  expect(await failure(() => ours.transaction(async () => 1))).toBe(true);
  theirs.connection.run('COMMIT');
  await ours.close();
});

test("a query rejects with the driver's own error, which shows no value", async () => {
  const { db, close } = await newDatabase(directory, crypto.randomUUID());
  const insert = () => db.insert(settings).values(setting('a secret'));
  const ways = [() => insert(), () => insert().run(), () => insert().returning()];
  await insert();
  for (const way of ways) {
    const error = await way().then(String, (cause: unknown) => cause);
    expect(error).toBeInstanceOf(SQLiteError);
    expect(Bun.inspect(error)).not.toContain('secret');
  }
  await close();
});
