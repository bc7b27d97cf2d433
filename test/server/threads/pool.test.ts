// The server threads of a process that hang, die again and again, or never come to listen, with real
// threads that serve nobody (`stub-thread.ts`).

import { afterEach, expect, test } from 'bun:test';
import { readConfig } from '../../../src/config/read.ts';
import { tokenCount } from '../../../src/core/money.ts';
import { BUILT_IN_PLANS } from '../../../src/core/plan.ts';
import { createLimits } from '../../../src/limits/limits.ts';
import { createLimitMemory } from '../../../src/limits/threads.ts';
import {
  createServerThreads,
  type ServerThreadsOptions,
} from '../../../src/server/threads/pool.ts';
import { waitUntil } from '../../support/upstream.ts';

const ends: (() => void)[] = [];
afterEach(() => {
  for (const end of ends.splice(0)) end();
});

/** `directory` is what the threads do wrong. */
function create(directory: string, more: Partial<ServerThreadsOptions> = {}) {
  const memory = createLimitMemory(3, 16);
  const deaths: { readonly requestIds: readonly string[]; readonly cause: unknown }[] = [];
  const restarts: { readonly message: string; readonly at: number }[] = [];
  let started = 0;
  const threads = createServerThreads({
    count: 1,
    port: 0,
    start: {
      config: { ...readConfig({}, []), workers: 2 },
      environment: { variables: {}, namesInFile: [] },
      ...{ directory, memory, reasoningSecret: '', proxyPath: '' },
    },
    catalog: () => ({ origin: 'built-in', text: '', environment: {} }),
    state: () => ({ incarnation: '', fencedFrom: 0, clockBaseMs: 0, liveNodes: 1, stopped: [] }),
    monotonic: () => performance.now(),
    connectLedger: () => async () => ['req_1'],
    onEvents: () => undefined,
    onSeen: () => undefined,
    async onDeath(requestIds, cause) {
      deaths.push({ requestIds, cause });
    },
    log: { info: (message) => restarts.push({ message, at: performance.now() }) },
    startWorker() {
      started += 1;
      return new Worker(new URL('./stub-thread.ts', import.meta.url).href);
    },
    ...more,
  });
  ends.push(threads.close);
  return { ...threads, memory, deaths, restarts, started: () => started };
}

const messageOf = (cause: unknown) => (cause instanceof Error ? cause.message : cause);

test('one that hangs is ended and replaced, and what it held is given back', async () => {
  const { open, look, ask, memory, deaths, restarts } = create('', { hangingMs: 400 });
  expect(await open()).toBe(1_001);
  const limitsOf = (thread: number) =>
    createLimits({
      shared: { memory, thread },
      clock: () => 0,
      monotonic: () => 0,
      isLive: () => true,
      history: { admittedSince: () => [], mark: () => 0, usedBefore: () => 0 },
    });
  const [plan] = BUILT_IN_PLANS;
  if (plan === undefined) throw new Error('There is no plan.');
  const request = { requestId: 'req_1', startedAt: 0, accountId: 'acct_1', model: 'swift', plan };
  await limitsOf(1).claim({
    ...request,
    incident: undefined,
    promptTokens: tokenCount(1),
    outputBound: tokenCount(1),
  });
  const inFlight = async () => (await limitsOf(0).usage('acct_1', plan)).inFlight;
  expect(await inFlight()).toBe(1);
  await Bun.sleep(600);
  expect(deaths).toEqual([]);

  look();
  await waitUntil(() => restarts.length === 1);
  expect(deaths.map(({ requestIds, cause }) => [requestIds, messageOf(cause)])).toEqual([
    [['req_1'], 'It has said nothing for 0.4 s.'],
  ]);
  expect(await inFlight()).toBe(0);
  await waitUntil(async () => (await ask()) !== undefined);
});

test('those that die soon after they listen are started again, later and later', async () => {
  const { open, restarts, deaths } = create('dies', { count: 2 });
  await open();
  const of = (number: number) =>
    restarts.filter(({ message }) => message === `server thread ${number} is started again`);
  await waitUntil(() => of(1).length >= 3 && of(2).length >= 3);
  for (const number of [1, 2]) {
    const [first, second, third] = of(number).map(({ at }) => at);
    expect((second ?? 0) - (first ?? 0)).toBeGreaterThan(195);
    expect((third ?? 0) - (second ?? 0)).toBeGreaterThan(395);
  }
  expect(messageOf(deaths[0]?.cause)).toContain('It has died of something.');
});

test('where one dies before it listens, none is left', async () => {
  const { open, started, deaths } = create('never listens', { count: 2 });
  await expect(open()).rejects.toThrow('Server thread 1 has ended before it listened.');
  await Bun.sleep(300);
  expect(started()).toBe(1);
  expect(deaths.map(({ cause }) => messageOf(cause))).toEqual([
    expect.stringContaining('There is no such address.'),
  ]);
});
