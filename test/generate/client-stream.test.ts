// The client's end of a stream: bytes as written, backpressure when the client does not read, and
// one notification when the client is gone.

import { expect, test } from 'bun:test';
import { connect } from 'node:net';
import { ClientStream, type Sink } from '../../src/generate/client-stream.ts';

function stream(stallMs = 60_000) {
  let gone = 0;
  const onGone = (): void => {
    gone += 1;
  };
  const client = new ClientStream(onGone, stallMs);
  return { client, timesGone: () => gone };
}

/** A socket that takes nothing until its client reads. */
function sink() {
  const taken: Parameters<Sink['write']>[0][] = [];
  const closed: unknown[] = [];
  let full: PromiseWithResolvers<number> | undefined;
  const runtime: Sink = {
    write(data) {
      taken.push(data);
      full ??= Promise.withResolvers();
      return full.promise;
    },
    flush: () => 0,
    close: (error) => void closed.push(error?.message),
  };
  const read = (): void => {
    full?.resolve(1);
    full = undefined;
  };
  return { runtime, taken, closed, read };
}

const LARGE = 'x'.repeat(70_000);

test('what is written arrives in order, and closing ends it', async () => {
  const { client, timesGone } = stream();
  client.write('one ');
  const text = new Response(client.body).text();
  client.write('');
  client.write('zwei ✓ ');
  client.write(Buffer.from('三 '));
  client.close('\ud800');
  client.write('late');
  expect(await text).toBe('one zwei ✓ 三 \ufffd');
  client.leave();
  expect([client.gone(), timesGone()]).toEqual([false, 0]);
});

test('what is written and closed before the response is sent arrives in one piece', () => {
  const { client } = stream();
  const { runtime, taken, closed } = sink();
  client.write('one ');
  client.write('two ');
  client.close('three');
  client.pull(runtime);
  client.pull(runtime);
  expect([taken.join(''), closed]).toEqual(['one two three', [undefined]]);
});

test('there is room for what fits before the response is sent, and above it the writer waits', async () => {
  const { client } = stream();
  expect(client.write('little')).toBeUndefined();
  const room = client.write(LARGE);
  expect(room).toBeInstanceOf(Promise);
  const reader = client.body.getReader();
  await reader.read();
  await room;
  expect(client.write('little')).toBeUndefined();
  await reader.cancel();
});

test('a reader that cancels has left: once, regardless of later events', async () => {
  const { client, timesGone } = stream();
  await client.body.cancel();
  client.leave();
  expect([client.gone(), timesGone()]).toEqual([true, 1]);
  expect(client.write(LARGE)).toBeUndefined();
  client.close('');
  expect(client.gone()).toBe(true);
});

test('a writer that waits goes on when the client leaves', async () => {
  const { client, timesGone } = stream();
  const room = client.write(LARGE);
  client.leave();
  await room;
  expect([client.gone(), timesGone()]).toEqual([true, 1]);
});

test('every writer that waits for room continues when there is some, regardless of who wrote last', async () => {
  const { client } = stream();
  const { runtime, read } = sink();
  client.pull(runtime);
  const pumped = client.write(LARGE);
  const heartbeat = client.write('beat');
  expect(heartbeat).toBeInstanceOf(Promise);
  read();
  await Promise.all([pumped, heartbeat]);
  expect(client.gone()).toBe(false);
});

test('a client that takes nothing for too long is cut, and has left', async () => {
  const { client, timesGone } = stream(5);
  const { runtime, closed } = sink();
  client.pull(runtime);
  await client.write(LARGE);
  expect([client.gone(), timesGone()]).toEqual([true, 1]);
  expect(closed).toEqual(['The client stopped reading.']);
});

test('nor does one get the rest that has not been sent its response by then', async () => {
  const { client, timesGone } = stream(5);
  await client.write(LARGE);
  expect([client.gone(), timesGone()]).toEqual([true, 1]);
  await expect(new Response(client.body).text()).rejects.toThrow('The client stopped reading.');
});

test('one that reads in time is not', async () => {
  const { client, timesGone } = stream(50);
  const { runtime, read } = sink();
  client.pull(runtime);
  const room = client.write(LARGE);
  read();
  await room;
  await Bun.sleep(60);
  expect([client.gone(), timesGone()]).toEqual([false, 0]);
});

test('a client that takes a little each time is cut after so long in all', async () => {
  const { client, timesGone } = stream(40);
  const { runtime, taken, read, closed } = sink();
  client.pull(runtime);
  const reading = setInterval(read, 5);
  while (!client.gone()) await client.write('tiny piece');
  clearInterval(reading);
  expect(taken.length).toBeLessThan(1_000);
  expect([closed, timesGone()]).toEqual([['The client stopped reading.'], 1]);
});

test('a writer that is to hurry does not wait for the client, who is still there', async () => {
  const { client, timesGone } = stream();
  const { runtime, taken, closed } = sink();
  client.pull(runtime);
  const room = client.write(LARGE);
  client.hurry();
  await room;
  expect([client.gone(), timesGone()]).toEqual([false, 0]);
  client.close('end');
  expect([taken.at(-1), closed]).toEqual(['end', [undefined]]);
});

test('the server holds a writer back whose client does not read, and reports one that leaves', async () => {
  const { client, timesGone } = stream();
  using server = Bun.serve({ port: 0, fetch: () => new Response(client.body) });
  const socket = connect(Number(server.port), '127.0.0.1');
  socket.pause();
  socket.on('error', () => {});
  socket.write('GET / HTTP/1.1\r\nhost: test\r\n\r\n');
  client.write('first');
  // More than the buffers of both sockets.
  let room: Promise<void> | undefined;
  let pieces = 0;
  for (; room === undefined && pieces < 1_000; pieces += 1) {
    room = client.write(LARGE);
    await Bun.sleep(0);
  }
  expect(pieces).toBeLessThan(1_000);
  socket.resume();
  await room;
  expect([client.gone(), timesGone()]).toEqual([false, 0]);
  socket.destroy();
  while (!client.gone()) await Bun.sleep(1);
  expect(timesGone()).toBe(1);
});
