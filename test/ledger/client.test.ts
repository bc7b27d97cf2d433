// Server threads write through ports of their own into the one ledger's thread: the same answers, one
// order, and what a thread that has died leaves open is known by name.

import { expect, test } from 'bun:test';
import { join } from 'node:path';
import { micro, usdRate } from '../../src/core/money.ts';
import { createBooks } from '../../src/ledger/books.ts';
import { createLedgerClient } from '../../src/ledger/client.ts';
import { createRemoteLedger } from '../../src/ledger/remote.ts';
import { newDatabase, temporaryDirectory } from '../support/database.ts';
import { fundAccount, holdOf, NOW, placed, releaseOf, settleOf } from '../support/ledger.ts';

const directory = temporaryDirectory();

/** A ledger with 1,000 for `ada`, and two threads that write to it; they run in this one. */
async function openLinked() {
  const name = crypto.randomUUID();
  const database = await newDatabase(directory, name);
  const threads: Worker[] = [];
  const batches: number[] = [];
  const main = createRemoteLedger({
    url: `sqlite:${join(directory, `${name}.db`)}`,
    sync: 'normal',
    startThread() {
      const thread = new Worker(new URL('../../src/ledger/thread.ts', import.meta.url).href);
      threads.push(thread);
      return thread;
    },
  });
  const books = createBooks(database);
  await fundAccount({ database, ledger: main, books }, 'ada', 1_000n);
  const clients = [1, 2].map(() => {
    const ledger = createLedgerClient({ onBatch: (size) => batches.push(size) });
    return { ledger, leave: main.connect(ledger) };
  });
  const [one, two] = clients;
  if (one === undefined || two === undefined) throw new Error('There are two of them.');
  return {
    ...{ main, books, one, two, threads, batches },
    async [Symbol.asyncDispose]() {
      for (const { ledger } of clients) await ledger.close();
      await main.close();
      await database.close();
    },
  };
}

test('threads share one ledger: none of them can spend what another has reserved', async () => {
  await using linked = await openLinked();
  const { main, books, one, two } = linked;
  const held = await Promise.all(
    Array.from({ length: 30 }, (_, index) =>
      [one, two][index % 2]?.ledger.hold(holdOf(`r${index}`, 'ada', 100n)),
    ),
  );
  expect(held.filter((each) => each?.ok === true)).toHaveLength(10);
  await Promise.all(
    held.map((each, index) =>
      each?.ok === true
        ? [one, two][index % 2]?.ledger.settle(settleOf(`r${index}`, 30n))
        : undefined,
    ),
  );
  expect(await books.balance('ada')).toMatchObject({ available: micro(700n), held: micro(0n) });
  const refused = await two.ledger.settle(settleOf('none', 1n)).catch(String);
  expect(refused).toContain('There is no hold with this request id.');
  expect([main.pending(), one.ledger.pending(), two.ledger.problem()]).toEqual([0, 0, undefined]);
});

test('of a thread that has died the ledger knows what it has left open, and ends that alone', async () => {
  await using linked = await openLinked();
  const { main, books, one, two } = linked;
  for (const id of ['a', 'b', 'c']) await placed(one.ledger, holdOf(id, 'ada', 100n));
  await placed(two.ledger, holdOf('d', 'ada', 100n));
  await one.ledger.settle(settleOf('a', 10n));
  await one.ledger.release(releaseOf('b'));
  // The balance does not suffice for it: there is no hold.
  expect((await placed(one.ledger, holdOf('dear', 'ada', 10_000n))).ok).toBe(false);
  // What it had posted when it died is still written, and belongs to what it has left.
  const last = one.ledger.hold(holdOf('e', 'ada', 100n));
  await new Promise((resolve) => setImmediate(resolve));
  const requestIds = await one.leave();
  one.ledger.unlink(new Error('dead'), true);
  await last.catch(() => {});
  expect(requestIds.toSorted()).toEqual(['c', 'e']);
  const recovered = await main.recover({
    requestIds,
    live: [],
    createdBefore: Number.MAX_SAFE_INTEGER,
    phase: 'ended',
    usdPerMillion: usdRate(1_000_000n),
    nowMs: NOW,
  });
  expect(recovered.map(({ requestId }) => requestId).toSorted()).toEqual(['c', 'e']);
  expect(await books.balance('ada')).toMatchObject({ held: micro(100n) });
});

test('when the thread of the ledger dies, every thread keeps its promises and goes on', async () => {
  await using linked = await openLinked();
  const { books, one, two, threads } = linked;
  await placed(one.ledger, holdOf('a', 'ada', 100n));
  await placed(two.ledger, holdOf('b', 'ada', 100n));
  threads[0]?.terminate();
  const settled = Promise.all([
    one.ledger.settle(settleOf('a', 10n)),
    two.ledger.settle(settleOf('b', 20n)),
  ]);
  expect((await settled).map(({ debited }) => debited)).toEqual([micro(10n), micro(20n)]);
  expect(await books.balance('ada')).toMatchObject({ available: micro(970n), held: micro(0n) });
  expect(threads).toHaveLength(2);
});
