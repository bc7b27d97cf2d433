// Backpressure in both directions, aborts and silence: unread data is not fetched, an aborted call
// is closed at once, and a silent stream stays open.

import { expect, test } from 'bun:test';
import { isFailure } from '../../../src/core/failure.ts';
import { waitUntil } from '../../support/upstream.ts';
import { createCaller, startRawServer, whole } from './rig.ts';

const MEGABYTE = 1_048_576;
const BODY_BYTES = 50 * MEGABYTE;

test('a body of 50 MB is fetched as it is read, and arrives whole', async () => {
  let written = 0;
  await using server = await startRawServer((socket) => {
    socket.write(`HTTP/1.1 200 OK\r\ncontent-length: ${BODY_BYTES}\r\n\r\n`);
    const piece = Buffer.alloc(65_536, 'x');
    const fill = (): void => {
      while (written < BODY_BYTES) {
        written += piece.length;
        if (!socket.write(piece)) {
          socket.once('drain', fill);
          return;
        }
      }
    };
    fill();
  });
  using caller = createCaller(server.port);
  const answer = await caller.call();
  if (isFailure(answer)) throw new Error(answer.detail);
  // Wait until the server has been stopped for a while: what it wrote is with the kernel or here.
  let before = -1;
  await waitUntil(async () => {
    const stands = written === before && written > 0;
    before = written;
    await Bun.sleep(50);
    return stands;
  });
  expect(written).toBeLessThan(16 * MEGABYTE);
  const reader = answer.reader();
  let read = 0;
  for (;;) {
    const chunk = await reader?.read();
    if (chunk === undefined || chunk.done) break;
    read += chunk.value?.length ?? 0;
  }
  expect(read).toBe(BODY_BYTES);
  expect(await caller.call().then((next) => !isFailure(next))).toBe(true);
  expect(server.accepted()).toBe(1);
});

test('a large request is written as its server takes it', async () => {
  await using server = await startRawServer((socket, { text }) =>
    socket.write(whole(String(text.length - text.indexOf('\r\n\r\n') - 4))),
  );
  using caller = createCaller(server.port);
  const body = 'y'.repeat(30 * MEGABYTE);
  const sent = caller.text({ body });
  await waitUntil(() => server.open() === 1);
  for (const socket of server.sockets) {
    socket.pause();
    setTimeout(() => socket.resume(), 50);
  }
  expect(await sent).toBe(String(body.length));
  expect(await caller.text()).toBe('2');
  expect(server.accepted()).toBe(1);
});

const STREAM = 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nfirst\r\n';

test('a stream that is silent for longer than a common timeout goes on', async () => {
  await using server = await startRawServer((socket) => {
    socket.write(STREAM);
    setTimeout(() => socket.write('4\r\nlast\r\n0\r\n\r\n'), 12_000);
  });
  using caller = createCaller(server.port);
  expect(await caller.text()).toBe('firstlast');
}, 20_000);

test.each([
  ['before an answer', ''],
  ['in a stream', STREAM],
])('an abort %s is seen at once, on both sides', async (_name, bytes) => {
  await using server = await startRawServer((socket) => socket.write(bytes));
  using caller = createCaller(server.port);
  const controller = new AbortController();
  const call = caller.call({ signal: controller.signal });
  await waitUntil(() => server.requests() === 1);
  if (bytes === '') controller.abort();
  const answer = await call;
  if (!isFailure(answer)) {
    const reader = answer.reader();
    expect(Buffer.from((await reader?.read())?.value ?? []).toString()).toBe('first');
    const pending = reader?.read();
    controller.abort();
    await expect(pending).rejects.toThrow('the request was given up');
  } else expect(answer).toEqual({ class: 'cut', detail: 'the request was given up' });
  await waitUntil(() => server.open() === 0);
});

test('a cancelled body closes its connection; one that is whole does not', async () => {
  await using server = await startRawServer((socket, { count }) =>
    socket.write(count === 0 ? whole('whole') : STREAM),
  );
  using caller = createCaller(server.port);
  const first = await caller.call();
  if (!isFailure(first)) await first.reader()?.cancel();
  const second = await caller.call();
  expect(server.accepted()).toBe(1);
  if (!isFailure(second)) await second.reader()?.cancel();
  await waitUntil(() => server.open() === 0);
});

test('an abort after the end of an answer leaves the connection', async () => {
  await using server = await startRawServer((socket) => socket.write(whole('done')));
  using caller = createCaller(server.port);
  const controller = new AbortController();
  expect(await caller.text({ signal: controller.signal })).toBe('done');
  controller.abort();
  expect(await caller.text()).toBe('done');
  expect(server.accepted()).toBe(1);
});

test('a call that was given up before it began sends nothing', async () => {
  await using server = await startRawServer((socket) => socket.write(whole('')));
  using caller = createCaller(server.port);
  expect(await caller.call({ signal: AbortSignal.abort() })).toMatchObject({ class: 'cut' });
  expect(server.accepted()).toBe(0);
});

test('an answer larger than its bound is cut off, declared or not', async () => {
  await using server = await startRawServer((socket, { count }) => {
    if (count === 0) socket.write('HTTP/1.1 200 OK\r\ncontent-length: 99999999\r\n\r\n');
    else socket.write(`HTTP/1.1 200 OK\r\n\r\n${'z'.repeat(17 * MEGABYTE)}`);
  });
  using caller = createCaller(server.port);
  for (let index = 0; index < 2; index += 1) {
    const answer = await caller.call();
    expect(isFailure(answer) ? answer : await answer.text()).toMatchObject({ class: 'malformed' });
    await waitUntil(() => server.open() === 0);
  }
});

test('no server listens', async () => {
  const port = await startRawServer(() => {}).then(async (server) => {
    await server[Symbol.asyncDispose]();
    return server.port;
  });
  using caller = createCaller(port);
  expect(await caller.call()).toEqual({
    class: 'unreachable',
    phase: 'connect',
    detail: 'no connection could be made (ECONNREFUSED)',
  });
});
