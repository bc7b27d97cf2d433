// Three nodes on one PostgreSQL and one Redis are replaced by those of the next version, one by one,
// under load. The first new node migrates the database while the others still serve it. No request is
// refused or cut, every answer is charged once, and the version before cannot start again afterwards.

import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { catalogFor, LARGE_PLAN } from '../support/catalog.ts';
import { type Format, generate, openStream } from '../support/client.ts';
import { temporaryDirectory } from '../support/database.ts';
import { type Gateway, startGateway, type TestAccount } from '../support/gateway.ts';
import {
  describeWithServices,
  type RedisServer,
  sharedPostgres,
  startRedis,
} from '../support/services.ts';
import { startUpstream, type Upstream, waitUntil } from '../support/upstream.ts';
import { refusalOf } from './expectations.ts';
import { postedOf } from './traffic.ts';
import { type Versions, versionsOfUpgrade } from './versions.ts';

setDefaultTimeout(300_000);

const folder = temporaryDirectory();
const NODES = 3;
const CLIENTS = 6;
/** Between looks of the load balancer; the delay of a node that drains is far longer. */
const LOOK_MS = 100;
const DRAIN_DELAY_SECONDS = '5';

describeWithServices('a rolling upgrade of three nodes', ['PostgreSQL', 'Redis'], () => {
  let upstream: Upstream;
  let redis: RedisServer;
  let versions: Versions;
  let environment: Record<string, string>;
  let account: TestAccount;
  const nodes: Gateway[] = [];
  const started: Gateway[] = [];

  async function start(binary: string): Promise<Gateway> {
    const catalog = catalogFor(upstream, ['ok'], { plans: { business: LARGE_PLAN } });
    const directory = mkdtempSync(join(folder, 'node-'));
    const node = await startGateway({ binary, catalog, environment, directory });
    started.push(node);
    return node;
  }

  beforeAll(async () => {
    versions = await versionsOfUpgrade(folder);
    upstream = await startUpstream();
    redis = await startRedis();
    const server = await sharedPostgres();
    environment = {
      ...{ DATABASE_URL: await server.createDatabase(), REDIS_URL: redis.url },
      ...{ SESSION_SECRET: 'one secret of all nodes of this test', OPERATOR_PORT: 'off' },
      DRAIN_DELAY_SECONDS,
    };
    for (let index = 0; index < NODES; index += 1) nodes.push(await start(versions.previous));
    account = await (nodes[0] as Gateway).createAccount({ plan: 'business' });
  });

  afterAll(async () => {
    await Promise.all(started.map((node) => node.kill()));
    await redis.stop();
    await upstream.close();
  });

  test('refuses no request, charges each answer once, and is refused its way back', async () => {
    const balancer = startBalancer();
    for (const node of nodes) balancer.add(node);
    await balancer.untilReady(NODES);
    const load = startLoad(balancer.next, account.key);
    await waitUntil(() => load.answers() > 20, 60_000);

    const old = [...nodes];
    for (const leaving of old) {
      const joining = await start(versions.next);
      nodes.push(joining);
      balancer.add(joining);
      await balancer.untilReady(NODES + 1);
      await served(load, joining.url);
      expect(await leaving.stop()).toBe(0);
      nodes.splice(nodes.indexOf(leaving), 1);
      await balancer.untilReady(NODES);
    }
    const { answers, charged } = await load.stop();
    balancer.stop();

    expect(load.failures).toEqual([]);
    expect(answers).toBeGreaterThan(60);
    const [survivor] = nodes as [Gateway, ...Gateway[]];
    const spent = 1_000_000 - Number(await postedOf(survivor, account.id));
    expect(spent).toBeCloseTo(charged, 6);
    expect(upstream.requests.length).toBe(answers);
    const listed = (await survivor.run('nodes'))['data'] as { state: string; version: string }[];
    const serving = listed.filter(({ state }) => state === 'serving');
    expect(serving).toHaveLength(NODES);
    await survivor.run('doctor');

    if (!versions.isRehearsal) return;
    const place = { directory: mkdtempSync(join(folder, 'back-')), environment };
    expect(await refusalOf(versions.previous, place)).toContain(
      'migrated by a newer version of Tollgate',
    );
    expect((await generate({ url: survivor.url, key: account.key }, 'chat', 'ok')).status).toBe(
      200,
    );
  });
});

