// How commands share transactions, and what happens to them when one is invalid or the disk fails.

import { describe, expect, test } from 'bun:test';
import { join } from 'node:path';
import { micro, pico, usdRate } from '../../src/core/money.ts';
import { createBooks } from '../../src/ledger/books.ts';
import type { CheckpointCommand } from '../../src/ledger/contract.ts';
import { HoldRevoked } from '../../src/ledger/error.ts';
import { createLedger } from '../../src/ledger/ledger.ts';
import { createQueue, WAITING_MAX } from '../../src/ledger/queue.ts';
import type { LedgerTrouble } from '../../src/ledger/waiting.ts';
import type { LedgerRequest } from '../../src/ledger/writer.ts';
import type { SqliteDatabase } from '../../src/store/database.ts';
import {
  describeOnEachDatabase,
  newDatabase,
  sqliteTest,
  temporaryDirectory,
} from '../support/database.ts';
import {
  booksOver,
  closeBooks,
  creditOf,
  fundAccount,
  holdOf,
  type OpenBooks,
  openBooks,
  outcomeOf,
  PRICE,
  placed,
  releaseOf,
  settleOf,
} from '../support/ledger.ts';

const directory = temporaryDirectory();
const UNAVAILABLE = 'LedgerUnavailable: The ledger could not be written.';

/** Books that count their transactions. */
async function countedBooks(): Promise<OpenBooks & { readonly commits: () => number }> {
  const database = await newDatabase(directory);
  let count = 0;
  const counted: SqliteDatabase = {
    ...database,
    concurrently: (work) => {
      count += 1;
      return database.concurrently(work);
    },
  };
  return { ...booksOver(counted), commits: () => count };
}

function checkpointOf(requestId: string, outputTokens: number): CheckpointCommand {
  const served = { model: 'swift-1', upstream: 'demo', price: PRICE };
  return { requestId, served, outputTokens, reasoningTokens: 0, nowMs: 1 };
}

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((next) => setTimeout(next, 1));
}

