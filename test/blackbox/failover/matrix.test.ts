// Every upstream failure, before and after content, in every format over every dialect, streamed
// and whole, with nothing, another upstream or a fallback model behind it. Each cell checks status,
// serving model, attempts, charge, slot and hold; the ledger audit checks the whole.

import { beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { createAccounts } from '../../support/accounts.ts';
import { type Books, openBooks } from '../../support/books.ts';
import { UPSTREAM_KEY } from '../../support/catalog.ts';
import { type DeadPorts, openDeadPorts } from '../../support/dead-ports.ts';
import { createFaults, REDIRECTED_SITE } from '../../support/faults.ts';
import { closeAtEnd, type Gateway, startGateway, type TestAccount } from '../../support/gateway.ts';
import { startUpstream, type Upstream } from '../../support/upstream.ts';
import { ROWS } from './faults.ts';
import { expectedOf, observe, type Scene } from './observe.ts';
import { catalogText, cellsOf } from './world.ts';

setDefaultTimeout(120_000);

type Detail = Readonly<Record<string, unknown>> & {
  readonly upstreams: readonly { readonly in_flight: number; readonly queued: number }[];
};

const CANARY = 'upstream-canary-5125';
/** So many cells at a time, each with an account of its own while it runs. */
const LANES = 32;
const CREDIT = 1_000_000;

const cells = cellsOf(ROWS);
const delivered = new Set<string>();
const idle: TestAccount[] = [];
const waiting: ((account: TestAccount) => void)[] = [];

let ports: DeadPorts;
let upstream: Upstream;
let gateway: Gateway;
let books: Books;
let scene: Scene;

beforeAll(async () => {
  ports = await openDeadPorts();
  upstream = await startUpstream(
    createFaults({ canary: CANARY, delivered: ({ site }) => delivered.has(site) }),
  );
  gateway = await startGateway({
    catalog: catalogText(cells, upstream, ports),
    environment: { LOG_LEVEL: 'debug' },
  });
  books = openBooks(gateway);
  scene = { upstream, books, canary: CANARY, delivered, withAccount };
  idle.push(...(await createAccounts(gateway, LANES, { plan: 'roomy', credit: CREDIT })));
});

closeAtEnd(() => [ports, upstream, gateway, books]);

async function withAccount<T>(use: (account: TestAccount) => Promise<T>): Promise<T> {
  const free = idle.pop() ?? (await new Promise<TestAccount>((resolve) => waiting.push(resolve)));
  try {
    return await use(free);
  } finally {
    const next = waiting.shift();
    if (next === undefined) idle.push(free);
    else next(free);
  }
}

describe.concurrent(`${cells.length} cells`, () => {
  test.each(ROWS)('$phase: $name', async (row) => {
    const own = cells.filter((cell) => cell.row === row);
    const observed = await Promise.all(own.map((cell) => observe(scene, cell)));
    expect(observed).toEqual(own.map(expectedOf));
  });
});

test('afterwards no request is in progress, and every service token is where it should be', async () => {
  await upstream.waitFor(({ active }) => active() === 0);
  expect(upstream.asked(REDIRECTED_SITE)).toEqual([]);
  const ready = (await (await fetch(`${gateway.url}/readyz`)).json()) as {
    readonly detail: Detail;
  };
  const { upstreams, requests_in_flight, streams_open, ledger_pending } = ready.detail;
  expect({ requests_in_flight, streams_open, ledger_pending }).toEqual({
    requests_in_flight: 0,
    streams_open: 0,
    ledger_pending: 0,
  });
  const busy = upstreams.filter(({ in_flight: inFlight, queued }) => inFlight + queued > 0);
  expect([upstreams.length > cells.length, busy]).toEqual([true, []]);
  expect(await gateway.run('doctor')).toMatchObject({ ok: true });
});

test('the log has no secret of an upstream, and quotes only what came as an error', () => {
  const log = gateway.output();
  expect([CANARY, UPSTREAM_KEY].filter((secret) => log.includes(secret))).toEqual([]);
  const quotes = log.split('\n').filter((line) => line.includes('nginx'));
  expect(quotes.filter((line) => !line.includes('"failure":"server_error"'))).toEqual([]);
});
