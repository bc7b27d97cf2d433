// What it costs when an upstream fails or a client leaves: the time that a failover adds to an answer,
// what a thousand open streams hold in memory, and how soon an upstream hears that nobody reads any
// more. Called by scripts/benchmark/run.ts. Nothing here is compared with B, which has none of it.

import { catalogOf, ROOMY_PLAN } from '../../test/support/catalog.ts';
import { generate, openStream } from '../../test/support/client.ts';
import { startGateway, type TestAccount } from '../../test/support/gateway.ts';
import { startUpstream } from '../../test/support/upstream.ts';

/** The first requests of a process run slow code. */
const WARM_UPS = 200;
const TRIES = 60;
const STREAMS = 1_000;

/** What the first upstream does. The second one answers. */
const FAULTS = ['refused', 'reset-before', 'status-500'] as const;

/** A port where nobody listens. */
const NOBODY = 'http://127.0.0.1:9/v1';

export async function benchFailing(prefix: readonly string[]): Promise<void> {
  await using upstream = await startUpstream();
  await using gateway = await startGateway({
    prefix,
    catalog: catalogOf({
      upstreams: [
        { id: 'good', dialect: 'chat', base_url: upstream.site('good').baseUrl },
        { id: 'bad', dialect: 'chat', base_url: upstream.site('bad').baseUrl },
        { id: 'nobody', dialect: 'chat', base_url: NOBODY },
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
                ? { upstream: 'nobody', model: 'ok', weight: 1_000_000 }
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

  row('one upstream fails, the next answers', ['p50 ms', 'p99 ms']);
  const healthy = [];
  for (let n = 0; n < TRIES; n += 1) healthy.push(await answerMs(account, 'ok'));
  row('nothing fails', shown(healthy));
  for (const fault of FAULTS) {
    const waits = [];
    for (let n = 0; n < TRIES; n += 1) waits.push(await answerMs(account, `${fault}-${n}`));
    row(fault, shown(waits));
  }
  process.stdout.write('\n');

  row('a client leaves its stream', ['p50 ms', 'p99 ms']);
  const heard = [];
  for (let n = 0; n < TRIES; n += 1) heard.push(await hearingMs());
  row('until the upstream hears of it', shown(heard));
  process.stdout.write('\n');

  const idle = megabytes(gateway.pid);
  const leave = new AbortController();
  const streams = Array.from({ length: STREAMS }, () =>
    openStream(account, 'chat', 'slow', { max_tokens: 4_096 }, leave.signal),
  );
  const opened = await Promise.all(streams);
  await upstream.waitFor(({ active }) => active() === STREAMS, 30_000);
  await Bun.sleep(2_000);
  row(`${STREAMS} open streams`, ['MB']);
  row('before', [idle.toFixed(0)]);
  row('with all of them open', [megabytes(gateway.pid).toFixed(0)]);
  process.stdout.write('\n');
  leave.abort();
  await Promise.all(opened.map((each) => each.text().catch(() => '')));
  await upstream.waitFor(({ active }) => active() === 0, 30_000);

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

/** What a process holds in memory now. */
function megabytes(pid: number): number {
  const { stdout } = Bun.spawnSync(['ps', '-o', 'rss=', '-p', String(pid)]);
  return Number(stdout.toString()) / 1_024;
}

function row(name: string, cells: readonly string[]): void {
  process.stdout.write(`${name.padEnd(38)}${cells.map((cell) => cell.padStart(18)).join('')}\n`);
}
