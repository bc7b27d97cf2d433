// A disk whose syncs take 300 ms, and another process that holds SQLite's lock for as long as a call
// waits for it: the event loop is blocked by neither. Streams continue, calls that need the ledger
// are refused in time, and nothing is lost. Asserts on what threads wait for; on times only where a
// blocked thread would be late by seconds.

import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { play } from '../support/behaviours.ts';
import { catalogFor } from '../support/catalog.ts';
import { get, openStream, PATHS, post, requestBody } from '../support/client.ts';
import { type Gateway, startGateway, type TestAccount } from '../support/gateway.ts';
import { USAGE } from '../support/render.ts';
import { openApi } from '../support/session.ts';
import { describeWithSlowDisk, openSlowDisk, type SlowDisk } from '../support/slow-disk.ts';
import { startUpstream, type Upstream, waitUntil } from '../support/upstream.ts';

setDefaultTimeout(90_000);

const SYNC_MS = 300;
/** How long the load of the first test lasts. */
const LOAD_MS = 4_000;
const CREDIT = 1_000_000;
const MODELS = ['ok', 'reasoning-and-tool', 'trickle'];
/** At one every 50 ms a stream lasts longer than the load, and than a call waits for the lock. */
const PIECES = 120;

let upstream: Upstream;
beforeAll(async () => {
  const pieces = Array.from({ length: PIECES }, () => ({ text: ' a' }));
  upstream = await startUpstream({ trickle: play({ pieces, finish: 'stop', usage: USAGE }, 50) });
});
afterAll(() => upstream.close());

type Rig = AsyncDisposable & {
  readonly gateway: Gateway;
  readonly account: TestAccount;
  readonly disk: SlowDisk;
  /** What the answers so far have said that they cost, in service tokens. */
  readonly told: number[];
  /** Asks once and answers the status. */
  readonly ask: (model: string) => Promise<number>;
  /** Reads a stream to its end: the longest time between two reads, and its text. */
  readonly stream: () => Promise<{ readonly worstMs: number; readonly text: string }>;
};

async function openRig(): Promise<Rig> {
  const disk = await openSlowDisk();
  const gateway = await startGateway({
    catalog: catalogFor(upstream, MODELS),
    environment: { ...disk.environment, SESSION_SECRET: 'x'.repeat(32) },
  });
  const account = await gateway.createAccount({ plan: 'business', credit: CREDIT });
  const told: number[] = [];
  const learn = (text: string): void => {
    const last = [...text.matchAll(/"svc_tokens_debited":"([\d.]+)"/g)].at(-1);
    if (last !== undefined) told.push(Number(last[1]));
  };
  return {
    ...{ gateway, account, disk, told },
    async ask(model) {
      const response = await post(account, PATHS.chat, requestBody('chat', model));
      learn(await response.text());
      return response.status;
    },
    async stream() {
      const response = await openStream(account, 'chat', 'trickle');
      let [text, last, worstMs] = ['', performance.now(), 0];
      for await (const chunk of response.body ?? []) {
        worstMs = Math.max(worstMs, performance.now() - last);
        last = performance.now();
        text += new TextDecoder().decode(chunk);
      }
      learn(text);
      return { worstMs, text };
    },
    async [Symbol.asyncDispose]() {
      await gateway[Symbol.asyncDispose]();
      await disk[Symbol.asyncDispose]();
    },
  };
}

/** Looks at the server every 20 ms while `work` lasts; answers how long each look took. */
async function probing({ gateway }: Rig, work: () => Promise<unknown>): Promise<number[]> {
  const took: number[] = [];
  let isOver = false;
  const done = work().finally(() => {
    isOver = true;
  });
  while (!isOver) {
    const startedAt = performance.now();
    await (await fetch(`${gateway.url}/healthz`)).text();
    took.push(performance.now() - startedAt);
    await Bun.sleep(20);
  }
  await done;
  return took.sort((a, b) => a - b);
}

/** Does `work` again and again for so long, some at once. */
async function repeat(ms: number, atOnce: number, work: () => Promise<unknown>): Promise<void> {
  const until = performance.now() + ms;
  const loop = async (): Promise<void> => {
    while (performance.now() < until) await work();
  };
  await Promise.all(Array.from({ length: atOnce }, loop));
}

