// The dashboard over a long past: books with a million requests of 90 days and 200 accounts, one of
// which made half of them. Adds them up as after an upgrade, asks every list and every series of
// that account and of the console, and takes all its requests as a file. Beside all of it a health
// probe is asked over and over: what it waits at most is how long the event loop stood still.

import { mkdir, mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createRollUp } from '../../../src/ledger/series/roll-up.ts';
import { openDatabase } from '../../../src/store/database.ts';
import { migrate } from '../../../src/store/migrate.ts';
import { createOperator, openSignUp, signUp } from '../../../test/support/customer.ts';
import { type Gateway, startGateway } from '../../../test/support/gateway.ts';
import { openMailbox } from '../../../test/support/mailbox.ts';
import type { ApiSession } from '../../../test/support/session.ts';
import type { BenchRow } from '../compare.ts';
import { HEAVY, writeHistory } from '../history.ts';
import { pin, residentMegabytes } from '../machine.ts';
import { printTable } from '../table.ts';

const ACCOUNTS = 200;
const DAYS = 90;
const DAY_MS = 86_400_000;

const WARM_UPS = 2;
const TRIES = 20;
const PROBE_MS = 2;

export const pagesRow: BenchRow = {
  name: 'pages',
  onDemand: true,
  run: async ({ requests }) => {
    await measurePages(requests);
    return [];
  },
};

async function measurePages(requests: number): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'tollgate-dashboard-'));
  const nowMs = Date.now();
  await mkdir(join(directory, 'data'));
  const url = `sqlite:${join(directory, 'data/tollgate.db')}`;
  const writing = Bun.nanoseconds();
  const database = openDatabase({ url, sync: 'normal' });
  await migrate(database);
  await writeHistory(database, { requests, accounts: ACCOUNTS, days: DAYS, nowMs });
  await database.close();
  say(`${requests} requests of the past were written in ${seconds(writing)}`);

  await using mailbox = await openMailbox();
  await using gateway = await startGateway({
    ...{ directory, prefix: pin(0), environment: openSignUp(mailbox) },
  });
  await addUp(gateway, url);
  const customer = await signUp(gateway, mailbox, `${HEAVY}@example.org`);
  const operator = await createOperator(gateway);
  const lines = [];
  for (const path of customerPaths(nowMs)) lines.push(await time(gateway, customer.session, path));
  for (const path of operatorPaths()) lines.push(await time(gateway, operator.session, path));
  printTable(['JSON of the pages', 'p50 ms', 'p95 ms', 'longest stall ms'], lines);
  await takeFile(gateway, customer.session, '/requests/export');
  await takeFile(gateway, customer.session, '/receipts/export');
}

/** As after an upgrade: nothing of the past is in the series yet. */
async function addUp(gateway: Gateway, url: string): Promise<void> {
  const database = openDatabase({ url, sync: 'normal', readonly: true });
  const { behind } = createRollUp(database);
  const startedAt = Bun.nanoseconds();
  const stallMs = await watch(gateway, async () => {
    while ((await behind()) > 0) await Bun.sleep(100);
  });
  await database.close();
  say(
    `they were added up in ${seconds(startedAt)}; longest stall of the loop ${stallMs.toFixed(0)} ms`,
  );
}

function customerPaths(nowMs: number): readonly string[] {
  const span = (days: number) => {
    const at = (ms: number) => encodeURIComponent(new Date(ms).toISOString());
    return `from=${at(nowMs - days * DAY_MS)}&to=${at(nowMs)}`;
  };
  const middle = `to=${encodeURIComponent(new Date(nowMs - 45 * DAY_MS).toISOString())}`;
  return [
    '/overview',
    '/keys',
    '/models',
    '/audit',
    ...['total', 'model', 'key', 'end_user'].map((by) => `/usage?${span(90)}&group_by=${by}`),
    `/usage?${span(14)}&step=hour&group_by=model`,
    '/requests',
    '/requests?limit=200',
    `/requests?${middle}`,
    '/requests?outcome=failed',
    '/requests?model=mini-1',
    '/requests?end_user=user-7',
    '/requests?end_user=nobody',
    `/requests?key=key_${HEAVY}_3&model=mini-1&outcome=client_cancelled&end_user=user-9`,
    '/requests?id=req_0Vbd00',
    '/ledger',
    '/ledger?only=movements',
    '/receipts/check?after=250000',
  ];
}

function operatorPaths(): readonly string[] {
  return [
    '/overview',
    '/accounts',
    '/accounts?text=bench7',
    `/accounts/${HEAVY}`,
    '/audit',
    '/models',
    '/upstreams',
    '/money?days=90',
    '/money/spenders?days=90',
  ];
}

async function time(gateway: Gateway, session: ApiSession, path: string): Promise<string[]> {
  const times: number[] = [];
  let status = 0;
  const stallMs = await watch(gateway, async () => {
    for (let tries = -WARM_UPS; tries < TRIES; tries += 1) {
      const startedAt = Bun.nanoseconds();
      ({ status } = await session.get(path));
      if (tries >= 0) times.push((Bun.nanoseconds() - startedAt) / 1e6);
    }
  });
  if (status !== 200) throw new Error(`${path} was answered with ${status}`);
  times.sort((a, b) => a - b);
  const cells = [times[TRIES >> 1], times[Math.floor(TRIES * 0.95)], stallMs];
  const name = `${session.realm} ${path.replace(/=\d{4}-[^&]*/g, '=…')}`;
  return [name, ...cells.map((ms = 0) => ms.toFixed(1))];
}

/** Reads a file as fast as it comes. */
async function takeFile(gateway: Gateway, session: ApiSession, path: string): Promise<void> {
  const before = residentMegabytes(gateway.pid);
  let most = before;
  let bytes = 0;
  let lines = 0;
  const startedAt = Bun.nanoseconds();
  const stallMs = await watch(gateway, async () => {
    const response = await session.open(path);
    for await (const chunk of response.body ?? []) {
      bytes += chunk.byteLength;
      for (const byte of chunk) lines += byte === 10 ? 1 : 0;
      most = Math.max(most, residentMegabytes(gateway.pid));
    }
  });
  const took = (Bun.nanoseconds() - startedAt) / 1e9;
  say(
    `\n${path}: ${lines} lines, ${(bytes / 1e6).toFixed(0)} MB in ${took.toFixed(1)} s (${(lines / took).toFixed(0)} lines/s); resident memory ${before} MB before, ${most} MB at most; longest stall ${stallMs.toFixed(0)} ms`,
  );
}

/** The longest that a health probe waited while `work` was done. */
async function watch(gateway: Gateway, work: () => Promise<void>): Promise<number> {
  let longest = 0;
  let done = false;
  const probing = (async () => {
    while (!done) {
      const startedAt = Bun.nanoseconds();
      await (await fetch(`${gateway.url}/healthz`)).text();
      longest = Math.max(longest, (Bun.nanoseconds() - startedAt) / 1e6);
      await Bun.sleep(PROBE_MS);
    }
  })();
  await work();
  done = true;
  await probing;
  return longest;
}

function seconds(since: number): string {
  return `${((Bun.nanoseconds() - since) / 1e9).toFixed(1)} s`;
}

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}
