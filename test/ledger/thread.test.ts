// The ledger in its thread: the same answers and errors as in-process, and what happens to
// acknowledged commands when the thread dies or its database rejects writes.

import { describe, expect, test } from 'bun:test';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { sql } from 'drizzle-orm';
import { micro } from '../../src/core/money.ts';
import { type Books, createBooks } from '../../src/ledger/books.ts';
import type { HoldCommand } from '../../src/ledger/contract.ts';
import { LedgerRefusal, LedgerUnavailable } from '../../src/ledger/error.ts';
import {
  createRemoteLedger,
  type RemoteLedger,
  type RemoteLedgerOptions,
} from '../../src/ledger/remote.ts';
import { createRollUp } from '../../src/ledger/series/roll-up.ts';
import type { SqliteDatabase } from '../../src/store/database.ts';
import { usageHours } from '../../src/store/series-tables.ts';
import { newDatabase, temporaryDirectory } from '../support/database.ts';
import {
  creditOf,
  fundAccount,
  holdOf,
  NOW,
  outcomeOf,
  PRICE,
  placed,
  releaseOf,
  settleOf,
} from '../support/ledger.ts';

const directory = temporaryDirectory();
const LOST = 'LedgerUnavailable: The ledger did not answer.';
const UNWRITTEN = 'LedgerUnavailable: The ledger could not be written.';

type Remote = AsyncDisposable & {
  readonly database: SqliteDatabase;
  readonly books: Books;
  readonly ledger: RemoteLedger;
  readonly url: string;
  /** Every thread that was started, the running one last. */
  readonly threads: Worker[];
  /** The reports to the operator. */
  readonly reports: string[];
  /** Resolves once what is promised is on disk. */
  readonly settled: () => Promise<void>;
};

/** A ledger in a thread, over a database with 1,000 for `ada`. */
async function openRemote(options: Partial<RemoteLedgerOptions> = {}): Promise<Remote> {
  const name = crypto.randomUUID();
  const url = `sqlite:${join(directory, `${name}.db`)}`;
  const database = await newDatabase(directory, name);
  const threads: Worker[] = [];
  const reports: string[] = [];
  const ledger = createRemoteLedger({
    url,
    sync: 'full',
    onTrouble: ({ kind, requestId }) => reports.push(`${kind} ${requestId}`),
    onDeath: () => reports.push('died'),
    startThread() {
      const thread = new Worker(new URL('../../src/ledger/thread.ts', import.meta.url).href);
      threads.push(thread);
      return thread;
    },
    ...options,
  });
  const books = createBooks(database);
  await fundAccount({ database, ledger, books }, 'ada', 1_000n);
  return {
    database,
    books,
    ledger,
    url,
    threads,
    reports,
    settled: () => until(() => ledger.pending() === 0),
    async [Symbol.asyncDispose]() {
      await ledger.close();
      await database.close();
    },
  };
}

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((next) => setTimeout(next, 1));
}

