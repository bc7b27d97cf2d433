// Measures the data of every page of both applications over HTTP. A health probe runs in parallel;
// its longest wait shows how long the event loop was blocked.

import { createOperator, signUp } from '../../test/support/customer.ts';
import type { Gateway } from '../../test/support/gateway.ts';
import type { openMailbox } from '../../test/support/mailbox.ts';
import type { ApiSession } from '../../test/support/session.ts';
import { HEAVY } from './history.ts';
import { residentMegabytes } from './machine.ts';
import { printTable } from './table.ts';

const DAY_MS = 86_400_000;
const WARM_UPS = 2;
const TRIES = 20;
const PROBE_MS = 2;

type Page = {
  readonly name: string;
  readonly p50Ms: number;
  readonly p95Ms: number;
  readonly stallMs: number;
};

/** As `email` and as an operator. Prints every page, and answers with the slowest. */
export async function timePages(
  gateway: Gateway,
  mailbox: Awaited<ReturnType<typeof openMailbox>>,
  email: string,
): Promise<Page> {
  const customer = await signUp(gateway, mailbox, email);
  const operator = await createOperator(gateway);
  const pages: Page[] = [];
  for (const path of customerPaths(Date.now()))
    pages.push(await timePage(gateway, customer.session, path));
  for (const path of operatorPaths(customer.accountId))
    pages.push(await timePage(gateway, operator.session, path));
  printTable(
    ['JSON of the pages', 'p50 ms', 'p95 ms', 'longest stall ms'],
    pages.map(({ name, p50Ms, p95Ms, stallMs }) => [
      name,
      ...[p50Ms, p95Ms, stallMs].map((ms) => ms.toFixed(1)),
    ]),
  );
  await takeFile(gateway, customer.session, '/requests/export');
  await takeFile(gateway, customer.session, '/receipts/export');
  return pages.reduce((slowest, page) => (page.p95Ms > slowest.p95Ms ? page : slowest));
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
    '/requests?end_user=unknown',
    `/requests?key=key_${HEAVY}_3&model=mini-1&outcome=client_cancelled&end_user=user-9`,
    '/requests?id=req_01a1ff000',
    '/ledger',
    '/ledger?only=movements',
    '/receipts/check?after=250000',
  ];
}

function operatorPaths(accountId: string): readonly string[] {
  return [
    '/overview',
    '/accounts',
    '/accounts?text=bench7',
    `/accounts/${accountId}`,
    '/audit',
    '/models',
    '/upstreams',
    '/money?days=90',
    '/money/spenders?days=90',
  ];
}

/** One page, several times. */
export async function timePage(gateway: Gateway, session: ApiSession, path: string): Promise<Page> {
  const times: number[] = [];
  let status = 0;
  const stallMs = await stallDuring(gateway, async () => {
    for (let tries = -WARM_UPS; tries < TRIES; tries += 1) {
      const startedAt = performance.now();
      ({ status } = await session.get(path));
      if (tries >= 0) times.push(performance.now() - startedAt);
    }
  });
  if (status !== 200) throw new Error(`${path} was answered with ${status}`);
  times.sort((a, b) => a - b);
  const share = (of: number) => times[Math.floor(TRIES * of)] ?? 0;
  const name = `${session.realm} ${path.replace(/=\d{4}-[^&]*/g, '=…')}`;
  return { name, p50Ms: share(0.5), p95Ms: share(0.95), stallMs };
}

/** Reads a file as fast as it comes. */
async function takeFile(gateway: Gateway, session: ApiSession, path: string): Promise<void> {
  const before = residentMegabytes(gateway.pid);
  let most = before;
  let bytes = 0;
  let lines = 0;
  const startedAt = performance.now();
  const stallMs = await stallDuring(gateway, async () => {
    const response = await session.open(path);
    for await (const chunk of response.body ?? []) {
      bytes += chunk.byteLength;
      for (const byte of chunk) lines += byte === 10 ? 1 : 0;
      most = Math.max(most, residentMegabytes(gateway.pid));
    }
  });
  const took = (performance.now() - startedAt) / 1_000;
  process.stdout.write(
    `\n${path}: ${lines} lines, ${(bytes / 1e6).toFixed(0)} MB in ${took.toFixed(1)} s (${(lines / took).toFixed(0)} lines/s); resident memory ${before} MB before, ${most} MB at most; longest stall ${stallMs.toFixed(0)} ms\n`,
  );
}

/** The longest that a health probe waited while `work` was done. */
export async function stallDuring(gateway: Gateway, work: () => Promise<void>): Promise<number> {
  let longest = 0;
  let done = false;
  const probing = (async () => {
    while (!done) {
      const startedAt = performance.now();
      await (await fetch(`${gateway.url}/healthz`)).text();
      longest = Math.max(longest, performance.now() - startedAt);
      await Bun.sleep(PROBE_MS);
    }
  })();
  await work();
  done = true;
  await probing;
  return longest;
}
