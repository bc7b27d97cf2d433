// Clients that do not read: one that pauses longer than a heartbeat gets its answer to the end, and
// one that never reads delays neither its settlement nor the server's shutdown.

import { expect, setDefaultTimeout, test } from 'bun:test';
import { connect, type Socket } from 'node:net';
import { type Behaviour, streamHead } from '../support/behaviours.ts';
import { catalogFor } from '../support/catalog.ts';
import { type Caller, generate, get, requestBody } from '../support/client.ts';
import { startGateway } from '../support/gateway.ts';
import { readBooks } from '../support/readable-books.ts';
import { streamFrames } from '../support/render.ts';
import { startUpstream, waitUntil } from '../support/upstream.ts';

setDefaultTimeout(30_000);

/** Far more than the sockets in between take. */
const flood: Behaviour = async (exchange) => {
  const script = { pieces: [{ text: ' a'.repeat(2_000) }], finish: 'stop' } as const;
  const frames = streamFrames('chat', 'flood', script);
  const [first = ''] = frames;
  const text = frames.find((frame) => frame.includes(' a')) ?? '';
  streamHead(exchange);
  exchange.write(first);
  for (let index = 0; index < 2_500 && !exchange.gone(); index += 1) {
    exchange.write(text);
    if (index % 50 === 0) await exchange.sleep(1);
  }
  for (const frame of frames.slice(frames.indexOf(text) + 1)) exchange.write(frame);
  exchange.end();
};

const PLAN = {
  requests_per_minute: 100,
  tokens_per_minute: 1_000_000_000,
  concurrent_requests: 10,
  max_context: 100_000_000,
  max_api_keys: 10,
};

/** Asks and reads nothing until it is resumed. */
function ask({ url, key }: Caller): Socket {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port) });
  const body = JSON.stringify(requestBody('chat', 'flood', { stream: true }));
  socket.pause();
  socket.on('error', () => {});
  socket.write(
    `POST /v1/chat/completions HTTP/1.1\r\nhost: gateway\r\nauthorization: Bearer ${key}\r\n` +
      `content-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
  );
  return socket;
}

/** Waits until nothing more is passed on, and a few heartbeats longer. */
async function stalled(of: Caller): Promise<void> {
  let reserved: unknown;
  await waitUntil(async () => {
    const before = reserved;
    await Bun.sleep(700);
    reserved = (await get(of, '/v1/account')).json['balance'];
    return Bun.deepEquals(before, reserved);
  }, 15_000);
}

test('a pause longer than a heartbeat costs nothing, and a client that never reads blocks no other client', async () => {
  await using upstream = await startUpstream({ flood });
  const catalog = catalogFor(upstream, ['flood'], {
    model: { context_window: 20_000_000, max_output: 10_000_000 },
    plans: { wide: PLAN },
  });
  await using gateway = await startGateway({
    catalog,
    environment: { HEARTBEAT_SECONDS: '0.2', DRAIN_SECONDS: '0.2', LOG_LEVEL: 'info' },
  });
  const account = await gateway.createAccount({ plan: 'wide', credit: 1_000_000_000 });

  const slow = ask(account);
  await upstream.waitFor(({ requests }) => requests.length === 1);
  await stalled(account);
  let tail = '';
  slow.on('data', (bytes) => {
    tail = (tail + bytes.toString('latin1')).slice(-2_000);
  });
  slow.resume();
  await waitUntil(() => tail.includes('[DONE]'), 15_000);
  expect(tail).toContain('"svc_outcome":"completed"');
  slow.destroy();

  const stuck = ask(account);
  await upstream.waitFor(({ requests }) => requests.length === 2);
  await stalled(account);
  expect(await gateway.stop()).toBe(0);
  stuck.destroy();
  const books = readBooks(gateway.databasePath);
  expect(books.query('select outcome from usage_records order by started_at').all()).toEqual([
    { outcome: 'completed' },
    { outcome: 'gateway_failed' },
  ]);
  expect(books.query('select count(*) as open from holds where ended_at is null').get()).toEqual({
    open: 0,
  });
  books.close();
});

test('streams that are not read keep no other account out, and are cut after 10 s', async () => {
  await using upstream = await startUpstream({ flood });
  const catalog = catalogFor(upstream, ['flood', 'ok'], {
    model: { context_window: 20_000_000, max_output: 10_000_000 },
    upstream: { max_in_flight: 20 },
    plans: { wide: PLAN },
  });
  await using gateway = await startGateway({ catalog });
  const create = () => gateway.createAccount({ plan: 'wide', credit: 1_000_000_000 });
  const hoarders = await Promise.all(Array.from({ length: 5 }, create));
  const other = await create();
  const startedAt = performance.now();
  const sockets = hoarders.flatMap((account) => Array.from({ length: 4 }, () => ask(account)));
  await upstream.waitFor(({ active }) => active() >= 18);

  for (let count = 0; count < 4; count += 1) {
    const { status } = await generate(other, 'chat', 'ok');
    expect(status).toBe(200);
  }
  expect(performance.now() - startedAt).toBeLessThan(10_000);
  await upstream.waitFor(({ active }) => active() === 0, 25_000);
  for (const socket of sockets) socket.destroy();
});
