// The cost of failures: the latency that a failover adds, and how soon an upstream sees that its
// client has left.

import { catalogOf, ROOMY_PLAN } from '../../../test/support/catalog.ts';
import { generate, openStream } from '../../../test/support/client.ts';
import { startGateway, type TestAccount } from '../../../test/support/gateway.ts';
import { startUpstream } from '../../../test/support/upstream.ts';
import type { BenchRow } from '../compare.ts';
import { pin } from '../machine.ts';
import { printTable } from '../table.ts';

/** The first requests of a process run slow code. */
const WARM_UPS = 200;
const TRIES = 60;

/** What the first upstream does. The second one answers. */
const FAULTS = ['refused', 'reset-before', 'status-500'] as const;

/** A port on which no server listens. */
const CLOSED = 'http://127.0.0.1:9/v1';

export const failingRow: BenchRow = {
  name: 'failing',
  run: async ({ builds }) => {
    for (const build of builds) await measureFailures(build.name, build.binary);
    return [];
  },
};

async function measureFailures(name: string, binary: string): Promise<void> {
  await using upstream = await startUpstream();
  await using gateway = await startGateway({
    ...{ binary, prefix: pin(0) },
    catalog: catalogOf({
      upstreams: [
        // Of its profile: a client that leaves stops it. Others would be read to their end.
        {
          ...{ id: 'good', dialect: 'chat', profile: 'deepseek' },
          base_url: upstream.site('good').baseUrl,
        },
        { id: 'bad', dialect: 'chat', base_url: upstream.site('bad').baseUrl },
        { id: 'closed', dialect: 'chat', base_url: CLOSED },
      ],
      models: [
        { slug: 'ok', served_by: [{ upstream: 'good', model: 'ok' }] },
        { slug: 'slow', served_by: [{ upstream: 'good', model: 'slow-tokens-300-1000' }] },
        // A model for each try: its breaker has not seen the fault yet.
        ...FAULTS.flatMap((fault) =>
          Array.from({ length: TRIES }, (_, index) => ({
            slug: `${fault}-${index}`,
            served_by: [
              fault === 'refused'
                ? { upstream: 'closed', model: 'ok', weight: 1_000_000 }
                : { upstream: 'bad', model: fault, weight: 1_000_000 },
              { upstream: 'good', model: 'ok', weight: 0.000_001 },
            ],
          })),
        ),
      ],
      plans: { roomy: ROOMY_PLAN },
    }),
  });
  const account = await gateway.createAccount({ plan: 'roomy', credit: 100_000_000 });
  for (let n = 0; n < WARM_UPS; n += 1) await answerMs(account, 'ok');

  const lines: string[][] = [];
  const times = async (line: string, wait: (index: number) => Promise<number>) => {
    const waits = [];
    for (let index = 0; index < TRIES; index += 1) waits.push(await wait(index));
    lines.push([line, ...shown(waits)]);
  };
  await times('an answer, nothing fails', () => answerMs(account, 'ok'));
  for (const fault of FAULTS) {
    await times(`an answer, ${fault}`, (index) => answerMs(account, `${fault}-${index}`));
  }
  await times('from a client that leaves to its upstream', hearingMs);
  printTable([`failures, ${name}`, 'p50 ms', 'p99 ms'], lines);

  async function hearingMs(): Promise<number> {
    const controller = new AbortController();
    const body = { max_tokens: 100 };
    const response = await openStream(account, 'chat', 'slow', body, controller.signal);
    await upstream.waitFor(({ active }) => active() === 1);
    const leftAt = performance.now();
    controller.abort();
    await response.text().catch(() => '');
    while (upstream.active() > 0) await Bun.sleep(0);
    return performance.now() - leftAt;
  }
}

async function answerMs(account: TestAccount, model: string): Promise<number> {
  const startedAt = performance.now();
  const { status } = await generate(account, 'chat', model, { max_tokens: 100 });
  if (status !== 200) throw new Error(`${model} was answered with ${status}`);
  return performance.now() - startedAt;
}

function shown(values: readonly number[]): string[] {
  const sorted = [...values].sort((a, b) => a - b);
  return [0.5, 0.99].map((share) => (sorted[Math.floor(sorted.length * share)] ?? 0).toFixed(1));
}
