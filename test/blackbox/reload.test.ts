// The catalog of a running server changes: by every kind of file change, by a signal, by the
// command line. An invalid catalog is rejected as a whole, and requests in progress end by the
// catalog that they started with. How soon a changed file is taken up is in changes.quiet.test.ts.

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { appendFileSync, mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { play, SAYS_HELLO } from '../support/behaviours.ts';
import { catalogFor, LARGE_PLAN } from '../support/catalog.ts';
import { FORMATS, generate, generateStream, get } from '../support/client.ts';
import { type Gateway, runCommand, startGateway } from '../support/gateway.ts';
import { startUpstream, type Upstream, waitUntil } from '../support/upstream.ts';

setDefaultTimeout(60_000);

/** Answers, or goes on with a stream that has begun, when the test says so. */
const SLOW = 'goes-on-later';
let later: PromiseWithResolvers<void>;

let upstream: Upstream;
beforeAll(async () => {
  upstream = await startUpstream({
    [SLOW]: (exchange) => play(SAYS_HELLO, later.promise)(exchange),
  });
});
afterAll(() => upstream.close());

/** A catalog with `ok` at this price for each token of output. */
const priced = (output: string, more: Readonly<Record<string, unknown>> = {}): string =>
  catalogFor(upstream, ['ok', SLOW], {
    model: { price: { input: '1', cached_input: '0.1', output } },
    plans: { large: LARGE_PLAN, doomed: LARGE_PLAN },
    ...more,
  });

type Status = {
  readonly serving: boolean;
  readonly on_disk: string | null;
  readonly catalog: {
    readonly version: number;
    readonly digest: string;
    readonly warnings: readonly string[];
    readonly refused: { readonly problems: readonly string[] } | null;
  };
};

/** As the server has written it down: a moment after it serves a new catalog. */
async function statusOf(gateway: Gateway): Promise<Status> {
  return (await gateway.run('catalog', 'status')) as Status;
}

/** The price that is effective, as `/v1/models` lists it. */
async function waitForPrice(gateway: Gateway, key: string, output: string): Promise<void> {
  await waitUntil(async () => {
    const { json } = await get({ url: gateway.url, key }, '/v1/models/ok');
    const pricing = json['pricing'] as { readonly svc_tokens: { readonly output: string } };
    return pricing.svc_tokens.output === `${output}000000`;
  });
}

const warningsOf = async ({ url }: Gateway): Promise<readonly string[]> =>
  ((await (await fetch(`${url}/readyz`)).json()) as { readonly warnings: string[] }).warnings;

const REFUSED = ['the last catalog was refused; the previous one is active'];

async function start() {
  const gateway = await startGateway({ catalog: priced('2') });
  const { key } = await gateway.createAccount({ plan: 'large' });
  const path = join(gateway.directory, 'catalog.toml');
  return { gateway, key, path, caller: { url: gateway.url, key } };
}

describe('a changed file', () => {
  test('is taken up however it changes', async () => {
    const { gateway, key, path } = await start();
    await using _ = gateway;
    await waitForPrice(gateway, key, '2');
    writeFileSync(path, priced('3'));
    await waitForPrice(gateway, key, '3');
    // As editors do.
    writeFileSync(`${path}.new`, priced('4'));
    renameSync(`${path}.new`, path);
    await waitForPrice(gateway, key, '4');
    // As mounted configurations do: a link to a directory that is swapped.
    for (const [name, price] of [
      ['v1', '5'],
      ['v2', '6'],
    ] as const) {
      mkdirSync(join(gateway.directory, name));
      writeFileSync(join(gateway.directory, name, 'catalog.toml'), priced(price));
      symlinkSync(name, join(gateway.directory, 'data_next'));
      renameSync(join(gateway.directory, 'data_next'), join(gateway.directory, 'data_now'));
      if (name === 'v1') {
        symlinkSync('data_now/catalog.toml', `${path}.new`);
        renameSync(`${path}.new`, path);
      }
      await waitForPrice(gateway, key, price);
    }
    await waitUntil(async () => (await statusOf(gateway)).catalog.version === 5);
    expect(await warningsOf(gateway)).toEqual([]);
  });

  test('is refused whole where it is invalid, gone or no file, and the old one serves on', async () => {
    const { gateway, key, path, caller } = await start();
    await using _ = gateway;
    const { digest } = (await statusOf(gateway)).catalog;
    const refusal = async (problem: string): Promise<void> => {
      await waitUntil(async () => {
        const { catalog } = await statusOf(gateway);
        return catalog.refused?.problems.join().includes(problem) === true;
      });
      expect(await statusOf(gateway)).toMatchObject({ catalog: { version: 1, digest } });
      expect(await warningsOf(gateway)).toEqual(REFUSED);
      expect((await generate(caller, 'chat', 'ok')).headers.get('x-svc-tokens-debited')).toBe(
        '16.4',
      );
    };
    const text = priced('3');
    writeFileSync(path, text.slice(0, text.indexOf('price =') + 9));
    await refusal('catalog.toml: line');
    // The rest of it: what was half written is whole now.
    appendFileSync(path, text.slice(text.indexOf('price =') + 9));
    await waitForPrice(gateway, key, '3');
    writeFileSync(path, priced('2'));
    await waitForPrice(gateway, key, '2');
    rmSync(path);
    await waitUntil(async () => (await statusOf(gateway)).catalog.refused !== null);
    const gone = await statusOf(gateway);
    expect(gone.catalog.refused?.problems).toEqual([
      `${path} no longer exists. Put it back, or restart the server.`,
    ]);
    expect([gone.catalog.version, gone.on_disk === gone.catalog.digest]).toEqual([3, false]);
    mkdirSync(path);
    await waitUntil(
      async () =>
        (await statusOf(gateway)).catalog.refused?.problems.join().includes('is not a file') ===
        true,
    );
    expect((await generate(caller, 'chat', 'ok')).status).toBe(200);
    rmSync(path, { recursive: true });
    writeFileSync(path, priced('7'));
    await waitForPrice(gateway, key, '7');
    expect(await warningsOf(gateway)).toEqual([]);
  });
});

test('the secrets of the .env file are read again, and one that is gone refuses the catalog', async () => {
  const catalog = priced('2', {
    // biome-ignore lint/suspicious/noTemplateCurlyInString: this is what catalogs have.
    upstream: { api_key: '${UPSTREAM_TOKEN}' },
  });
  const directory = await mkdtemp(join(tmpdir(), 'tollgate-'));
  // Not .env: the runtime itself reads that where the tests run the source.
  const envPath = join(directory, 'secrets.env');
  writeFileSync(envPath, 'UPSTREAM_TOKEN=first-4411\n');
  const environment = { TOLLGATE_ENV_FILE: envPath };
  await using gateway = await startGateway({ directory, catalog, environment });
  const { key } = await gateway.createAccount({ plan: 'large' });
  const caller = { url: gateway.url, key };
  const sent = async (): Promise<string | undefined> => {
    await generate(caller, 'chat', 'ok');
    return upstream.requests.at(-1)?.headers['authorization'];
  };
  expect(await sent()).toBe('Bearer first-4411');
  writeFileSync(envPath, 'UPSTREAM_TOKEN=second-4411\nLOG_LEVEL=warn\n');
  await waitUntil(async () => (await sent()) === 'Bearer second-4411');
  await waitUntil(async () => (await statusOf(gateway)).catalog.warnings.length > 0);
  expect((await statusOf(gateway)).catalog.warnings).toEqual([
    "LOG_LEVEL changed; settings need a restart, the catalog's secrets do not",
  ]);
  writeFileSync(envPath, 'SOMETHING=else\n');
  const command = await runCommand(directory, environment, ['catalog', 'reload', '--json']);
  expect(command.code).toBe(1);
  const told = command.stdout + gateway.output();
  expect(told).toContain('needs the variable UPSTREAM_TOKEN, which is not set');
  expect(told).not.toContain('4411');
  writeFileSync(envPath, 'not an assignment\n');
  await waitUntil(() => gateway.output().includes('secrets.env, line 1'));
  expect(await sent()).toBe('Bearer second-4411');
});

test('the command line and SIGHUP have it read at once and say what became of it', async () => {
  const { gateway, key, path } = await start();
  await using _ = gateway;
  writeFileSync(path, priced('3'));
  const taken = await gateway.run('catalog', 'reload');
  expect(taken).toEqual({
    accepted: true,
    catalog: {
      // The file may have been looked at first.
      version: expect.any(Number),
      digest: new Bun.CryptoHasher('sha256').update(priced('3')).digest('hex'),
      origin: 'file',
      path,
      loaded_at: expect.any(String),
      ...{ models: 2, upstreams: 1, plans: 7, warnings: [], refused: null },
    },
  });
  await waitForPrice(gateway, key, '3');
  writeFileSync(path, priced('-1'));
  const refused = await runCommand(gateway.directory, {}, ['catalog', 'reload']);
  expect([refused.code, refused.stderr]).toEqual([1, '']);
  expect(refused.stdout).toMatch(
    /^The catalog was refused; version \d+ stays active\.\ncatalog\.toml: model\[0\]\.price/,
  );
  const checked = await runCommand(gateway.directory, {}, ['catalog', 'check', '--json']);
  expect(checked.code).toBe(1);
  expect(JSON.parse(checked.stdout).problems).toHaveLength(2);
  writeFileSync(path, priced('4'));
  process.kill(gateway.pid, 'SIGHUP');
  await waitForPrice(gateway, key, '4');
  const { code, stdout } = await runCommand(gateway.directory, {}, ['catalog', 'check']);
  expect([code, stdout]).toEqual([0, `${path} is valid: 2 models, 1 upstreams, 7 plans.\n`]);
  await gateway.stop();
  const none = await runCommand(gateway.directory, {}, ['catalog', 'reload', '--json']);
  expect([none.code, JSON.parse(none.stderr).error.code]).toEqual([1, 'no_server']);
  expect(await statusOf(gateway)).toMatchObject({
    serving: false,
    catalog: { digest: expect.any(String) },
  });
});

describe('requests in progress', () => {
  test.each(FORMATS)('ends by the catalog that it began with: %s', async (format) => {
    const { gateway, path, caller } = await start();
    await using _ = gateway;
    later = Promise.withResolvers();
    const stream = generateStream(caller, format, SLOW);
    const whole = generate(caller, format, SLOW);
    await waitUntil(async () => {
      const { usage } = (await get(caller, '/v1/account')).json as { usage: { in_flight: number } };
      return usage.in_flight === 2;
    });
    // Their models, their upstream and their prices are gone.
    const other = catalogFor(upstream, ['ok'], {
      service: { usd_per_million: '9.00' },
      upstream: { id: 'another' },
      plans: { large: LARGE_PLAN },
    });
    writeFileSync(path, other.replaceAll('upstream = "scripted"', 'upstream = "another"'));
    await gateway.run('catalog', 'reload');
    const after = await generate(caller, format, SLOW);
    expect(after.json).toMatchObject({ error: { code: 'model_not_found' } });
    later.resolve();
    const { headers } = await whole;
    expect(headers.get('x-svc-tokens-debited')).toBe('16.4');
    const { events } = await stream;
    const bill = JSON.stringify(events.map(({ json }) => json));
    const cost = { svc_tokens_debited: '16.4', svc_cost_usd: '0.0000164' };
    expect(bill).toContain(JSON.stringify(cost).slice(1, -1));
    const receipt = await get(caller, `/v1/receipts/${headers.get('x-request-id')}`);
    expect(receipt.json).toMatchObject(cost);
  });
});

test('accounts on a plan that is gone get a server error, and the operator is alerted', async () => {
  const { gateway, path } = await start();
  await using _ = gateway;
  const caller = await gateway.createAccount({ plan: 'doomed' });
  expect((await generate(caller, 'chat', 'ok')).status).toBe(200);
  writeFileSync(path, priced('2', { plans: { large: LARGE_PLAN } }));
  const { catalog } = (await gateway.run('catalog', 'reload')) as Status & { accepted: boolean };
  expect(catalog.warnings).toEqual([
    '1 accounts are on the plan doomed, which is not in the catalog; they are refused with 503 until the plan is back or they move to another one',
  ]);
  expect(await warningsOf(gateway)).toEqual([
    'accounts are on plans that the catalog does not have',
  ]);
  for (const format of FORMATS) {
    const { status, json } = await generate(caller, format, 'ok');
    expect([status, json]).toMatchObject([503, { error: { code: 'provider_unavailable' } }]);
    expect(JSON.stringify(json)).toContain('The plan of this account is not set up');
  }
  const doctor = await runCommand(gateway.directory, {}, ['doctor', '--json']);
  const { checks } = JSON.parse(doctor.stdout) as { checks: { name: string; ok: boolean }[] };
  expect(checks.find(({ name }) => name === 'plans of accounts')?.ok).toBe(false);
  await gateway.run('account', 'plan', caller.id, 'large');
  await waitUntil(async () => (await warningsOf(gateway)).length === 0);
  expect((await generate(caller, 'chat', 'ok')).status).toBe(200);
});
