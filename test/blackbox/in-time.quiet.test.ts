// What is promised within a time. Whenever a client leaves, within 500 ms the upstream sees the
// abort, the hold is released, and no further upstream is called. A receiver of alerts that never
// answers delays no request and, like an upstream that never ends, no stop.

import type { Database } from 'bun:sqlite';
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { connect, type Socket } from 'node:net';
import { type Behaviour, sendWhole, streamHead } from '../support/behaviours.ts';
import { catalogOf, UPSTREAM_KEY } from '../support/catalog.ts';
import {
  type Caller,
  FORMATS,
  type Format,
  generate,
  get,
  PATHS,
  post,
  requestBody,
} from '../support/client.ts';
import { type Gateway, startGateway, type TestAccount } from '../support/gateway.ts';
import { readBooks } from '../support/readable-books.ts';
import { streamFrames } from '../support/render.ts';
import { type SilentServer, startSilentServer } from '../support/silent-server.ts';
import { startUpstream, type Upstream, waitUntil } from '../support/upstream.ts';

setDefaultTimeout(30_000);

const KINDS = FORMATS.flatMap((format) => [[format, false] as const, [format, true] as const]);
const STALLS = ['stall-before', 'stall-after-head', 'stall'];
const SOON_MS = 500;

/** Writes for as long as the connection lives, whether or not the client reads. */
const flood: Behaviour = async (exchange) => {
  const script = { pieces: [{ text: ' a'.repeat(4_000) }], finish: 'stop' } as const;
  const frames = streamFrames('chat', 'flood', script);
  const text = frames.find((frame) => frame.includes(' a')) ?? '';
  streamHead(exchange);
  while (!exchange.gone()) {
    exchange.write(text);
    await exchange.sleep(1);
  }
};

/** The most that an upstream can ask for: a pause of two seconds before the next try. */
const unwell: Behaviour = (exchange) =>
  sendWhole(exchange, 503, '{}', 'application/json', { 'retry-after': '2' });

/** Connections that were closed before they were made. */
let closed = 0;

let upstream: Upstream;
let mute: SilentServer;
let deaf: Bun.Server<undefined>;
let gateway: Gateway;
let books: Database;

beforeAll(async () => {
  upstream = await startUpstream({
    flood,
    unwell,
    silent: (exchange) => exchange.untilGone(),
    endless: (exchange) => exchange.untilGone(),
  });
  mute = await startSilentServer(() => {
    closed += 1;
  });
  deaf = Bun.serve({ port: 0, fetch: () => new Promise<never>(() => {}) });
  // All thinking is shown there: nothing is to be read after an answer was left.
  const shared = { dialect: 'chat', api_key: UPSTREAM_KEY, profile: 'deepseek' };
  const scripted = { base_url: upstream.baseUrl, ...shared };
  const placed = (slug: string, id: string) => ({
    slug,
    served_by: [{ upstream: id, model: slug }],
    context_window: 20_000_000,
    max_output: 10_000_000,
  });
  const wide = { max_context: 100_000_000, tokens_per_minute: 1_000_000_000 };
  gateway = await startGateway({
    catalog: catalogOf({
      upstreams: [
        { id: 'scripted', ...scripted },
        { id: 'unwell', ...scripted, cool_down_seconds: 0 },
        { id: 'narrow', ...scripted, max_in_flight: 1, queue_seconds: 20 },
        { id: 'billing', ...scripted, cancel_stops_billing: false },
        { id: 'mute-fetch', base_url: mute.url, ...shared, transport: 'fetch' },
        { id: 'mute-sockets', base_url: mute.url, ...shared, transport: 'sockets' },
      ],
      models: [
        ...['flood', 'zero-usage', ...STALLS].map((slug) => placed(slug, 'scripted')),
        placed('unwell', 'unwell'),
        placed('endless', 'billing'),
        placed('silent', 'narrow'),
        placed('tls-fetch', 'mute-fetch'),
        placed('tls-sockets', 'mute-sockets'),
      ],
      plans: {
        wide: { requests_per_minute: 1_000, concurrent_requests: 100, max_api_keys: 9, ...wide },
      },
    }),
    environment: {
      ...{ LOG_LEVEL: 'warn', DRAIN_SECONDS: '0.3' },
      ALERT_WEBHOOK_URL: `http://127.0.0.1:${deaf.port}/`,
    },
  });
  books = readBooks(gateway.databasePath);
});