describe('the thread', () => {
  test('answers as the ledger does, with exact amounts', async () => {
    await using remote = await openRemote();
    const { ledger, books } = remote;
    const answers = await Promise.all([
      ledger.hold(holdOf('r1', 'ada', 100n)),
      ledger.hold(holdOf('r2', 'ada', 901n)),
      ledger.extend({ requestId: 'r1', amount: micro(150n) }),
      ledger.checkpoint({
        requestId: 'r1',
        served: { model: 'swift-1', upstream: 'demo', price: PRICE },
        ...{ outputTokens: 7, reasoningTokens: 2, nowMs: NOW, isAwaited: true },
      }),
      ledger.settle(settleOf('r1', 40n)),
      ledger.settle(settleOf('r1', 41n)),
      ledger.credit(creditOf('c1', 'ada', 2n ** 50n)),
    ]);
    expect(answers.map((answer) => answer as unknown)).toMatchObject([
      { ok: true, available: micro(900n) },
      { ok: false, available: micro(900n) },
      { ok: true, available: micro(850n) },
      undefined,
      { debited: micro(40n), loss: micro(0n), available: micro(960n) },
      { debited: micro(40n), loss: micro(0n), available: micro(960n) },
      { applied: true, available: 960n + 2n ** 50n },
    ]);
    expect(await books.audit()).toEqual([]);
    expect([ledger.pending(), ledger.problem()]).toEqual([0, undefined]);
  });

  test('lets errors keep their class, name and words', async () => {
    await using remote = await openRemote();
    const { ledger } = remote;
    const refused = await ledger.settle(settleOf('none', 1n)).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(LedgerRefusal);
    expect((refused as Error).stack).toContain('commands.ts');
    const { promptTokens: _, ...half } = holdOf('r1', 'ada', 1n);
    expect(await outcomeOf(ledger.hold(half as HoldCommand))).toBe(
      'SQLiteError: NOT NULL constraint failed: open_holds.prompt_tokens',
    );
    remote.threads[0]?.terminate();
    const lost = await placed(ledger, holdOf('r3', 'ada', 1n)).catch((error: unknown) => error);
    expect(lost).toBeInstanceOf(LedgerUnavailable);
  });

  test('writes what came in one turn, or while it wrote, in one go', async () => {
    await using remote = await openRemote();
    const { ledger, books } = remote;
    const waves = [];
    for (let wave = 0; wave < 20; wave += 1) {
      for (let n = 0; n < 40; n += 1) waves.push(ledger.hold(holdOf(`${wave}-${n}`, 'ada', 1n)));
      await new Promise((next) => setImmediate(next));
    }
    const results = await Promise.all(waves);
    await Promise.all(results.map(({ written }) => written.wait()));
    const available = results.map((result) => result.available);
    expect(available).toEqual(available.map((_left, n) => micro(BigInt(999 - n))));
    expect(await books.balance('ada')).toMatchObject({ held: micro(800n) });
  });

  test('adds usage up between batches', async () => {
    await using remote = await openRemote();
    const { ledger, database } = remote;
    const rollUp = createRollUp(database);
    for (const id of ['r1', 'r2']) await placed(ledger, holdOf(id, 'ada', 10n));
    const ended = ['r1', 'r2'].map((id) => ledger.settle(settleOf(id, 4n)));
    await Promise.all([...ended, ledger.addUp(), ledger.addUp()]);
    await ledger.addUp();
    expect(await rollUp.behind()).toBe(0);
    const series = await database.rows<{ requests: bigint }>(
      sql`select requests from ${usageHours}`,
    );
    expect(series).toEqual([{ requests: 2n }]);
    await database.db.run(sql`drop table ${usageHours}`);
    await placed(ledger, holdOf('r3', 'ada', 10n));
    await ledger.settle(settleOf('r3', 4n));
    expect(await outcomeOf(ledger.addUp())).toMatch(/no such table/);
    remote.threads[0]?.terminate();
    expect(await outcomeOf(ledger.addUp())).toMatch(/has stopped/);
  });

  test('closes when all that was given is on disk', async () => {
    await using remote = await openRemote();
    const { ledger, books } = remote;
    const holds = Array.from({ length: 600 }, (_, n) => ledger.hold(holdOf(`r${n}`, 'ada', 1n)));
    expect(await ledger.close()).toBe(0);
    expect((await Promise.all(holds)).every((result) => result.ok)).toBe(true);
    expect(await books.balance('ada')).toEqual({
      posted: micro(1_000n),
      held: micro(600n),
      available: micro(400n),
    });
    expect(await outcomeOf(ledger.hold(holdOf('late', 'ada', 1n)))).toBe(LOST);
    expect(remote.reports).toEqual(['refused late']);
  });
});

