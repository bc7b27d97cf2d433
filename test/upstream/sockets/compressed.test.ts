// Answers that are compressed without a request for it.

import { expect, test } from 'bun:test';
import type { Socket } from 'node:net';
import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { isFailure } from '../../../src/core/failure.ts';
import { waitUntil } from '../../support/upstream.ts';
import { createCaller, readToEnd, startRawServer } from './rig.ts';

const TEXT = 'Hello world. '.repeat(1_000);

function send(socket: Socket, coding: string, body: Buffer, length = body.length): void {
  socket.write(
    `HTTP/1.1 200 OK\r\ncontent-encoding: ${coding}\r\ncontent-length: ${length}\r\n\r\n`,
  );
  socket.write(body);
}

test.each([
  ['gzip', gzipSync(TEXT)],
  ['X-GZIP', gzipSync(TEXT)],
  ['deflate', deflateSync(TEXT)],
  ['br', brotliCompressSync(TEXT)],
  ['zstd', zstdCompressSync(TEXT)],
  ['identity', Buffer.from(TEXT)],
])('%s is unpacked, and its connection kept', async (coding, body) => {
  await using server = await startRawServer((socket) => send(socket, coding, body));
  using caller = createCaller(server.port);
  expect(await caller.text()).toBe(TEXT);
  expect(await readToEnd(await caller.call())).toEqual({ body: TEXT, end: 'done' });
  expect(server.accepted()).toBe(1);
});

test.each(['gzip, br', 'compress', 'gzip, gzip'])('%s is not guessed at', async (coding) => {
  await using server = await startRawServer((socket) =>
    send(socket, coding, gzipSync(TEXT), 9_999),
  );
  using caller = createCaller(server.port);
  expect(await caller.call()).toMatchObject({ class: 'malformed', status: 200 });
  await waitUntil(() => server.open() === 0);
});

test('a small body that unpacks to a huge one is cut off', async () => {
  const bomb = gzipSync(Buffer.alloc(200_000_000));
  await using server = await startRawServer((socket) => send(socket, 'gzip', bomb));
  using caller = createCaller(server.port);
  const answer = await caller.call();
  expect(isFailure(answer) ? answer : await answer.text()).toMatchObject({ class: 'malformed' });
});

test('one that breaks off is never whole, read at once or later', async () => {
  const half = gzipSync(TEXT);
  await using server = await startRawServer((socket, { count }) => {
    if (count % 2 === 0) send(socket, 'gzip', half.subarray(0, 40));
    else send(socket, 'gzip', half.subarray(0, 40), half.length);
    socket.end();
  });
  using caller = createCaller(server.port);
  for (let index = 0; index < 4; index += 1) {
    const answer = await caller.call({ newConnection: true });
    if (index >= 2) await waitUntil(() => server.open() === 0);
    expect((await readToEnd(answer)).end).toBe('broken');
  }
});