/** Waits until the load has had answers of the node. */
async function served(load: Load, url: string): Promise<void> {
  await waitUntil(() => load.answersOf(url) >= 3 || load.failures.length > 0, 60_000);
  expect(load.failures).toEqual([]);
}

type Balancer = {
  readonly add: (node: Gateway) => void;
  readonly next: () => string;
  readonly untilReady: (count: number) => Promise<void>;
  readonly stop: () => void;
};

/** Sends requests to the nodes whose `/readyz` was 200 at their last look, in turn. */
function startBalancer(): Balancer {
  const ready = new Set<string>();
  let turn = 0;
  let stopped = false;
  /** Each by itself: a node that answers late must not hide that another one drains. */
  async function watch(url: string): Promise<void> {
    while (!stopped) {
      const answer = await fetch(`${url}/readyz`).catch(() => undefined);
      if (answer?.status === 200) ready.add(url);
      else ready.delete(url);
      await Bun.sleep(LOOK_MS);
    }
  }
  return {
    add: ({ url }) => void watch(url),
    next() {
      turn += 1;
      return [...ready][turn % ready.size] ?? '';
    },
    untilReady: (count) => waitUntil(() => ready.size === count, 60_000),
    stop() {
      stopped = true;
    },
  };
}

type Load = {
  readonly answers: () => number;
  readonly answersOf: (url: string) => number;
  /** The load ends with the first. */
  readonly failures: readonly string[];
  readonly stop: () => Promise<{
    readonly answers: number;
    /** What the answers said that they cost, in service tokens. */
    readonly charged: number;
  }>;
};

/** Clients that request one answer after the other, of either format, streamed or not. */
function startLoad(next: () => string, key: string): Load {
  let stopped = false;
  let answers = 0;
  let charged = 0;
  const byNode = new Map<string, number>();
  const failures: string[] = [];

  async function ask(index: number, format: Format): Promise<void> {
    const url = next();
    try {
      const debited =
        index % 2 === 0
          ? await chargeOfAnswer({ url, key }, format)
          : await chargeOfStream({ url, key }, format);
      answers += 1;
      charged += debited;
      byNode.set(url, (byNode.get(url) ?? 0) + 1);
    } catch (error) {
      failures.push(`${url} ${format}: ${error}`);
    }
  }

  const clients = Array.from({ length: CLIENTS }, async (_, index) => {
    while (!stopped && failures.length === 0)
      await ask(index, index % 3 === 0 ? 'messages' : 'chat');
  });
  return {
    answers: () => answers,
    answersOf: (url) => byNode.get(url) ?? 0,
    failures,
    async stop() {
      stopped = true;
      await Promise.all(clients);
      return { answers, charged };
    },
  };
}

async function chargeOfAnswer(
  caller: { url: string; key: string },
  format: Format,
): Promise<number> {
  const { status, headers, json } = await generate(caller, format, 'ok');
  if (status !== 200) throw new Error(`${status} ${JSON.stringify(json)}`);
  return Number(headers.get('x-svc-tokens-debited'));
}

/** The last charge that it says; without one, the stream was cut. */
async function chargeOfStream(
  caller: { url: string; key: string },
  format: Format,
): Promise<number> {
  const response = await openStream(caller, format, 'ok');
  const text = await response.text();
  if (response.status !== 200) throw new Error(`${response.status} ${text}`);
  const charge = [...text.matchAll(/"svc_tokens_debited":"([\d.]+)"/g)].at(-1)?.[1];
  if (charge === undefined) throw new Error('a stream ended without its charge');
  return Number(charge);
}