describe('a thread that dies', () => {
  test('loses nothing that was promised, and another one takes over', async () => {
    await using remote = await openRemote();
    const { ledger, books, threads, reports } = remote;
    await Promise.all([
      placed(ledger, holdOf('r1', 'ada', 10n)),
      placed(ledger, holdOf('r2', 'ada', 10n)),
    ]);
    threads[0]?.terminate();
    const ended = Promise.all([ledger.settle(settleOf('r1', 4n)), ledger.release(releaseOf('r2'))]);
    expect(await outcomeOf(ledger.hold(holdOf('r3', 'ada', 10n)))).toBe(LOST);
    // New commands are refused at once until another one has opened the database.
    expect(await outcomeOf(ledger.hold(holdOf('r4', 'ada', 10n)))).toBe(LOST);
    expect(ledger.problem()).toBe('stopped');
    expect((await ended).map(({ debited }) => debited)).toEqual([micro(4n), micro(0n)]);
    expect(await books.balance('ada')).toEqual({
      posted: micro(996n),
      held: micro(0n),
      available: micro(996n),
    });
    expect(await books.audit()).toEqual([]);
    expect(reports.toSorted()).toEqual(['died', 'kept r1', 'kept r2']);
    expect([threads.length, ledger.problem()]).toEqual([2, undefined]);
    expect(await placed(ledger, holdOf('r5', 'ada', 10n))).toMatchObject({
      ok: true,
      available: micro(986n),
    });
  });

  test('of an error of its own does so too', async () => {
    await using remote = await openRemote();
    const { ledger, threads, reports } = remote;
    await placed(ledger, holdOf('r1', 'ada', 10n));
    threads[0]?.postMessage({
      kind: 'open',
      url: remote.url,
      sync: 'full',
      port: null,
      writer: null,
    });
    await until(() => reports.includes('died'));
    expect((await ledger.settle(settleOf('r1', 4n))).debited).toBe(micro(4n));
    expect(reports.toSorted()).toEqual(['died', 'kept r1']);
    expect(await remote.books.balance('ada')).toMatchObject({
      posted: micro(996n),
      held: micro(0n),
    });
  });

  test('again and again under load keeps every settle, and the books whole', async () => {
    await using remote = await openRemote();
    const { ledger, books, threads } = remote;
    let promised = 0;
    let running = true;
    const lane = async (mark: string): Promise<void> => {
      for (let n = 0; running; n += 1) {
        const id = `${mark}-${n}`;
        const held = await placed(ledger, holdOf(id, 'ada', 1n)).catch(() => undefined);
        if (held === undefined) await ledger.release(releaseOf(id)).catch(() => undefined);
        if (held?.ok !== true) {
          await new Promise((next) => setTimeout(next, 5));
          continue;
        }
        promised += 1;
        await ledger.settle(settleOf(id, 1n)).catch(() => undefined);
      }
    };
    await ledger.credit(creditOf('more', 'ada', 1_000_000n));
    const lanes = Array.from({ length: 16 }, (_, n) => lane(`lane${n}`));
    for (let death = 1; death <= 5; death += 1) {
      const before = promised;
      await until(() => promised >= before + 50);
      threads.at(-1)?.terminate();
      await until(() => threads.length > death);
    }
    running = false;
    await Promise.all(lanes);
    await remote.settled();
    const { posted, held } = await books.balance('ada');
    expect([held, 1_001_000n - posted]).toEqual([0n, BigInt(promised)]);
    expect(await books.audit()).toEqual([]);
  });

  test('is started again until its database can be opened', async () => {
    const starts: number[] = [];
    await using remote = await openRemote();
    const { url } = remote;
    const reports: string[] = [];
    const ledger = createRemoteLedger({
      url: url.replace('.db', '.db/nowhere.db'),
      sync: 'full',
      onDeath: (cause) => reports.push(String(cause)),
      startThread() {
        starts.push(performance.now());
        return new Worker(new URL('../../src/ledger/thread.ts', import.meta.url).href);
      },
    });
    await until(() => starts.length === 3);
    expect(ledger.problem()).toBe('stopped');
    expect(reports[0]).toMatch(
      /^LedgerUnavailable: StoreError: The database file .*nowhere.db cannot be created/,
    );
    expect((starts[2] ?? 0) - (starts[1] ?? 0)).toBeGreaterThan(190);
    expect(await ledger.close()).toBe(0);
  });
});

describe('a database that cannot be written refuses holds, and books settles when it is over:', () => {
  const large = { ...settleOf('r1', 4n), attempts: JSON.stringify(['x'.repeat(1_000_000)]) };

  async function passes(remote: Remote, begin: () => void, end: () => void): Promise<void> {
    const { ledger, books, reports } = remote;
    await placed(ledger, holdOf('r1', 'ada', 10n));
    begin();
    const settled = ledger.settle(large);
    expect(await outcomeOf(ledger.hold(holdOf('r2', 'ada', 10n)))).toBe(UNWRITTEN);
    expect([ledger.problem(), ledger.pending(), reports]).toEqual(['failing', 1, ['kept r1']]);
    end();
    expect((await settled).debited).toBe(micro(4n));
    expect(await books.balance('ada')).toEqual({
      posted: micro(996n),
      held: micro(0n),
      available: micro(996n),
    });
    expect(await placed(ledger, holdOf('r3', 'ada', 10n))).toMatchObject({
      ok: true,
      available: micro(986n),
    });
    expect([ledger.problem(), await books.audit()]).toEqual([undefined, []]);
  }

  // The thread waits 5 seconds for the lock. Callers would wait as long for the thread.
  test('a lock of another process', async () => {
    await using remote = await openRemote({ turnMs: 60_000 });
    const { connection } = remote.database;
    await passes(
      remote,
      () => connection.run('BEGIN IMMEDIATE'),
      () => connection.run('COMMIT'),
    );
  }, 20_000);

  test('a full disk', async () => {
    const thread = new URL('../support/small-disk-thread.ts', import.meta.url).href;
    await using remote = await openRemote({ startThread: () => new Worker(thread) });
    const flag = `${remote.url.slice('sqlite:'.length)}.full`;
    await passes(
      remote,
      () => writeFileSync(flag, ''),
      () => rmSync(flag),
    );
  });
});
