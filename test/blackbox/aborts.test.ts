// Client disconnects in the phases that `endings.test.ts` does not cover: while the connection is
// made, in a queue, while the client does not read, and in the pause before a retry. Within 500 ms
// the upstream sees the abort, the hold is released, and no further upstream is called.

import type { Database } from 'bun:sqlite';
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { connect, type Socket } from 'node:net';
import { type Behaviour, streamHead } from '../support/behaviours.ts';
import { catalogOf, UPSTREAM_KEY } from '../support/catalog.ts';
import { type Caller, type Format, get, PATHS, post, requestBody } from '../support/client.ts';
import { type Gateway, startGateway, type TestAccount } from '../support/gateway.ts';
import { readBooks } from '../support/readable-books.ts';
import { streamFrames } from '../support/render.ts';
import { type SilentServer, startSilentServer } from '../support/silent-server.ts';
import { startUpstream, type Upstream, waitUntil } from '../support/upstream.ts';

setDefaultTimeout(30_000);

const FORMATS: readonly Format[] = ['chat', 'messages'];
const KINDS = FORMATS.flatMap((format) => [[format, false] as const, [format, true] as const]);
const SOON_MS = 500;

/** When answers in progress saw the other side go. */
const goneAt: number[] = [];

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
  goneAt.push(performance.now());
};

let upstream: Upstream;
let mute: SilentServer;
let gateway: Gateway;
let books: Database;

beforeAll(async () => {
  upstream = await startUpstream({ flood, silent: (exchange) => exchange.untilGone() });
  mute = await startSilentServer(() => goneAt.push(performance.now()));
  // All thinking is shown there: nothing is to be read after an answer was left.
  const shared = { dialect: 'chat', api_key: UPSTREAM_KEY, profile: 'deepseek' };
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
        { id: 'scripted', base_url: upstream.baseUrl, ...shared },
        {
          id: 'narrow',
          base_url: upstream.baseUrl,
          ...shared,
          max_in_flight: 1,
          queue_seconds: 20,
        },
        { id: 'mute-fetch', base_url: mute.url, ...shared, transport: 'fetch' },
        { id: 'mute-sockets', base_url: mute.url, ...shared, transport: 'sockets' },
      ],
      models: [
        placed('flood', 'scripted'),
        placed('status-503', 'scripted'),
        placed('silent', 'narrow'),
        placed('tls-fetch', 'mute-fetch'),
        placed('tls-sockets', 'mute-sockets'),
      ],
      plans: {
        wide: { requests_per_minute: 1_000, concurrent_requests: 100, max_api_keys: 9, ...wide },
      },
    }),
    environment: { LOG_LEVEL: 'warn' },
  });
  books = readBooks(gateway.databasePath);
});

afterAll(async () => {
  books.close();
  await gateway[Symbol.asyncDispose]();
  mute.close();
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

const CONNECTING = KINDS.flatMap(([format, stream]) =>
  ['tls-fetch', 'tls-sockets'].map((model) => [format, stream, model] as const),
);

test.each(CONNECTING)(
  '%s, streamed: %p: while the connection is made, %s',
  async (format, stream, model) => {
    const payer = await account();
    const before = goneAt.length;
    const leave = begin(payer, format, stream, model);
    await waitUntil(() => mute.connections() === 1);
    await Bun.sleep(50);
    const from = performance.now();
    const leftAt = leave();
    await waitUntil(() => goneAt.length > before);
    expect((goneAt.at(-1) ?? Number.NaN) - from).toBeLessThan(SOON_MS);
    const end = await ended(payer);
    // The runtime's client does not tell whether it has a connection: the prompt may have been read.
    const phase = model === 'tls-fetch' ? 'settled' : 'released';
    expect(end).toMatchObject({ outcome: 'client_cancelled', phase });
    expect(end.at - leftAt).toBeLessThan(SOON_MS);
  },
);

test.each(KINDS)('%s, streamed: %p: in the pause before the next try', async (format, stream) => {
  const payer = await account();
  const before = asked('status-503');
  const leave = begin(payer, format, stream, 'status-503');
  await waitUntil(() => asked('status-503') > before && upstream.active() === 0);
  await Bun.sleep(30);
  const leftAt = leave();
  const end = await ended(payer);
  expect(end).toMatchObject({ outcome: 'client_cancelled', phase: 'released' });
  expect(end.at - leftAt).toBeLessThan(SOON_MS);
  // Longer than any pause.
  await Bun.sleep(1_000);
  expect(asked('status-503')).toBe(before + 1);
});

test.each(KINDS)('%s, streamed: %p: while others are before it', async (format, stream) => {
  const [first, second] = [await account(), await account()];
  const before = asked('silent');
  const leaveFirst = begin(first, format, stream, 'silent');
  await waitUntil(() => asked('silent') > before);
  const leaveSecond = begin(second, format, stream, 'silent');
  const isHeld = async (): Promise<boolean> =>
    ((await get(second, '/v1/account')).json['usage'] as { in_flight: number }).in_flight === 1;
  await waitUntil(isHeld);
  const leftAt = leaveSecond();
  const end = await ended(second);
  expect(end).toMatchObject({ outcome: 'client_cancelled', phase: 'released' });
  expect(end.at - leftAt).toBeLessThan(SOON_MS);
  leaveFirst();
  await ended(first);
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
  const before = goneAt.length;
  const asks = asked('flood');
  const socket = askUnread(payer, format);
  await waitUntil(() => asked('flood') > asks);
  let reserved: unknown;
  await waitUntil(async () => {
    const known = reserved;
    await Bun.sleep(400);
    reserved = (await get(payer, '/v1/account')).json['balance'];
    return Bun.deepEquals(known, reserved);
  }, 15_000);
  expect(goneAt.length).toBe(before);
  const from = performance.now();
  const leftAt = Date.now();
  socket.destroy();
  await waitUntil(() => goneAt.length > before);
  expect((goneAt.at(-1) ?? Number.NaN) - from).toBeLessThan(SOON_MS);
  const end = await ended(payer);
  expect(end).toMatchObject({ outcome: 'client_cancelled', phase: 'settled' });
  expect(end.at - leftAt).toBeLessThan(SOON_MS);
});

test('afterwards no request is in progress', async () => {
  await upstream.waitFor(({ active }) => active() === 0);
  expect([upstream.active(), mute.connections()]).toEqual([0, 0]);
});
