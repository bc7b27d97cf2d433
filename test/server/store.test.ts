// The sweep of a running server for lost holds: it ends those, and nothing else.

import { expect, spyOn, test } from 'bun:test';
import { join } from 'node:path';
import { readConfig } from '../../src/config/read.ts';
import { micro, usdRate } from '../../src/core/money.ts';
import { createBooks } from '../../src/ledger/books.ts';
import { deploymentOf } from '../../src/server/deployment.ts';
import { createObservation } from '../../src/server/observation.ts';
import { openServingStore } from '../../src/server/store.ts';
import { temporaryDirectory } from '../support/database.ts';
import { addAccount, creditOf, holdOf, NOW } from '../support/ledger.ts';
import { nodeClocks } from '../support/node.ts';
import { waitUntil } from '../support/upstream.ts';

const directory = temporaryDirectory();

const MINUTE = 60_000;

test('a hold whose request is gone is ended after a minute, one in progress and a young one are not', async () => {
  let nowMs = NOW;
  const databaseUrl = `sqlite:${join(directory, 'tollgate.db')}`;
  const settings = readConfig({ DATABASE_URL: databaseUrl, LEDGER_SYNC: 'normal' });
  const config = { ...settings, logLevel: 'silent' } as const;
  const clock = () => nowMs;
  const clocks = nodeClocks();
  const observation = createObservation({ config, clock, monotonic: clocks.monotonic });
  const store = await openServingStore({
    base: { config, clock, observation, deployment: deploymentOf(databaseUrl), ...clocks },
    usdPerMillion: () => usdRate(1_000_000n),
  });
  const { database, ledger } = store;
  const books = createBooks(database);
  await addAccount({ database, ledger, books }, 'ada');
  await ledger.credit(creditOf('c1', 'ada', 1_000n));
  await ledger.hold(holdOf('lost', 'ada', 100n));
  await ledger.hold(holdOf('under-way', 'ada', 100n));
  await ledger.hold({ ...holdOf('young', 'ada', 100n), nowMs: NOW + MINUTE });

  const ticks: (() => void)[] = [];
  const timers = spyOn(globalThis, 'setInterval').mockImplementation(((tick: () => void) => {
    ticks.push(tick);
    return { unref: () => undefined };
  }) as unknown as typeof setInterval);
  store.endLostHolds(async () => ['under-way']);
  timers.mockRestore();
  nowMs = NOW + MINUTE + 1;
  for (const tick of ticks) tick();

  const phase = async (requestId: string) => (await books.explain(requestId))?.hold.phase;
  await waitUntil(async () => (await phase('lost')) === 'expired');
  expect({ underWay: await phase('under-way'), young: await phase('young') }).toEqual({
    underWay: 'held',
    young: 'held',
  });
  expect(await books.balance('ada')).toMatchObject({ held: micro(200n) });
  expect(await store.close()).toBe(0);
  await observation.close();
});
