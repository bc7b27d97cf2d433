// Connection reuse: kept connections while they are good, new ones otherwise, and no request twice
// except when none of its answer had arrived.

import { expect, test } from 'bun:test';
import type { Socket } from 'node:net';
import { waitUntil } from '../../support/upstream.ts';
import { createCaller, startRawServer, whole } from './rig.ts';

test('one after the other: one connection', async () => {
  await using server = await startRawServer((socket, { count }) => socket.write(whole(`${count}`)));
  using caller = createCaller(server.port);
  const texts = [];
  for (let index = 0; index < 20; index += 1) texts.push(await caller.text());
  expect(texts).toEqual(Array.from({ length: 20 }, (_, index) => String(index)));
  expect(server.accepted()).toBe(1);
});

test('a thousand at once, with no queue, and all their connections again', async () => {
  const waiting: Socket[] = [];
  await using server = await startRawServer((socket) => waiting.push(socket));
  using caller = createCaller(server.port);
  for (let round = 0; round < 3; round += 1) {
    const answers = Array.from({ length: 1_000 }, () => caller.text());
    // Every request has to be there before the first is answered.
    await waitUntil(() => waiting.length === 1_000, 20_000);
    for (const socket of waiting.splice(0)) socket.write(whole('here'));
    expect(new Set(await Promise.all(answers))).toEqual(new Set(['here']));
  }
  expect(server.accepted()).toBe(1_000);
  expect(server.requests()).toBe(3_000);
}, 60_000);

test.each([
  ['the server says close', (socket: Socket) => socket.write(whole('x', 'connection: close\r\n'))],
  ['bytes follow the answer', (socket: Socket) => socket.write(`${whole('x')}y`)],
  ['another answer follows', (socket: Socket) => socket.write(whole('x') + whole('stolen'))],
  [
    'it is kept for no time',
    (socket: Socket) => socket.write(whole('x', 'keep-alive: timeout=1\r\n')),
  ],
  ['HTTP/1.0', (socket: Socket) => socket.write('HTTP/1.0 200 OK\r\ncontent-length: 1\r\n\r\nx')],
  ['the connection ends the answer', (socket: Socket) => socket.end('HTTP/1.1 200 OK\r\n\r\nx')],
  ['HTTP/1.0, to its end', (socket: Socket) => socket.end('HTTP/1.0 200 OK\r\n\r\nx')],
])('no second request where %s', async (_name, answer) => {
  await using server = await startRawServer((socket) => answer(socket));
  using caller = createCaller(server.port);
  expect([await caller.text(), await caller.text()]).toEqual(['x', 'x']);
  expect(server.accepted()).toBe(2);
  await waitUntil(() => server.open() === 0);
});

test('bytes without a request are no answer', async () => {
  await using server = await startRawServer((socket, { count }) => {
    socket.write(whole(`${count}`), () => {
      if (count === 0) setTimeout(() => socket.write(whole('stolen')), 5);
    });
  });
  using caller = createCaller(server.port);
  expect(await caller.text()).toBe('0');
  await waitUntil(() => server.open() === 0);
  expect(await caller.text()).toBe('1');
});

test('a kept connection that its server has closed is not used', async () => {
  await using server = await startRawServer((socket, { count }) => socket.write(whole(`${count}`)));
  using caller = createCaller(server.port);
  await Promise.all([caller.text(), caller.text()]);
  for (const socket of server.sockets) socket.destroy();
  await waitUntil(() => server.open() === 0);
  expect(await caller.text()).toBe('2');
  expect(server.accepted()).toBe(3);
});

test.each([
  ['closes', (socket: Socket) => socket.end()],
  ['resets', (socket: Socket) => socket.resetAndDestroy()],
])(
  'a kept connection that %s under a request: is reported, and the request retried on a new one',
  async (_name, lose) => {
    await using server = await startRawServer((socket, { count, on }) => {
      if (on === 0) socket.write(whole(`${count}`));
      else lose(socket);
    });
    using caller = createCaller(server.port);
    expect(await Promise.all([caller.text(), caller.text()])).toEqual(['0', '1']);
    // Nothing is sent twice here: the caller may want to know that it was.
    expect(await caller.call()).toMatchObject({ class: 'unreachable', onKeptConnection: true });
    expect(await caller.text({ newConnection: true })).toBe('3');
    expect({ requests: server.requests(), accepted: server.accepted() }).toEqual({
      requests: 4,
      accepted: 3,
    });
  },
);

test('a new connection that closes is a failure at once', async () => {
  await using server = await startRawServer((socket) => socket.end());
  using caller = createCaller(server.port);
  expect(await caller.call()).toEqual({
    class: 'unreachable',
    detail: 'the connection broke before the answer began',
  });
  expect(server.requests()).toBe(1);
});

test('an answer that has begun on a kept connection is never asked for again', async () => {
  await using server = await startRawServer((socket, { on }) => {
    if (on === 0) socket.write(whole('first'));
    else socket.end('HTTP/1.1 2');
  });
  using caller = createCaller(server.port);
  expect(await caller.text()).toBe('first');
  expect(await caller.call()).toMatchObject({ class: 'unreachable' });
  expect(server.requests()).toBe(2);
});

test('an answer before its request is written leaves the connection unused', async () => {
  await using server = await startRawServer(() => {});
  using caller = createCaller(server.port);
  const body = 'x'.repeat(20_000_000);
  const answer = caller.text({ body });
  await waitUntil(() => server.open() === 1);
  for (const socket of server.sockets) {
    socket.pause();
    socket.write(whole('too large'));
  }
  expect(await answer).toBe('too large');
  await waitUntil(() => server.open() === 0 || [...server.sockets].every((one) => one.resume()));
});

test('closing the client ends what is idle and what becomes it', async () => {
  const waiting: Socket[] = [];
  await using server = await startRawServer((socket, { count }) => {
    if (count === 0) socket.write(whole('idle'));
    else waiting.push(socket);
  });
  using caller = createCaller(server.port);
  await caller.text();
  const busy = caller.text();
  await waitUntil(() => waiting.length === 1);
  caller[Symbol.dispose]();
  waiting[0]?.write(whole('late'));
  expect(await busy).toBe('late');
  await waitUntil(() => server.open() === 0);
});
