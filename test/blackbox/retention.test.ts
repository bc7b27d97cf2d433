// Retention by the executable: old requests go to files while the server answers, kills at any moment
// lose nothing, damage stops the removal, and every page and command knows where a request went.

import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import {
  chmodSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { sql } from 'drizzle-orm';
import { accountName, HEAVY, writeHistory } from '../../scripts/benchmark/history.ts';
import { parseDecimal } from '../../src/core/money.ts';
import { findDifferences } from '../../src/ledger/audit.ts';
import { createRollUp } from '../../src/ledger/series/roll-up.ts';
import { connectDatabase } from '../../src/store/connect.ts';
import type { Database } from '../../src/store/contract.ts';
import { catalogFor, ROOMY_PLAN } from '../support/catalog.ts';
import { generate } from '../support/client.ts';
import { createOperator, openSignUp, signUp } from '../support/customer.ts';
import { describeOnEachDatabase } from '../support/database.ts';
import { type Gateway, runCommand, startGateway } from '../support/gateway.ts';
import { openMailbox } from '../support/mailbox.ts';
import { parseMetrics, sumOf } from '../support/metrics.ts';
import { startUpstream, waitUntil } from '../support/upstream.ts';

setDefaultTimeout(300_000);

const upstream = await startUpstream();
afterAll(() => upstream.close());

/** Of each database, so that no mail of the other one is read. */
let mailbox: Awaited<ReturnType<typeof openMailbox>>;

const PLANS = { roomy: ROOMY_PLAN, bench: ROOMY_PLAN };
const catalog = catalogFor(upstream, ['ok'], { plans: PLANS });

const ACCOUNTS = 4;
/** At least thirty of them are in closed months that are older than the retention. */
const DAYS = 100;
const KILLS = 4;

const urlOf = ({ environment, databasePath }: Gateway): string =>
  environment['DATABASE_URL'] ?? `sqlite:${databasePath}`;

async function withBooks<T>(gateway: Gateway, work: (database: Database) => Promise<T>) {
  const database = connectDatabase({ url: urlOf(gateway), sync: 'normal', patient: true });
  try {
    return await work(database);
  } finally {
    await database.close();
  }
}

/** A gateway that was stopped, with requests of 100 days in its books. */
async function gatewayWithPast(requests: number): Promise<Gateway> {
  const environment = { ...openSignUp(mailbox), SESSION_SECRET: 's'.repeat(32) };
  const gateway = await startGateway({ catalog, environment });
  await gateway.stop();
  await withBooks(gateway, async (database) => {
    const past = { requests, accounts: ACCOUNTS, days: DAYS, nowMs: Date.now() };
    await writeHistory(database, past);
    const rollUp = createRollUp(database);
    while ((await rollUp.step(2_000)) > 0);
  });
  return gateway;
}

const archiving = (gateway: Gateway): Promise<Gateway> =>
  startGateway({
    catalog,
    directory: gateway.directory,
    environment: {
      ...{ ...openSignUp(mailbox), SESSION_SECRET: 's'.repeat(32) },
      ...{ RETENTION_DAYS: '40', ARCHIVE_DIR: 'old' },
    },
  });

type Listed = {
  readonly month: string;
  readonly account_id: string;
  readonly state: string;
  readonly requests: number;
  readonly receipts: { readonly file: string };
  readonly books: { readonly file: string };
};

async function archivesOf(gateway: Gateway): Promise<readonly Listed[]> {
  return (await gateway.run('archive', 'list'))['data'] as Listed[];
}

async function waitUntilRemoved(gateway: Gateway): Promise<readonly Listed[]> {
  let archives: readonly Listed[] = [];
  await waitUntil(async () => {
    archives = await archivesOf(gateway);
    return (
      gateway.output().includes('archived requests from the database') ||
      (archives.length > 0 && archives.every(({ state }) => state === 'removed'))
    );
  }, 60_000);
  return archivesOf(gateway);
}

const rowsOf = (gateway: Gateway) =>
  withBooks(gateway, ({ rows }) =>
    rows<{ number: bigint }>(sql`select * from requests order by number`),
  );

const differencesOf = (gateway: Gateway) =>
  withBooks(gateway, (database) => Array.fromAsync(findDifferences(database)));

const warningsOf = async ({ url }: Gateway): Promise<readonly string[]> =>
  ((await (await fetch(`${url}/readyz`)).json()) as { warnings: readonly string[] }).warnings;

const fails = async (gateway: Gateway, ...args: readonly string[]): Promise<string> => {
  const { code, stderr } = await runCommand(gateway.directory, gateway.environment, [
    ...args,
    '--json',
  ]);
  expect(code).toBe(1);
  return stderr;
};

describeOnEachDatabase('retention', () => {
  beforeAll(async () => {
    mailbox = await openMailbox();
  });
  afterAll(() => mailbox[Symbol.asyncDispose]());

  test.concurrent('survives kills at any moment under load, and restores every row', async () => {
    await using gateway = await gatewayWithPast(3_000);
    const before = await rowsOf(gateway);
    for (let kill = 0; kill < KILLS; kill += 1) {
      const serving = await archiving(gateway);
      const caller = await serving.createAccount({ plan: 'roomy' });
      let isDead = false;
      const load = (async () => {
        while (!isDead) await generate(caller, 'chat', 'ok').catch(() => undefined);
      })();
      // The run begins a second after the start; the kills spread over what it does.
      await Bun.sleep(1_000 + 500 * kill);
      await serving.kill();
      isDead = true;
      await load;
      expect(await differencesOf(gateway)).toEqual([]);
    }
    const serving = await archiving(gateway);
    const archives = await waitUntilRemoved(serving);
    expect(await differencesOf(gateway)).toEqual([]);
    expect((await serving.run('archive', 'verify'))['ok']).toBe(true);
    expect((await serving.run('receipts', 'verify', '--all'))['ok']).toBe(true);
    expect(await warningsOf(serving)).toEqual([]);
    const left = await rowsOf(gateway);
    const archived = archives.reduce((sum, { requests }) => sum + requests, 0);
    expect(archived).toBeGreaterThan(700);
    const old = left.filter(({ number }) => number <= BigInt(before.length));
    expect(old.length + archived).toBe(before.length);
    expect(await serving.stop()).toBe(0);
    // Nothing unfinished is left behind by the kills but in one name of this machine.
    const files = readdirSync(join(gateway.directory, 'old'), { recursive: true }).map(String);
    expect(files.filter((file) => /\.(gz|db)$/.test(file))).toHaveLength(2 * archives.length);

    const [month = ''] = archives.map((each) => each.month).toSorted();
    const environment = { ...serving.environment, RETENTION_DAYS: 'off' };
    const restore = ['archive', 'restore', '--month', month];
    const { code, stderr } = await runCommand(gateway.directory, environment, restore);
    expect([code, stderr]).toEqual([0, '']);
    expect((await rowsOf(gateway)).slice(0, before.length)).toEqual(before);
    expect(await differencesOf(gateway)).toEqual([]);
  });

  test.concurrent('keeps files to their owner, and says where a request went', async () => {
    await using gateway = await gatewayWithPast(1_200);
    const isSqlite = gateway.environment['DATABASE_URL'] === undefined;
    const hex = isSqlite ? sql`hex(id)` : sql`encode(id, 'hex')`;
    const [, second] = await withBooks(gateway, ({ rows }) =>
      rows<{ id: string }>(sql`select m.id from (select lower(${hex}) as id, number
        from requests where account = 1 order by number limit 2) m order by m.number`),
    );
    const requestId = `req_${second?.id}`;
    await using serving = await archiving(gateway);
    const archives = await waitUntilRemoved(serving);
    const own = archives.filter(({ account_id }) => account_id === HEAVY);
    const [first] = own;
    if (first === undefined) throw new Error('nothing was archived');
    const folder = join(gateway.directory, 'old');
    const modes = [folder, join(folder, first.month), join(folder, first.books.file)].map(
      (path) => statSync(path).mode & 0o777,
    );
    expect(modes).toEqual([0o700, 0o700, 0o600]);

    const files = own.map(({ receipts }) => join('old', receipts.file));
    const offline = await runCommand(gateway.directory, {}, ['receipts', 'verify', ...files]);
    expect([offline.code, offline.stderr]).toEqual([0, '']);

    expect(await fails(serving, 'explain', requestId)).toContain(first.books.file);
    const found = (await serving.run('archive', 'find', requestId))['data'] as Listed[];
    expect(found.map(({ books }) => books.file)).toContain(first.books.file);
    const unknown = requestId.replace(/.{8}$/, '00000000');
    expect(await fails(serving, 'explain', unknown)).toContain('request_not_found');
    expect(await fails(serving, 'archive', 'restore', '--month', first.month)).toContain(
      'retention_too_short',
    );

    const operator = await createOperator(serving);
    const shown = await operator.session.get(`/requests/${requestId}`);
    expect([shown.status, shown.text]).toEqual([
      410,
      expect.stringContaining(`file ${first.books.file}`),
    ]);
    const customer = await signUp(serving, mailbox, `${HEAVY}@example.org`);
    const customerView = await customer.session.get(`/requests/${requestId}`);
    expect(customerView.status).toBe(410);
    expect(customerView.text).toContain(`Requests of ${first.month} were archived`);
    expect(customerView.text).not.toContain('.db');
    expect((await customer.session.get(`/receipts/${requestId}`)).status).toBe(410);
    // Another customer has no such request.
    const other = await signUp(serving, mailbox, `${accountName(1)}@example.org`);
    expect((await other.session.get(`/requests/${requestId}`)).status).toBe(404);

    const months = await customer.session.get('/archives');
    const data = months.json['data'] as { month: string; has_file: boolean }[];
    expect(data.map(({ month }) => month).toSorted()).toEqual(
      own.map(({ month }) => month).toSorted(),
    );
    expect(data.every(({ has_file }) => has_file)).toBe(true);
    const file = await customer.session.open(`/archives/${first.month}/receipts`);
    const bytes = new Uint8Array(await file.arrayBuffer());
    expect(bytes).toEqual(new Uint8Array(readFileSync(join(folder, first.receipts.file))));
    expect((await other.session.get('/archives/2001-01/receipts')).status).toBe(404);

    // The amounts of the ledger add up to the balance, the archived months included.
    const ledger = await customer.session.open('/ledger/export');
    expect(ledger.headers.get('content-disposition')).toContain(`-after-${own.at(-1)?.month}.csv`);
    const lines = (await ledger.text()).trim().split('\r\n');
    const cells = lines.slice(1).map((line) => line.split(','));
    const sum = cells.reduce((total, line) => total + micros(line[7]), 0n);
    expect(sum).toBe(micros(cells.at(-1)?.[9]));
    expect(cells.filter((line) => line[2] === '"archived"')).toHaveLength(own.length);
    const exported = await serving.run(
      'receipts',
      'export',
      '--account',
      HEAVY,
      '--out',
      'r.jsonl',
    );
    expect(exported['archived']).toEqual(own.map(({ receipts }) => receipts.file));

    const checked = await customer.session.get('/receipts/check');
    expect(checked.json).toMatchObject({ problems: [] });
    const listed = await customer.session.get('/requests?limit=200');
    expect(listed.status).toBe(200);
    const overview = await customer.session.get('/overview');
    expect(overview.json).toMatchObject({ first_steps: { has_request: true } });
  });

  test.concurrent('removes nothing while a file is missing or damaged, and goes on when it is back', async () => {
    await using gateway = await gatewayWithPast(1_200);
    const serving = await archiving(gateway);
    const archives = await waitUntilRemoved(serving);
    expect(await serving.stop()).toBe(0);
    const [first] = archives;
    if (first === undefined) throw new Error('nothing was archived');
    const path = join(gateway.directory, 'old', first.books.file);
    renameSync(path, `${path}.away`);

    const warned = await archiving(gateway);
    await waitUntil(async () => (await warningsOf(warned)).length > 0);
    // Everyone may read it, so it has neither an account nor a path.
    expect(await warningsOf(warned)).toEqual([
      'requests are not archived or removed: files of earlier archives are missing or were changed; see the log',
    ]);
    await waitUntil(() => warned.output().includes(`${first.books.file} is not there`));
    const metrics = parseMetrics(await (await fetch(`${warned.url}/metrics`)).text());
    expect(sumOf(metrics, 'tollgate_archive_failing')).toBe(1);
    expect(sumOf(metrics, 'tollgate_alerts_total', { kind: 'archive_failed' })).toBe(1);
    expect((await fetch(`${warned.url}/readyz`)).status).toBe(200);
    expect(await warned.stop()).toBe(0);

    const whole = readFileSync(`${path}.away`);
    const flipped = Buffer.from(whole);
    flipped[flipped.length >> 1] = (flipped[flipped.length >> 1] ?? 0) ^ 1;
    writeFileSync(path, flipped);
    chmodSync(path, 0o600);
    const verified = await runCommand(gateway.directory, warned.environment, ['archive', 'verify']);
    expect(verified.code).toBe(1);
    expect(verified.stdout).toContain('has another SHA-256');
    const environment = { ...warned.environment, RETENTION_DAYS: 'off' };
    const restore = ['archive', 'restore', '--month', first.month];
    const refused = await runCommand(gateway.directory, environment, restore);
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining('is not restored')]);

    rmSync(path);
    renameSync(`${path}.away`, path);
    const again = await runCommand(gateway.directory, environment, restore);
    expect([again.code, again.stderr]).toEqual([0, '']);
    expect(await differencesOf(gateway)).toEqual([]);
  });
});

/** A decimal of service tokens as an integer. */
const micros = (text = ''): bigint => parseDecimal(text, 6) ?? 0n;