/** A caller without an account. */
async function strangerSignsIn({ gateway }: Rig): Promise<number> {
  const email = `${crypto.randomUUID()}@example.com`;
  const session = openApi(gateway.url, 'customer');
  return (await session.send('POST', '/auth/login', { email, password: 'wrong guess 12' })).status;
}

/** Another process that holds the write lock until `unlock`; resolves once it has it. */
async function lockElsewhere({ databasePath, directory }: Gateway): Promise<{
  readonly unlock: () => Promise<unknown>;
}> {
  const sign = join(directory, 'locked');
  const program = `
    import { Database } from 'bun:sqlite';
    import { writeFileSync } from 'node:fs';
    const database = new Database(${JSON.stringify(databasePath)});
    database.run('PRAGMA busy_timeout = 5000');
    database.run('BEGIN IMMEDIATE');
    writeFileSync(${JSON.stringify(sign)}, '');
    await Bun.stdin.text();
    database.run('COMMIT');
    database.close();
  `;
  const child = Bun.spawn([process.execPath, '-e', program], { stdin: 'pipe' });
  await waitUntil(() => existsSync(sign));
  return {
    async unlock() {
      child.stdin.end();
      await child.exited;
    },
  };
}

/** The balance is what the answers have said, and nothing is held. */
async function expectExactBooks({ account, told, gateway }: Rig): Promise<void> {
  const paid = told.reduce((sum, each) => sum + each, 0);
  await waitUntil(async () => {
    const { balance } = (await get(account, '/v1/account')).json as {
      balance?: { available?: string };
    };
    return Math.abs(Number(balance?.available) - (CREDIT - paid)) < 1e-3;
  });
  expect(await gateway.run('audit')).toMatchObject({});
}

describeWithSlowDisk('the event loop of a server', () => {
  test('never waits for syncs of 300 ms, and every answer is booked', async () => {
    await using rig = await openRig();
    await rig.disk.delay(SYNC_MS);
    const statuses = new Set<number>();
    const guesses = new Set<number>();
    const took = await probing(rig, () =>
      Promise.all([
        repeat(LOAD_MS, 3, async () => statuses.add(await rig.ask('reasoning-and-tool'))),
        repeat(LOAD_MS, 3, async () => statuses.add(await rig.ask('ok'))),
        repeat(LOAD_MS, 8, async () => guesses.add(await strangerSignsIn(rig))),
        rig.stream(),
      ]),
    );
    expect(rig.disk.mainThread()).toEqual({ syncs: 0, sleeps: 0 });
    await rig.disk.delay(0);
    expect(took[took.length >> 1]).toBeLessThan(SYNC_MS / 3);
    expect([...statuses]).toEqual([200]);
    expect([...guesses].filter((status) => status !== 401 && status !== 429)).toEqual([]);
    await expectExactBooks(rig);
  });

  test('never waits for a lock that another process holds', async () => {
    await using rig = await openRig();
    const streams = [rig.stream(), rig.stream()];
    // Where the test fails before it waits for them, they end with the server.
    for (const each of streams) each.catch(() => undefined);
    await upstream.waitFor(({ active }) => active() === 2);
    const locker = await lockElsewhere(rig.gateway);
    await rig.disk.delay(1);
    let refusals: number[] = [];
    const took = await probing(rig, async () => {
      const calls = [rig.ask('ok'), rig.ask('reasoning-and-tool'), strangerSignsIn(rig)];
      refusals = await Promise.all(calls);
    });
    expect(rig.disk.mainThread()).toEqual({ syncs: 0, sleeps: 0 });
    // A thread that waited for the lock would do so for five seconds.
    expect(took.at(-1)).toBeLessThan(3_000);
    expect(refusals).toEqual([503, 503, 503]);
    await locker.unlock();
    for (const { text, worstMs } of await Promise.all(streams)) {
      expect(text).toEndWith('data: [DONE]\n\n');
      expect(worstMs).toBeLessThan(3_000);
    }
    await waitUntil(async () => (await rig.ask('ok')) === 200);
    await expectExactBooks(rig);
  });
});