afterAll(async () => {
  books.close();
  await gateway[Symbol.asyncDispose]();
  mute.close();
  await deaf.stop(true);
  await upstream.close();
});

const account = (): Promise<TestAccount> =>
  gateway.createAccount({ plan: 'wide', credit: 1_000_000_000 });

/** Starts a request; the function that is returned leaves, and answers when that was. */
function begin(of: Caller, format: Format, stream: boolean, model: string): () => number {
  const abort = new AbortController();
  const body = requestBody(format, model, { stream, max_tokens: 100 });
  post(of, PATHS[format], body, { signal: abort.signal }).catch(() => {});
  return () => {
    abort.abort();
    return Date.now();
  };
}

/** How the one request of an account ended, and when. */
async function ended({ id }: TestAccount): Promise<{ outcome: string; phase: string; at: number }> {
  const query = books.query<{ outcome: string; phase: string; at: number }, [string]>(
    `select outcome, phase, holds.ended_at as at from holds join usage_records using (request_id)
     where holds.account_id = ?`,
  );
  await waitUntil(() => query.get(id) !== null);
  const found = query.all(id);
  if (found[0] === undefined || found.length > 1) throw new Error(`${found.length} ends`);
  return found[0];
}

const asked = (model: string): number =>
  upstream.requests.filter((each) => each.model === model).length;

/** Those in progress whose end the other side has seen. */
const gone = (): number => upstream.aborted() + closed;

async function read<T>(of: Caller, part: 'usage' | 'balance'): Promise<T> {
  return (await get(of, '/v1/account')).json[part] as T;
}

/** Waits until its hold is on disk, which the end of a request would wait for, too. */
const held = (of: Caller): Promise<void> =>
  waitUntil(async () => (await read<{ reserved: string }>(of, 'balance')).reserved !== '0');

/** What the gateway has in progress with an upstream. */
async function stateOf(id: string): Promise<unknown[]> {
  const { detail } = (await (await fetch(`${gateway.url}/readyz`)).json()) as {
    readonly detail: { readonly upstreams: Record<string, unknown>[] };
  };
  const found = detail.upstreams.find(({ upstream: name }) => name === id);
  return [found?.['in_flight'], found?.['queued']];
}

const OPEN = KINDS.flatMap(([format, stream]) =>
  ['tls-fetch', 'tls-sockets', ...STALLS]
    .filter((model) => stream || model !== 'stall-after-head')
    .map((model) => [format, stream, model] as const),
);

test.each(OPEN)(
  '%s, streamed: %p: while an upstream is asked, %s',
  async (format, stream, model) => {
    const payer = await account();
    const before = gone();
    const leave = begin(payer, format, stream, model);
    await waitUntil(() => mute.connections() + upstream.active() === 1);
    await held(payer);
    // Where content comes before the silence, the client leaves in the middle of it.
    if (model === 'stall') await Bun.sleep(100);
    const leftAt = leave();
    await waitUntil(() => gone() > before);
    expect(Date.now() - leftAt).toBeLessThan(SOON_MS);
    const end = await ended(payer);
    // The runtime's client does not tell whether it has a connection: the prompt may have been read.
    const phase = model === 'tls-sockets' ? 'released' : 'settled';
    expect(end).toMatchObject({ outcome: 'client_cancelled', phase });
    expect(end.at - leftAt).toBeLessThan(SOON_MS);
  },
);

