// Fails when a request allocates 10 % more objects than recorded. Objects dominate the cost of a
// request and, unlike time, can be counted on a busy machine. To accept an intended change:
// UPDATE_RECORD=1 bun test test/benchmark/objects.test.ts

import { expect, test } from 'bun:test';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { catalogFor, LARGE_PLAN } from '../support/catalog.ts';
import { PATHS, post, requestBody } from '../support/client.ts';
import { startGateway } from '../support/gateway.ts';
import { startUpstream, waitUntil } from '../support/upstream.ts';

const RECORD = join(import.meta.dir, 'objects.json');

const MORE = 1.1;

const REQUESTS = 100;
const RUNS = 4;
const IDLE_MS = 1_000;

type Made = { readonly objects: number; readonly ms: number };

/** No optimizing compiler, which makes some objects vanish at a moment of its own choice. */
const EXACT = { BUN_JSC_useGC: '0', BUN_JSC_useDFGJIT: '0' };

test('a request makes no more than a tenth more objects than are recorded', async () => {
  await using upstream = await startUpstream();
  const file = join(process.env['TMPDIR'] ?? '/tmp', `heap-${process.pid}`);
  await using gateway = await startGateway({
    catalog: catalogFor(upstream, ['ok'], { plans: { large: LARGE_PLAN } }),
    preload: join(import.meta.dir, '../support/heap-probe.ts'),
    environment: { ...EXACT, HEAP_PROBE: file },
  });
  const account = await gateway.createAccount({ plan: 'large', credit: 1_000_000 });

  async function made(): Promise<number> {
    process.kill(gateway.pid, 'SIGUSR2');
    await waitUntil(() => existsSync(file));
    const count = Number(readFileSync(file, 'utf8'));
    rmSync(file);
    return count;
  }

  async function madeBy(work: () => Promise<void>): Promise<Made> {
    const before = await made();
    const startedAt = performance.now();
    await work();
    return { objects: (await made()) - before, ms: performance.now() - startedAt };
  }

  async function objects(stream: boolean): Promise<number> {
    const ask = async (): Promise<void> => {
      const body = { ...requestBody('chat', 'ok'), stream };
      const answer = await post(account, PATHS.chat, body);
      expect(answer.status).toBe(200);
      await answer.text();
    };
    await ask();
    // The least of some runs, without what timers make: on a busy machine a run takes longer.
    const idle = await madeBy(() => Bun.sleep(IDLE_MS));
    const idlePerMs = idle.objects / idle.ms;
    const runs: Made[] = [];
    for (let run = 0; run < RUNS; run += 1) {
      const asks = async (): Promise<void> => {
        for (let asked = 0; asked < REQUESTS; asked += 1) await ask();
      };
      runs.push(await madeBy(asks));
    }
    const own = runs.map(({ objects, ms }) => (objects - idlePerMs * ms) / REQUESTS);
    return Math.round(Math.min(...own));
  }

  const counted = { whole: await objects(false), streamed: await objects(true) };
  if (process.env['UPDATE_RECORD'] === '1') {
    await Bun.write(RECORD, `${JSON.stringify(counted, null, 2)}\n`);
  }
  const recorded: typeof counted = await Bun.file(RECORD).json();
  expect(counted.whole).toBeLessThan(recorded.whole * MORE);
  expect(counted.streamed).toBeLessThan(recorded.streamed * MORE);
}, 120_000);
