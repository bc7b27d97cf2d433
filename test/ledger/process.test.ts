// The ledger across processes: acknowledged commands survive `kill -9`, and two processes that
// reserve from one account never reserve more than it has.

import { describe, expect, test } from 'bun:test';
import { join } from 'node:path';
import { micro } from '../../src/core/money.ts';
import { openDatabase } from '../../src/store/database.ts';
import { newDatabase, temporaryDirectory } from '../support/database.ts';
import { booksOver, closeBooks, fundAccount } from '../support/ledger.ts';
import { runScript, startTogether } from '../support/process.ts';

const directory = temporaryDirectory();

/** The beginning of each script: a ledger over the file `name`. */
function opening(name: string, sync: 'full' | 'normal'): string {
  const url = JSON.stringify(`sqlite:${join(directory, `${name}.db`)}`);
  return `
    const { openDatabase } = await load('store/database.ts');
    const { createLedger } = await load('ledger/ledger.ts');
    const { holdOf, settleOf } = await support('ledger.ts');
    const database = openDatabase({ url: ${url}, sync: '${sync}' });
    const ledger = createLedger({ database });`;
}

async function fundedFile(name: string, amount: bigint): Promise<void> {
  const database = await newDatabase(directory, name);
  const open = booksOver(database);
  await fundAccount(open, 'ada', amount);
  await closeBooks(open);
}

function reopen(name: string) {
  const database = openDatabase({ url: `sqlite:${join(directory, `${name}.db`)}`, sync: 'full' });
  return booksOver(database);
}

describe.each(['full', 'normal'] as const)('kill -9 with sync %s', (sync) => {
  test.each([1, 40, 250])('after %d acknowledged settles keeps each of them', async (count) => {
    const name = crypto.randomUUID();
    await fundedFile(name, 1_000_000n);
    const script = runScript(`
      ${opening(name, sync)}
      await start();
      const work = async (lane) => {
        for (let n = 0; ; n += 1) {
          const id = lane + '-' + n;
          await (await ledger.hold(holdOf(id, 'ada', 10n))).written.wait();
          say('held ' + id);
          await ledger.settle(settleOf(id, 3n));
          say('settled ' + id);
        }
      };
      await Promise.all(['a', 'b', 'c', 'd'].map(work));`);
    await startTogether([script]);
    const seen: string[] = [];
    const settles = () => seen.filter((line) => line.startsWith('settled')).length;
    while (settles() < count) {
      const line = await script.line();
      if (line === undefined) throw new Error(await script.errors());
      seen.push(line);
    }
    script.kill();
    // What was on its way to us when it died was acknowledged too.
    for (let line = await script.line(); line !== undefined; line = await script.line()) {
      seen.push(line);
    }

    const open = reopen(name);
    const lost: string[] = [];
    for (const line of seen) {
      const [kind, id = ''] = line.split(' ');
      const story = await open.books.explain(id);
      const isLost = kind === 'settled' ? story?.record?.debited !== 3n : story === undefined;
      if (isLost) lost.push(line);
    }
    expect(lost).toEqual([]);
    expect(await open.books.audit()).toEqual([]);
    await closeBooks(open);
  });
});

test('two processes that race never hold more than there is', async () => {
  const name = crypto.randomUUID();
  await fundedFile(name, 100n);
  const scripts = ['a', 'b'].map((mark) =>
    runScript(`
      ${opening(name, 'normal')}
      await start();
      const first = await ledger.hold(holdOf('${mark}', 'ada', 1n));
      await first.written.wait();
      let granted = first.ok ? 1 : 0;
      await start();
      for (let round = 0; round < 20; round += 1) {
        const holds = Array.from({ length: 7 }, (_, n) =>
          ledger.hold(holdOf('${mark}-' + round + '-' + n, 'ada', 1n)));
        for (const { ok, written } of await Promise.all(holds)) {
          granted += ok ? 1 : 0;
          await written.wait();
        }
        // Long enough for the other process to get the lock of the file.
        await new Promise((next) => setTimeout(next, 15));
      }
      say(String(granted));`),
  );
  // Each has one before they race, however late one of them gets its turn.
  await startTogether(scripts);
  await startTogether(scripts);
  const granted = await Promise.all(
    scripts.map(async (script) => (await script.line()) ?? (await script.errors())),
  );
  expect(granted.map(Number).reduce((sum, count) => sum + count, 0)).toBe(100);
  expect(Math.min(...granted.map(Number))).toBeGreaterThan(0);
  const open = reopen(name);
  expect(await open.books.balance('ada')).toEqual({
    posted: micro(100n),
    held: micro(100n),
    available: micro(0n),
  });
  expect(await open.books.audit()).toEqual([]);
  await closeBooks(open);
});
