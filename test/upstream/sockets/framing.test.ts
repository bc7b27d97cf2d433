// The framing corpus over real connections, and the law of the cut: a truncated answer is never
// taken for a whole one, wherever its connection breaks.

import { expect, test } from 'bun:test';
import { isFailure } from '../../../src/core/failure.ts';
import { CORPUS } from '../../wire/http/corpus.ts';
import { createCaller, readToEnd, startRawServer, whole } from './rig.ts';

test('every row of the corpus, closed by its server', async () => {
  let bytes = '';
  await using server = await startRawServer((socket) => socket.end(bytes, 'latin1'));
  using caller = createCaller(server.port);
  for (const [name, text, outcome, whenClosed] of CORPUS) {
    bytes = text;
    const expected = outcome === 'waits' ? whenClosed : outcome;
    const answer = await caller.call({ newConnection: true });
    const { body, end } = await readToEnd(answer);
    const status = isFailure(answer) ? undefined : answer.status;
    if (typeof expected === 'object' && 'status' in expected) {
      expect({ name, status, body, end }).toEqual({
        name,
        status: expected.status,
        body: expected.body,
        end: 'done',
      });
    } else expect({ name, isWhole: end === 'done' }).toEqual({ name, isWhole: false });
  }
});

const CHUNKED =
  'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nHello\r\n6;a=b\r\n world\r\n0\r\nx: y\r\n\r\n';

test.each([
  ['a length', whole('Hello world', 'content-type: text/event-stream\r\n')],
  ['chunks', CHUNKED],
])('a cut at any byte of an answer with %s is never a success', async (_name, bytes) => {
  let length = 0;
  let reset = false;
  await using server = await startRawServer((socket) => {
    const part = bytes.slice(0, length);
    if (!reset) socket.end(part);
    else if (part === '') socket.resetAndDestroy();
    else socket.write(part, () => socket.resetAndDestroy());
  });
  using caller = createCaller(server.port);
  for (length = 0; length <= bytes.length; length += 1) {
    for (reset of [false, true]) {
      const { body, end } = await readToEnd(await caller.call({ newConnection: true }));
      // What was sent in full may be lost with a reset, never the other way round.
      if (end === 'done')
        expect({ length, body }).toEqual({ length: bytes.length, body: 'Hello world' });
      else expect('Hello world').toStartWith(body);
      const text = await caller
        .call({ newConnection: true })
        .then((answer) => (isFailure(answer) ? answer : answer.text()));
      if (typeof text === 'string')
        expect({ length, text }).toEqual({ length: bytes.length, text: 'Hello world' });
    }
  }
});

test('an answer in single bytes', async () => {
  await using server = await startRawServer(async (socket) => {
    for (const byte of CHUNKED) {
      socket.write(byte);
      await new Promise((wake) => setImmediate(wake));
    }
  });
  using caller = createCaller(server.port);
  expect(await caller.text()).toBe('Hello world');
  expect(await caller.text()).toBe('Hello world');
  expect(server.accepted()).toBe(1);
});

test('what the upstream gets: one request, framed, with no coding asked for', async () => {
  let request = '';
  await using server = await startRawServer((socket, { text }) => {
    request = text;
    socket.write(whole(''));
  });
  using caller = createCaller(server.port);
  await caller.text({
    baseUrl: `http://127.0.0.1:${server.port}/base/v1`,
    headers: { authorization: 'Bearer key' },
    body: '{"a":"ü"}',
  });
  expect(Buffer.from(request, 'latin1').toString()).toBe(
    [
      'POST /base/v1/chat HTTP/1.1',
      `host: 127.0.0.1:${server.port}`,
      'content-length: 10',
      'authorization: Bearer key',
      'user-agent: tollgate-test',
      'accept: */*',
      'accept-encoding: identity',
      'connection: keep-alive',
      '',
      '{"a":"ü"}',
    ].join('\r\n'),
  );
});

test('a key that would be two lines is never sent', async () => {
  await using server = await startRawServer((socket) => socket.write(whole('')));
  using caller = createCaller(server.port);
  const failure = await caller.call({ headers: { authorization: 'a\r\nb: c' } });
  expect(failure).toMatchObject({ class: 'credential' });
  expect(server.accepted()).toBe(0);
});

test.each(['sockets', 'fetch'] as const)('how long to wait, by %s', async (transport) => {
  await using server = await startRawServer((socket) =>
    socket.write('HTTP/1.1 429 Slow\r\nretry-after: 3\r\ncontent-length: 0\r\n\r\n'),
  );
  using caller = createCaller(server.port);
  expect(await caller.call({ transport })).toMatchObject({ status: 429, retryAfterMs: 3_000 });
});
