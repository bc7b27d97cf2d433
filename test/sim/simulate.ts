// One simulation: customers, upstreams, an operator and a killer around the product's own pipeline,
// for some virtual minutes, drawn from one seed. Returns the counts of outcomes and faults, or
// throws the first violation of an invariant.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadCatalog } from '../../src/catalog/catalog.ts';
import type { IncidentLimits, Plan } from '../../src/core/plan.ts';
import { usageRecords } from '../../src/store/money-views.ts';
import { accounts } from '../../src/store/tables.ts';
import { checkEnd, checkInstant, Violation } from './checks.ts';
import { type CustomerAccount, createCustomers } from './customer.ts';
import { createFaultCounter, type FaultCounter, type FaultCounts } from './faults.ts';
import { type Gateway, startGateway } from './gateway.ts';
import { checkKeys, createKeyedCustomers } from './keyed.ts';
import { breakDisk, changeIncident, jumpClock, payIn, repeat, type Stage } from './operator.ts';
import { createUpstreams } from './upstream.ts';
import { inWorld, type World } from './world.ts';

export type Report = {
  readonly requests: number;
  readonly outcomes: Readonly<Record<string, number>>;
  readonly faults: FaultCounts;
};

const CATALOG = `
[service]
usd_per_million = "1.00"

[[upstream]]
id = "one"
dialect = "chat"
base_url = "http://127.0.0.1:1/v1"
api_key = "secret"
idle_seconds = 20

[[upstream]]
id = "two"
dialect = "chat"
base_url = "http://127.0.0.1:2/v1"
cancel_stops_billing = false
api_key = "secret"
idle_seconds = 20

[[model]]
slug = "first"
context_window = 64000
max_output = 16000
price = { input = "1", cached_input = "0.1", output = "2" }
served_by = [{ upstream = "one", model = "m", weight = 1 }]
fallbacks = ["second"]

[[model]]
slug = "second"
context_window = 64000
max_output = 16000
price = { input = "0.7", cached_input = "0.1", output = "2.5" }
served_by = [{ upstream = "two", model = "m", weight = 1 }]

[plan.small]
requests_per_minute = 30
tokens_per_minute = 90000
concurrent_requests = 3
max_context = 64000
max_api_keys = 5
daily_tokens = 2000000

[plan.large]
requests_per_minute = 400
tokens_per_minute = 5000000
concurrent_requests = 12
max_context = 64000
max_api_keys = 5
`;

const ACCOUNTS: readonly CustomerAccount[] = [
  { id: 'acct_poor', plan: 'large' },
  { id: 'acct_small', plan: 'small' },
  { id: 'acct_large', plan: 'large' },
  { id: 'acct_other', plan: 'large' },
];

/** Its requests come with keys, besides others. */
const KEYED: CustomerAccount = { id: 'acct_other', plan: 'large' };

