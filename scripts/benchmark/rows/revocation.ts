// The time until every node refuses a revoked key, from the start of the command's process. Three
// nodes share one PostgreSQL and one Redis.

import type { Gateway, TestAccount } from '../../../test/support/gateway.ts';
import { startPostgres, startRedis } from '../../../test/support/services.ts';
import type { BenchRow } from '../compare.ts';
import { printTable } from '../table.ts';

const NODES = 3;
const REVOCATIONS = 40;

/** An account may make 20 keys an hour. */
const REVOCATIONS_AN_ACCOUNT = 15;

export const revocationRow: BenchRow = {
  name: 'revocation',
  onDemand: true,
  run: async (rig) => {
    await using postgres = await startPostgres({ durable: true });
    await using redis = await startRedis();
    for (const build of rig.builds) {
      await using stack = new AsyncDisposableStack();
      const shared = { DATABASE_URL: await postgres.createDatabase(), REDIS_URL: redis.url };
      const start = async () =>
        stack.use((await rig.startBuild(build, { environment: shared, prefix: [] })).gateway);
      const first = await start();
      await measureRevocations([first, await start(), await start()], first);
    }
    return [];
  },
};

async function measureRevocations(nodes: readonly Gateway[], first: Gateway): Promise<void> {
  let account = await first.createAccount({ plan: 'bench' });
  const refusedMs: number[] = [];
  const commandMs: number[] = [];
  for (let revocation = 0; revocation < REVOCATIONS; revocation += 1) {
    if ((revocation + 1) % REVOCATIONS_AN_ACCOUNT === 0) {
      account = await first.createAccount({ plan: 'bench' });
    }
    const { key } = await first.run('key', 'create', account.id);
    const caller = { ...account, key: String(key) };
    for (const node of nodes) await expectStatus(node, caller, 200);
    const startedAt = performance.now();
    const revoking = first.run('key', 'revoke', caller.key).then(() => {
      commandMs.push(performance.now() - startedAt);
    });
    await Promise.all(nodes.map((node) => refusal(node, caller)));
    refusedMs.push(performance.now() - startedAt);
    await revoking;
  }
  printTable(
    [`a key is revoked, ${NODES} nodes`, 'p50 ms', 'p99 ms'],
    [
      ['until every node refuses it', ...percentiles(refusedMs)],
      ['until the command confirms it', ...percentiles(commandMs)],
    ],
  );
}

async function expectStatus(node: Gateway, { key }: TestAccount, status: number): Promise<void> {
  const answer = await fetch(`${node.url}/v1/account`, { headers: { 'x-api-key': key } });
  await answer.bytes();
  if (answer.status !== status) throw new Error(`expected ${status}, and got ${answer.status}`);
}

async function refusal(node: Gateway, caller: TestAccount): Promise<void> {
  for (;;) {
    const answer = await fetch(`${node.url}/v1/account`, { headers: { 'x-api-key': caller.key } });
    await answer.bytes();
    if (answer.status === 401) return;
    await Bun.sleep(2);
  }
}

function percentiles(values: readonly number[]): string[] {
  const sorted = [...values].sort((a, b) => a - b);
  return [0.5, 0.99].map((share) => (sorted[Math.floor(sorted.length * share)] ?? 0).toFixed(0));
}