test('in the pause before the next try', async () => {
  const requests = await Promise.all(
    KINDS.map(async ([format, stream]) => {
      const payer = await account();
      return { payer, leave: begin(payer, format, stream, 'unwell') };
    }),
  );
  await waitUntil(() => asked('unwell') === KINDS.length);
  for (const { payer } of requests) await held(payer);
  await waitUntil(async () => Bun.deepEquals(await stateOf('unwell'), [0, 0]));
  for (const { payer, leave } of requests) {
    const leftAt = leave();
    const end = await ended(payer);
    expect(end).toMatchObject({ outcome: 'client_cancelled', phase: 'released' });
    expect(end.at - leftAt).toBeLessThan(SOON_MS);
  }
  // Longer than the pause.
  await Bun.sleep(2_500);
  expect(asked('unwell')).toBe(KINDS.length);
});

test.each(KINDS)('%s, streamed: %p: while others are before it', async (format, stream) => {
  const [first, second] = [await account(), await account()];
  const before = asked('silent');
  const leaveFirst = begin(first, format, stream, 'silent');
  await waitUntil(() => asked('silent') > before);
  await held(first);
  const leaveSecond = begin(second, format, stream, 'silent');
  await waitUntil(async () => Bun.deepEquals(await stateOf('narrow'), [1, 1]));
  await held(second);
  const leftAt = leaveSecond();
  const end = await ended(second);
  expect(end).toMatchObject({ outcome: 'client_cancelled', phase: 'released' });
  expect(end.at - leftAt).toBeLessThan(SOON_MS);
  leaveFirst();
  await ended(first);
  await waitUntil(() => upstream.active() === 0);
  expect(asked('silent')).toBe(before + 1);
});

/** Asks for a stream and reads nothing of it. */
function askUnread({ url, key }: Caller, format: Format): Socket {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port) });
  const body = JSON.stringify(
    requestBody(format, 'flood', { stream: true, max_tokens: 9_000_000 }),
  );
  socket.pause();
  socket.on('error', () => {});
  socket.write(
    `POST ${PATHS[format]} HTTP/1.1\r\nhost: gateway\r\nauthorization: Bearer ${key}\r\n` +
      `content-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
  );
  return socket;
}

test.each(FORMATS)('%s: while the client does not read', async (format) => {
  const payer = await account();
  const before = gone();
  const asks = asked('flood');
  const socket = askUnread(payer, format);
  await waitUntil(() => asked('flood') > asks);
  let reserved: unknown;
  await waitUntil(async () => {
    const known = reserved;
    await Bun.sleep(400);
    reserved = await read(payer, 'balance');
    return Bun.deepEquals(known, reserved);
  }, 15_000);
  expect(gone()).toBe(before);
  const leftAt = Date.now();
  socket.destroy();
  await waitUntil(() => gone() > before);
  expect(Date.now() - leftAt).toBeLessThan(SOON_MS);
  const end = await ended(payer);
  expect(end).toMatchObject({ outcome: 'client_cancelled', phase: 'settled' });
  expect(end.at - leftAt).toBeLessThan(SOON_MS);
});

test('afterwards no request is in progress', async () => {
  await upstream.waitFor(({ active }) => active() === 0);
  expect([upstream.active(), mute.connections()]).toEqual([0, 0]);
});

test('alerts that no receiver accepts delay no request', async () => {
  const payer = await account();
  for (let count = 0; count < 3; count += 1) {
    const askedAt = Date.now();
    expect((await generate(payer, 'chat', 'zero-usage')).status).toBe(200);
    expect(Date.now() - askedAt).toBeLessThan(1_000);
  }
});

test('neither they nor an answer that is read to its end for the bill delay a stop', async () => {
  const payer = await account();
  const leave = begin(payer, 'chat', true, 'endless');
  await waitUntil(() => asked('endless') === 1);
  await held(payer);
  leave();
  await waitUntil(async () => (await read<{ in_flight: number }>(payer, 'usage')).in_flight === 0);
  expect(upstream.active()).toBe(1);
  const stoppedAt = Date.now();
  expect(await gateway.stop()).toBe(0);
  expect(Date.now() - stoppedAt).toBeLessThan(4_000);
});