/** Runs the world of `seed` for so many virtual minutes. */
export async function simulate(seed: number, minutes: number): Promise<Report> {
  const directory = mkdtempSync(join(tmpdir(), 'tollgate-sim-'));
  try {
    return await inWorld(seed, (world) => play(world, minutes, join(directory, 'tollgate.db')));
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

async function play(world: World, minutes: number, path: string): Promise<Report> {
  const faults = createFaultCounter();
  const upstreams = createUpstreams(world, faults);
  const catalog = loadCatalog({ text: CATALOG, environment: {}, nowMs: world.wall() });
  const incidents = new Map<string, IncidentLimits>();
  const paidIn = new Map<string, bigint>();
  let trouble: unknown;
  const onInternal = (requestId: string, error: unknown): void => {
    trouble ??= new Violation(`I-29 ${requestId} met an error of ours: ${String(error)}`);
  };
  const parts = { world, faults, upstreams, path, catalog, incidents, onInternal };
  let gateway: Gateway | undefined;
  /** Runs the world until a promise that needs virtual time has an answer. */
  const complete = async <T>(promise: Promise<T>): Promise<T> => {
    let done = false;
    const settled = promise.finally(() => {
      done = true;
    });
    settled.catch(() => {});
    for (let tries = 0; !done && tries < 10_000; tries += 1)
      await world.run(world.monotonic() + 5, () => {});
    return settled;
  };

  gateway = await complete(startGateway(parts));
  await openAccounts(gateway, paidIn);
  const customers = createCustomers(world, faults, () => gateway);
  const keyed = createKeyedCustomers(world, faults, () => gateway);

  const endsAt = world.monotonic() + minutes * 60_000;
  const isOver = (): boolean => world.monotonic() >= endsAt;
  for (const account of ACCOUNTS) {
    const askAgain = (): void => {
      if (isOver()) return;
      // Bursts, because only bursts reach limits and small balances.
      for (let more = world.between(1, 4); more > 0; more -= 1) customers.ask(account);
      world.after(world.between(50, 6_000), askAgain);
    };
    world.after(0, askAgain);
  }
  const askWithKey = (): void => {
    if (isOver()) return;
    keyed.ask(KEYED);
    world.after(world.between(500, 6_000), askWithKey);
  };
  world.after(0, askWithKey);
  const stage: Stage = { world, faults, gateway: () => gateway, isOver };
  for (const account of ACCOUNTS) payIn(stage, account, paidIn);
  repeat(stage, 7_000, () => jumpClock(stage));
  repeat(stage, 9_000, () => changeIncident(stage, incidents));
  repeat(stage, 15_000, () => breakDisk(stage));
  repeat(stage, 20_000, async () => {
    faults.count('kill');
    await gateway?.kill();
    gateway = undefined;
    world.after(world.between(0, 400), () => {
      startGateway(parts).then(
        (next) => {
          gateway = next;
        },
        (error: unknown) => {
          trouble ??= error;
        },
      );
    });
  });

  const look = async (): Promise<void> => {
    if (trouble !== undefined) throw trouble;
    if (gateway !== undefined) await checkInstant(gateway);
  };
  await world.run(endsAt, look);
  // Every customer finishes: the longest timeout is an upstream that stalls.
  await world.run(endsAt + 15 * 60_000, look);
  if (gateway === undefined) throw new Violation('the gateway did not come back');
  await checkEnd({ gateway, received: customers.received, book: upstreams.book, paidIn, planOf });
  await complete(checkKeys(gateway, keyed.stories));
  const report = await reportOf(gateway, customers.received, faults);
  await gateway.kill();
  return report;

  function planOf(accountId: string): Plan {
    const plan = catalog.plans.get(ACCOUNTS.find(({ id }) => id === accountId)?.plan ?? '');
    if (plan === undefined) throw new Violation(`no plan for ${accountId}`);
    return plan;
  }
}

async function openAccounts(
  { database, books }: Gateway,
  paidIn: Map<string, bigint>,
): Promise<void> {
  for (const { id, plan } of ACCOUNTS) {
    paidIn.set(id, 0n);
    await database.transaction(async (tx) => {
      const facts = {
        id,
        email: `${id}@example.org`,
        plan,
        planSince: 0,
        standing: 'active',
        emailVerified: true,
        createdAt: 0,
      } as const;
      await tx.insert(accounts).values(facts).run();
      await books.openBalance(tx, id);
    });
  }
}

async function reportOf(
  { database }: Gateway,
  received: readonly { readonly refused?: string }[],
  faults: FaultCounter,
): Promise<Report> {
  const records = await database.db.select().from(usageRecords).all();
  const outcomes: Record<string, number> = {};
  const add = (name: string): void => {
    outcomes[name] = (outcomes[name] ?? 0) + 1;
  };
  const refusals = {
    insufficient_balance: 'out of money',
    concurrency_limit_exceeded: 'out of slots',
    rate_limit_exceeded: 'out of requests',
    tokens_per_minute_exceeded: 'out of tokens',
  } as const;
  for (const { refused } of received) {
    if (refused === undefined) continue;
    add(`refused: ${refused}`);
    if (Object.hasOwn(refusals, refused)) faults.count(refusals[refused as keyof typeof refusals]);
  }
  for (const record of records) {
    add(record.usageBasis === 'recovered' ? 'recovered' : record.outcome);
    if (record.modelServed !== null && record.modelServed !== record.modelRequested)
      faults.count('fallback served');
    if (record.outcome === 'stopped_balance') faults.count('answer stopped for money');
    if (record.outputTokens > 4_096) faults.count('answer outgrew its hold');
  }
  return { requests: received.length, outcomes, faults: faults.counts() };
}