describeOnEachDatabase('the queue', () => {
  test('each batch that was answered is reported with its size and its time', async () => {
    const reportedBatches: [size: number, isTime: boolean][] = [];
    const queue = createQueue({
      post: (batch) => {
        const answers = batch.map(() => ({ ok: true as const, result: undefined }));
        setTimeout(() => queue.written(answers), 2);
      },
      onBatch: (size, durationMs) =>
        void reportedBatches.push([size, durationMs >= 1 && durationMs < 1_000]),
    });
    await Promise.all(['r1', 'r2', 'r3'].map((id) => queue.ledger.release(releaseOf(id))));
    await queue.ledger.release(releaseOf('r4'));
    expect(reportedBatches).toEqual([
      [3, true],
      [1, true],
    ]);
  });

  describe('group commit', () => {
    test('commands of one turn share a transaction, up to 256 commands', async () => {
      const open = await countedBooks();
      await fundAccount(open, 'ada', 1_000n);
      // The names of the first hold are written in a transaction of their own.
      await placed(open.ledger, holdOf('first', 'ada', 0n));
      const before = open.commits();
      const holds = Array.from({ length: 600 }, (_, n) =>
        open.ledger.hold(holdOf(`r${n}`, 'ada', 1n)),
      );
      expect(open.ledger.pending()).toBe(600);
      const results = await Promise.all(holds);
      await Promise.all(results.map(({ written }) => written.wait()));
      expect(results.map((result) => result.available)).toEqual(
        Array.from({ length: 600 }, (_, n) => micro(BigInt(999 - n))),
      );
      expect(open.commits() - before).toBe(3);
      expect(open.ledger.pending()).toBe(0);
      await closeBooks(open);
    });

    test('commands that wait for each other do not share one', async () => {
      const open = await countedBooks();
      await fundAccount(open, 'ada', 10n);
      await placed(open.ledger, holdOf('first', 'ada', 0n));
      const before = open.commits();
      for (const id of ['r1', 'r2', 'r3']) await placed(open.ledger, holdOf(id, 'ada', 1n));
      expect(open.commits() - before).toBe(3);
      await closeBooks(open);
    });
  });

  describe('a command that fails', () => {
    test('does not touch the others of its batch, nor leave half of itself', async () => {
      await using open = await openBooks(directory);
      await fundAccount(open, 'ada', 100n);
      const { ledger } = open;
      const other = { ...PRICE, output: pico(PRICE.output + 1n) };
      const results = await Promise.all([
        outcomeOf(ledger.hold(holdOf('r1', 'ada', 10n))),
        outcomeOf(ledger.hold(holdOf('r1', 'ada', 20n))),
        outcomeOf(ledger.hold({ ...holdOf('r2', 'ada', 30n), price: other })),
        outcomeOf(ledger.settle(settleOf('none', 1n))),
        outcomeOf(ledger.hold(holdOf('r3', 'ada', 5n))),
        outcomeOf(ledger.credit(creditOf('c1', 'ada', 7n))),
      ]);
      expect(results).toMatchObject([
        { ok: true, available: micro(90n) },
        'LedgerRefusal: This request id was used before, for another hold.',
        'AssertionError: price version swift-1@1 was used before with other prices',
        'LedgerRefusal: There is no hold with this request id.',
        { ok: true, available: micro(85n) },
        { applied: true, available: micro(92n) },
      ]);
      expect(await open.books.balance('ada')).toEqual({
        posted: micro(107n),
        held: micro(15n),
        available: micro(92n),
      });
      expect(await open.books.audit()).toEqual([]);
    });

    test('costs its batch one more transaction, not one for each command', async () => {
      const open = await countedBooks();
      await fundAccount(open, 'ada', 100n);
      const before = open.commits();
      const holds = Array.from({ length: 50 }, (_, n) =>
        open.ledger.hold(holdOf(`r${n}`, 'ada', 1n)),
      );
      expect(await outcomeOf(open.ledger.settle(settleOf('none', 1n)))).toBe(
        'LedgerRefusal: There is no hold with this request id.',
      );
      await Promise.all(holds);
      expect(open.commits() - before).toBe(2);
      expect(await open.books.balance('ada')).toEqual({
        posted: micro(100n),
        held: micro(50n),
        available: micro(50n),
      });
      await closeBooks(open);
    });

    test('a price version is written again when the batch that first wrote it was undone', async () => {
      await using open = await openBooks(directory);
      await fundAccount(open, 'ada', 100n);
      await Promise.all([
        outcomeOf(open.ledger.hold(holdOf('r1', 'ada', 1n))),
        outcomeOf(open.ledger.hold(holdOf('r1', 'ada', 1n))),
      ]);
      expect((await open.books.explain('r1'))?.prices).toEqual([
        expect.objectContaining({ ...PRICE, model: 'swift-1' }),
      ]);
    });
  });

  test('of many settles and releases of one request at once, one counts', async () => {
    await using open = await openBooks(directory);
    await fundAccount(open, 'ada', 1_000n);
    const { ledger } = open;
    await ledger.hold(holdOf('r1', 'ada', 100n));
    const results = await Promise.all(
      Array.from({ length: 300 }, (_, n) =>
        n % 3 === 2
          ? ledger.release(releaseOf('r1'))
          : ledger.settle(settleOf('r1', BigInt(40 + n))),
      ),
    );
    expect(new Set(results.map((result) => Object.values(result).join(' ')))).toEqual(
      new Set(['40 0 960']),
    );
    expect(await open.books.balance('ada')).toEqual({
      posted: micro(960n),
      held: micro(0n),
      available: micro(960n),
    });
    expect((await open.books.explain('r1'))?.entries.length).toBe(2);
  });

  /** A connection that refuses, a lock of another process: of PostgreSQL, see nodes.test.ts. */
  const broken = sqliteTest('it makes a connection refuse to write');

  describe('when the database cannot be written', () => {
    broken(
      'holds and credits are refused, settles and releases are kept until it can',
      async () => {
        const database = await newDatabase(directory);
        const troubles: string[] = [];
        const onTrouble = ({ kind, requestId }: LedgerTrouble) =>
          troubles.push(`${kind} ${requestId}`);
        const ledger = createLedger({ database, onTrouble });
        const open = { database, ledger, books: createBooks(database) };
        await fundAccount(open, 'ada', 100n);
        await ledger.hold(holdOf('r1', 'ada', 10n));
        await ledger.hold(holdOf('r2', 'ada', 10n));

        database.connection.run('PRAGMA query_only = ON');
        const ended = Promise.all([
          ledger.settle(settleOf('r1', 4n)),
          ledger.release(releaseOf('r2')),
        ]);
        const results = await Promise.all([
          outcomeOf(ledger.hold(holdOf('r3', 'ada', 10n))),
          outcomeOf(ledger.credit(creditOf('c1', 'ada', 10n))),
        ]);
        expect(results).toEqual([UNAVAILABLE, UNAVAILABLE]);
        expect(ledger.pending()).toBe(2);
        expect(await open.books.balance('ada')).toEqual({
          posted: micro(100n),
          held: micro(20n),
          available: micro(80n),
        });
        await until(() => troubles.length >= 2);
        // Tried again and again, it is reported once.
        await new Promise((next) => setTimeout(next, 250));

        database.connection.run('PRAGMA query_only = OFF');
        // The caller gets the answer once it is booked, and not before.
        expect(await ended).toEqual([
          { debited: micro(4n), loss: micro(0n), available: micro(86n) },
          { debited: micro(0n), loss: micro(0n), available: micro(96n) },
        ]);
        expect(ledger.pending()).toBe(0);
        expect(await open.books.balance('ada')).toEqual({
          posted: micro(96n),
          held: micro(0n),
          available: micro(96n),
        });
        expect(troubles).toEqual(['kept r1', 'kept r2']);
        expect(await open.books.audit()).toEqual([]);
        await closeBooks(open);
      },
    );

    broken('a lock that another process keeps counts as that too', async () => {
      const name = crypto.randomUUID();
      const database = await newDatabase(directory, name);
      const other = await newDatabase(directory, name);
      const open = booksOver(database);
      await fundAccount(open, 'ada', 100n);
      database.connection.run('PRAGMA busy_timeout = 1');
      other.connection.run('BEGIN IMMEDIATE');
      expect(await outcomeOf(open.ledger.hold(holdOf('r1', 'ada', 1n)))).toBe(UNAVAILABLE);
      other.connection.run('ROLLBACK');
      expect(await outcomeOf(open.ledger.hold(holdOf('r1', 'ada', 1n)))).toMatchObject({
        ok: true,
        available: micro(99n),
      });
      await other.close();
      await closeBooks(open);
    });

    broken('a full disk undoes the batch and loses no settle', async () => {
      await using open = await openBooks(directory);
      await fundAccount(open, 'ada', 100n);
      await open.ledger.hold(holdOf('r1', 'ada', 10n));
      const { connection } = open.database;
      const pages = connection.query('PRAGMA page_count').values()[0]?.[0];
      connection.run(`PRAGMA max_page_count = ${pages}`);
      const large = { ...settleOf('r1', 4n), attempts: JSON.stringify(['x'.repeat(100_000)]) };
      const settled = open.ledger.settle(large);
      await until(() => open.ledger.pending() === 1);
      expect(await open.books.balance('ada')).toEqual({
        posted: micro(100n),
        held: micro(10n),
        available: micro(90n),
      });
      connection.run('PRAGMA max_page_count = 1000000');
      expect((await settled).debited).toBe(micro(4n));
      expect(await open.books.balance('ada')).toEqual({
        posted: micro(96n),
        held: micro(0n),
        available: micro(96n),
      });
    });

    broken('closing tries once more and says what is left', async () => {
      await using open = await openBooks(directory);
      await fundAccount(open, 'ada', 100n);
      await open.ledger.hold(holdOf('r1', 'ada', 10n));
      open.database.connection.run('PRAGMA query_only = ON');
      const settled = outcomeOf(open.ledger.settle(settleOf('r1', 4n)));
      expect(await open.ledger.close()).toBe(1);
      expect(await settled).toBe(
        'LedgerUnavailable: The ledger was closed before the disk was back.',
      );
      open.database.connection.run('PRAGMA query_only = OFF');
      expect(await open.ledger.close()).toBe(0);
      expect(await open.books.balance('ada')).toEqual({
        posted: micro(96n),
        held: micro(0n),
        available: micro(96n),
      });
    });
  });

  describe('a queue whose writer does not answer', () => {
    /** A queue, the batches that it has posted so far, and a way to answer the last one. */
    function silentQueue(turnMs?: number, bookingMs?: number) {
      const batches: (readonly LedgerRequest[])[] = [];
      const troubles: string[] = [];
      const queue = createQueue({
        post: (batch) => void batches.push(batch),
        onTrouble: ({ kind, requestId }) => troubles.push(`${kind} ${requestId}`),
        turnMs,
        bookingMs,
      });
      const answer = () => {
        const last = batches.at(-1) ?? [];
        queue.written(last.map(({ name }) => ({ ok: true, result: RESULTS[name] })));
      };
      return { ...queue, batches, answer, troubles };
    }
    const nothing = { debited: micro(0n), loss: micro(0n), available: micro(0n) };
    const RESULTS: Partial<Record<LedgerRequest['name'], unknown>> = {
      hold: { ok: true, available: micro(1n) },
      settle: nothing,
      release: nothing,
      recover: [],
    };

    /** Waits until more than `ms` have passed, also where timers are early. */
    async function passed(ms: number): Promise<void> {
      const fromMs = performance.now();
      await until(() => performance.now() - fromMs > ms);
    }

    test('names the requests whose hold or end is not on disk yet, and no others', async () => {
      const { ledger, unwritten, batches, answer } = silentQueue();
      void ledger.hold(holdOf('r1', 'ada', 1n));
      void ledger.extend({ requestId: 'r0', amount: micro(1n) });
      await until(() => batches.length === 1);
      void ledger.settle(settleOf('r2', 1n));
      void ledger.release(releaseOf('r3'));
      expect(unwritten()).toEqual(['r2', 'r3', 'r1']);
      answer();
      expect(unwritten()).toEqual(['r2', 'r3']);
      await until(() => batches.length === 2);
      answer();
      expect(unwritten()).toEqual([]);
    });

    test.each([
      ['refused', { ok: false, available: micro(9n) }, 0n, true],
      ['kept with less beside it', { ok: true, available: micro(9n) }, 0n, false],
      ['kept, and hidden output is covered', { ok: true, available: micro(9n) }, 9n, false],
      ['kept, and hidden output is not', { ok: true, available: micro(9n) }, 10n, true],
      ['kept, as it was granted', { ok: true, available: micro(10n) }, 99n, false],
    ] as const)(
      'a hold is granted with 10 left, and on disk it is %s',
      async (_, final, hidden, isRevoked) => {
        const { ledger, batches, decided, written } = silentQueue();
        const placing = ledger.hold({ ...holdOf('r1', 'ada', 1n), hidden: micro(hidden) });
        await until(() => batches.length === 1);
        decided([{ ok: true, result: { ok: true, available: micro(10n) } }]);
        const placed = await placing;
        expect(placed).toMatchObject({ ok: true, available: micro(10n) });
        written([{ ok: true, result: final }]);
        const error = await placed.written.wait().catch((cause) => cause);
        expect(placed.written.isDone()).toBe(!isRevoked);
        expect(error instanceof HoldRevoked ? error.final : undefined).toEqual(
          isRevoked ? final : undefined,
        );
      },
    );

    test('keeps the requests whose end waits here out of a recovery, and no others', async () => {
      const { ledger, batches, answer } = silentQueue();
      void ledger.hold(holdOf('r1', 'ada', 1n));
      await until(() => batches.length === 1);
      void ledger.settle(settleOf('r2', 1n));
      void ledger.credit(creditOf('c1', 'ada', 1n));
      const command = {
        createdBefore: 1,
        phase: 'ended',
        usdPerMillion: usdRate(1n),
        nowMs: 1,
      } as const;
      void ledger.recover({ ...command, live: ['r0'] });
      answer();
      await until(() => batches.length === 2);
      const recover = batches[1]?.find(({ name }) => name === 'recover');
      expect(recover?.command).toEqual({ ...command, live: ['r0', 'r2'] });
      answer();
    });

    test('has one batch on its way at a time, and what arrives in between is the next', async () => {
      const { ledger, batches, answer } = silentQueue();
      void ledger.hold(holdOf('r1', 'ada', 1n));
      await until(() => batches.length === 1);
      for (const id of ['r2', 'r3']) {
        void ledger.hold(holdOf(id, 'ada', 1n));
        await new Promise((next) => setTimeout(next, 5));
      }
      expect(batches.length).toBe(1);
      answer();
      await until(() => batches.length === 2);
      expect(batches[1]?.length).toBe(2);
      answer();
    });

    test('refuses what was posted and is late, and keeps what belongs to a request', async () => {
      const { ledger, batches, answer, troubles } = silentQueue(250);
      const posted = outcomeOf(ledger.hold(holdOf('r1', 'ada', 1n)));
      const settled = ledger.settle(settleOf('r2', 1n));
      await until(() => batches.length === 1);
      const waiting = outcomeOf(ledger.hold(holdOf('r3', 'ada', 1n)));
      // The disk has not answered yet: what was posted may be written all the same.
      expect(await posted).toBe('LedgerUnavailable: The disk has not answered for 250 ms.');
      expect(await waiting).toBe(
        'LedgerUnavailable: The command has waited for the disk for 250 ms.',
      );
      answer();
      expect(await settled).toEqual(nothing);
      expect([batches.length, ledger.pending(), troubles]).toEqual([1, 0, []]);
    });

    test('lets unawaited commands ride along, and does not leave it behind', async () => {
      const { ledger, batches, answer } = silentQueue();
      const checkpoint = checkpointOf('r1', 1);
      void ledger.checkpoint(checkpoint);
      await new Promise((next) => setImmediate(() => setImmediate(next)));
      expect(batches.length).toBe(0);
      void ledger.settle(settleOf('r2', 1n));
      await until(() => batches.length === 1);
      expect(batches[0]?.map(({ name }) => name)).toEqual(['checkpoint', 'settle']);
      answer();
      void ledger.checkpoint(checkpoint);
      await until(() => batches.length === 2);
      expect(batches[1]?.map(({ name }) => name)).toEqual(['checkpoint']);
    });

    test('drops a checkpoint that waits when its request ends, and no other', async () => {
      const { ledger, batches, answer } = silentQueue();
      const kept = ledger.checkpoint({ ...checkpointOf('r1', 1), isAwaited: true });
      await until(() => batches.length === 1);
      answer();
      await kept;
      const dropped = [
        ledger.checkpoint(checkpointOf('r1', 2)),
        ledger.checkpoint(checkpointOf('r2', 2)),
      ];
      void ledger.checkpoint(checkpointOf('r3', 2));
      void ledger.checkpoint({ ...checkpointOf('r1', 3), isAwaited: true });
      void ledger.settle(settleOf('r1', 1n));
      void ledger.release(releaseOf('r2'));
      expect(await Promise.all(dropped)).toEqual([undefined, undefined]);
      expect(ledger.pending()).toBe(4);
      await until(() => batches.length === 2);
      const names = batches[1]?.map(({ name, command }) => [name, Object(command).requestId]);
      expect(names).toEqual([
        ['checkpoint', 'r3'],
        ['checkpoint', 'r1'],
        ['settle', 'r1'],
        ['release', 'r2'],
      ]);
      answer();
      expect(ledger.pending()).toBe(0);
    });

    test('makes no more promises above its bound, and still takes what ends old ones', async () => {
      const { ledger, batches, answer } = silentQueue();
      const holds = Array.from({ length: WAITING_MAX }, (_, n) =>
        ledger.hold(holdOf(`r${n}`, 'ada', 1n)),
      );
      const full = 'LedgerUnavailable: More than 10000 commands wait for the disk.';
      expect(await outcomeOf(ledger.hold(holdOf('more', 'ada', 1n)))).toBe(full);
      expect(await outcomeOf(ledger.extend({ requestId: 'r1', amount: micro(2n) }))).toBe(full);
      expect(await outcomeOf(ledger.credit(creditOf('c1', 'ada', 1n)))).toBe(full);
      const endings = [
        ledger.checkpoint(checkpointOf('r3', 1)),
        ledger.settle(settleOf('r1', 1n)),
        ledger.release(releaseOf('r2')),
      ];
      expect(ledger.pending()).toBe(WAITING_MAX + 3);
      for (let posted = 1; ledger.pending() > 0; posted += 1) {
        await until(() => batches.length === posted);
        answer();
      }
      expect(batches.flat().length).toBe(WAITING_MAX + 3);
      expect((await Promise.all(holds)).length).toBe(WAITING_MAX);
      expect(await Promise.all(endings)).toEqual([undefined, nothing, nothing]);
      const again = ledger.hold(holdOf('more', 'ada', 1n));
      await until(() => batches.at(-1)?.length === 1);
      answer();
      expect(await again).toMatchObject({ ok: true, available: micro(1n) });
    });

    test('makes no promise that has waited for its turn for too long, and keeps the others', async () => {
      const { ledger, batches, answer } = silentQueue(250);
      // A bill is never late, however busy the machine is.
      void ledger.settle(settleOf('r1', 1n));
      await until(() => batches.length === 1);
      const late = Array.from({ length: 300 }, (_, n) =>
        outcomeOf(ledger.hold(holdOf(`late-${n}`, 'ada', 1n))),
      );
      const settled = ledger.settle(settleOf('r0', 1n));
      void ledger.extend({ requestId: 'r0', amount: micro(2n) });
      await passed(250);
      const inTime = ledger.hold(holdOf('r2', 'ada', 1n));
      answer();
      const refused = 'LedgerUnavailable: The command has waited for the disk for 250 ms.';
      expect(new Set(await Promise.all(late))).toEqual(new Set([refused]));
      await until(() => batches.length === 2);
      expect(batches[1]?.map(({ name }) => name)).toEqual(['settle', 'extend', 'hold']);
      answer();
      expect([await settled, await inTime]).toMatchObject([
        nothing,
        { ok: true, available: micro(1n) },
      ]);
      expect(ledger.pending()).toBe(0);
    });

    test('lets no caller wait for a bill for too long, and keeps the bill until it is written', async () => {
      const { ledger, batches, lost, answer, unwritten } = silentQueue(20, 10);
      const settled = outcomeOf(ledger.settle(settleOf('r1', 1n)));
      await until(() => batches.length === 1);
      expect(await settled).toBe('LedgerUnavailable: The disk has not taken the bill for 10 ms.');
      lost(new Error('the writer is gone'), true);
      const released = outcomeOf(ledger.release(releaseOf('r2')));
      expect(await released).toBe('LedgerUnavailable: The disk has not taken the bill for 10 ms.');
      expect(unwritten().sort()).toEqual(['r1', 'r2']);
      answer();
      await until(() => batches.length === 3);
      expect(unwritten()).toEqual(['r1']);
      answer();
      expect(ledger.pending()).toBe(0);
    });

    test('closes where all that waits is too late', async () => {
      const { ledger, batches, answer } = silentQueue(1);
      void ledger.settle(settleOf('r1', 1n));
      await until(() => batches.length === 1);
      const late = Array.from({ length: 300 }, (_, n) =>
        outcomeOf(ledger.hold(holdOf(`late-${n}`, 'ada', 1n))),
      );
      await passed(1);
      const closed = ledger.close();
      answer();
      expect(await closed).toBe(0);
      expect((await Promise.all(late)).length).toBe(300);
    });

    test('posts what was promised again when the writer is lost, and nothing else', async () => {
      const { ledger, batches, answer, written, lost, failing, troubles } = silentQueue();
      const held = outcomeOf(ledger.hold(holdOf('r1', 'ada', 1n)));
      const ended = [
        outcomeOf(ledger.settle(settleOf('r2', 1n))),
        outcomeOf(ledger.release(releaseOf('r3'))),
      ];
      await until(() => batches.length === 1);
      lost(new Error('gone'), true);
      expect(await held).toBe('LedgerUnavailable: The ledger did not answer.');
      expect([failing(), ledger.pending(), troubles]).toEqual([
        true,
        2,
        ['refused r1', 'kept r2', 'kept r3'],
      ]);
      await until(() => batches.length === 2);
      expect(batches[1]?.map(({ name }) => name)).toEqual(['settle', 'release']);
      // While they wait, recovery leaves their holds alone.
      const sweep = {
        createdBefore: 1,
        phase: 'expired',
        usdPerMillion: usdRate(1n),
        nowMs: 1,
      } as const;
      const swept = ledger.recover({ live: ['r9'], ...sweep });
      written([
        { ok: true, result: nothing },
        { ok: false, error: { name: 'LedgerRefusal', message: 'no' } },
      ]);
      await until(() => batches.length === 3);
      expect(batches[2]?.[0]?.command).toMatchObject({ live: ['r9', 'r2', 'r3'] });
      answer();
      expect(await swept).toEqual([]);
      expect(await Promise.all(ended)).toEqual([nothing, 'LedgerRefusal: no']);
      expect([failing(), ledger.pending(), troubles.at(-1)]).toEqual([false, 0, 'given_up r3']);
    });

    test('a release of a hold that was not confirmed is no trouble where there is none', async () => {
      const { ledger, batches, written, troubles } = silentQueue();
      const released = outcomeOf(ledger.release({ ...releaseOf('r1'), isUnconfirmed: true }));
      await until(() => batches.length === 1);
      written([{ ok: false, error: { name: 'LedgerRefusal', message: 'no hold' } }]);
      expect(await released).toBe('LedgerRefusal: no hold');
      expect(troubles).toEqual([]);
    });
  });

  test('a queue that was closed keeps no process alive', async () => {
    const source = join(import.meta.dir, '../../src/ledger/queue.ts');
    const program = `
    import { createQueue } from ${JSON.stringify(source)};
    const post = () => setTimeout(() => queue.written([{ ok: true, result: undefined }]), 2);
    const queue = createQueue({ post, turnMs: 600_000 });
    await queue.ledger.extend({ requestId: 'r1', amount: 1n });
    await queue.ledger.close();
  `;
    await using child = Bun.spawn([process.execPath, '-e', program], { stderr: 'pipe' });
    expect(await child.stderr.text()).toBe('');
    expect(await child.exited).toBe(0);
  });
});
