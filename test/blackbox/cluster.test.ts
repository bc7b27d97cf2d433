// Two servers over one PostgreSQL: each sees the other and the operators' changes, one is the
// leader, one can be replaced without a refused request, and a killed one leaves nothing behind.

import { beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { join } from 'node:path';
import { catalogFor, LARGE_PLAN, UPSTREAM_KEY } from '../support/catalog.ts';
import { type Caller, generate, openStream } from '../support/client.ts';
import { closeAtEnd, type Gateway, startGateway, type TestAccount } from '../support/gateway.ts';
import { newPostgresUrl } from '../support/postgres-database.ts';
import { describeWithServices } from '../support/services.ts';
import { startUpstream, type Upstream, waitUntil } from '../support/upstream.ts';

setDefaultTimeout(90_000);

type Node = {
  readonly id: string;
  readonly state: string;
  readonly leader: boolean;
  readonly catalog_digest: string;
};

type Confirmation = { readonly node: string; readonly confirmed_after_ms: number | null };

describeWithServices('two servers over one database', ['PostgreSQL'], () => {
  let upstream: Upstream;
  let environment: Record<string, string>;
  let catalog: string;
  let one: Gateway;
  let two: Gateway;
  let account: TestAccount;

  const start = (): Promise<Gateway> => startGateway({ catalog, environment });
  const at = (gateway: Gateway, key = account.key): Caller => ({ url: gateway.url, key });
  const status = async (gateway: Gateway, key = account.key): Promise<number> =>
    (await generate(at(gateway, key), 'chat', 'ok')).status;

  async function nodesOf(gateway: Gateway): Promise<readonly Node[]> {
    return (await gateway.run('nodes'))['data'] as readonly Node[];
  }

  beforeAll(async () => {
    upstream = await startUpstream();
    catalog = catalogFor(upstream, ['ok', 'stall'], { plans: { business: LARGE_PLAN } });
    environment = {
      DATABASE_URL: await newPostgresUrl(),
      OPERATOR_PORT: 'off',
      // Between the first 503 and its end a node is asked once more.
      DRAIN_DELAY_SECONDS: '5',
    };
    [one, two] = await Promise.all([start(), start()]);
    account = await one.createAccount({ plan: 'business' });
  });

  closeAtEnd(() => [upstream, two, one]);

  test('both are listed, one leads, and a key works at both', async () => {
    await waitUntil(async () => (await nodesOf(one)).some(({ leader }) => leader));
    const nodes = await nodesOf(two);
    expect(nodes.map(({ state }) => state)).toEqual(['serving', 'serving']);
    expect(nodes.filter(({ leader }) => leader)).toHaveLength(1);
    expect([await status(one), await status(two)]).toEqual([200, 200]);
  });

  test('the end of a key is confirmed by both, and refused by both from then on', async () => {
    const { key, api_key } = (await one.run('key', 'create', account.id)) as {
      key: string;
      api_key: { id: string };
    };
    expect([await status(one, key), await status(two, key)]).toEqual([200, 200]);
    const { nodes } = (await two.run('key', 'revoke', api_key.id)) as {
      nodes: readonly Confirmation[];
    };
    expect([await status(one, key), await status(two, key)]).toEqual([401, 401]);
    const ids = (await nodesOf(one)).map(({ id }) => id);
    expect(nodes.map(({ node }) => node).sort()).toEqual(ids.sort());
    for (const { confirmed_after_ms } of nodes) expect(confirmed_after_ms).toBeLessThan(5_000);
  });

  test('what operators set takes effect at both', async () => {
    await one.run('maintenance', 'on');
    await waitUntil(async () => (await status(one)) === 503 && (await status(two)) === 503);
    await two.run('maintenance', 'off');
    await waitUntil(async () => (await status(one)) === 200 && (await status(two)) === 200);
  });

  test('the catalog that one of them reads is sold by both', async () => {
    const digests = async () => (await nodesOf(one)).map(({ catalog_digest }) => catalog_digest);
    const [before] = await digests();
    await one.writeCatalog(`${catalog}\n# another\n`);
    await waitUntil(async () => {
      const [first, second] = await digests();
      return first === second && first !== before;
    });
    // The file of the other one is still what it was, and becomes the catalog of both.
    expect(await two.run('catalog', 'reload')).toMatchObject({ accepted: true });
    await waitUntil(async () => (await digests()).every((digest) => digest === before));
  });

  test('a catalog that only one of them can use is warned about', async () => {
    const readiness = async (gateway: Gateway): Promise<unknown> => {
      const answer = await fetch(`${gateway.url}/readyz`);
      return ((await answer.json()) as { warnings: unknown }).warnings;
    };
    await Bun.write(join(one.directory, '.env'), 'ONLY_HERE=key\n');
    await one.writeCatalog(catalog.replace(UPSTREAM_KEY, `\${ONLY_HERE}`));
    const expected = [
      'the last catalog was refused; the previous one is active',
      'nodes serve 2 different catalogs',
    ];
    await waitUntil(async () => Bun.deepEquals(await readiness(two), expected));
    expect([await status(one), await status(two)]).toEqual([200, 200]);
    await one.writeCatalog(catalog);
    await waitUntil(async () => Bun.deepEquals(await readiness(two), []));
  });

  test('one that is replaced is not ready first, and refuses no request until then', async () => {
    const leader = (await nodesOf(one)).find((node) => node.leader)?.id;
    const leads = async (gateway: Gateway): Promise<boolean> =>
      gateway.output().includes('this node is the leader');
    const [leaving, staying] = (await leads(one)) ? [one, two] : [two, one];
    const ready = async (): Promise<number> => (await fetch(`${leaving.url}/readyz`)).status;
    const stopped = leaving.stop();
    await waitUntil(async () => (await ready()) === 503);
    expect(await status(leaving)).toBe(200);
    expect(await stopped).toBe(0);
    // The other one takes the lead with its next heartbeat.
    await waitUntil(async () => (await nodesOf(staying)).some((node) => node.leader));
    expect((await nodesOf(staying)).map(({ id }) => id === leader)).toEqual([false]);
    const replaced = await start();
    if (leaving === one) one = replaced;
    else two = replaced;
    expect(await nodesOf(staying)).toHaveLength(2);
  });

  test('one that dies leaves holds that the other one ends, and the lead', async () => {
    const stream = await openStream(at(one), 'chat', 'stall');
    expect(stream.status).toBe(200);
    await one.kill();
    await waitUntil(async () => two.output().includes('recovered 1 open holds'), 30_000);
    await waitUntil(async () => {
      const nodes = await nodesOf(two);
      const [live] = nodes.filter(({ state }) => state === 'serving');
      return live?.leader === true && nodes.some(({ state }) => state === 'dead');
    }, 30_000);
    expect(await status(two)).toBe(200);
  });
});
