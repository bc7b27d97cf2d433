// The client's end of a stream: bytes as written, backpressure when the client does not read, and
// one notification when the client is gone.

import { expect, test } from 'bun:test';
import { createClientStream } from '../../src/generate/client-stream.ts';

function stream(stallMs = 60_000) {
  let gone = 0;
  const client = createClientStream(() => {
    gone += 1;
  }, stallMs);
  return { client, timesGone: () => gone };
}

const LARGE = 'x'.repeat(70_000);

test('what is written arrives in order, and closing ends it', async () => {
  const { client, timesGone } = stream();
  client.write('one ');
  client.write('');
  client.write('zwei ✓ ');
  client.write('三');
  client.close();
  expect(await new Response(client.body).text()).toBe('one zwei ✓ 三');
  client.leave();
  expect([client.gone(), timesGone()]).toEqual([false, 0]);
});

test('there is room for what fits, and above it the writer waits for the reader', async () => {
  const { client } = stream();
  expect(client.write('little')).toBeUndefined();
  const room = client.write(LARGE);
  expect(room).toBeInstanceOf(Promise);
  const reader = client.body.getReader();
  await reader.read();
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
  client.close();
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
  const pumped = client.write(LARGE);
  const heartbeat = client.write('beat');
  const reader = client.body.getReader();
  for (let reads = 0; reads < 2; reads += 1) await reader.read();
  await Promise.all([pumped, heartbeat]);
  await reader.cancel();
});

test('a client that takes nothing for too long is cut, and has left', async () => {
  const { client, timesGone } = stream(5);
  await client.write(LARGE);
  expect([client.gone(), timesGone()]).toEqual([true, 1]);
  await expect(new Response(client.body).text()).rejects.toThrow('The client stopped reading.');
});

test('one that reads in time is not', async () => {
  const { client, timesGone } = stream(50);
  const room = client.write(LARGE);
  const reader = client.body.getReader();
  await reader.read();
  await room;
  await Bun.sleep(60);
  expect([client.gone(), timesGone()]).toEqual([false, 0]);
  await reader.cancel();
});

test('a client that takes a little each time is cut after so long in all', async () => {
  const { client, timesGone } = stream(40);
  const reader = client.body.getReader();
  const PIECE = 'tiny piece';
  for (let size = PIECE.length; size < 65_536; size += PIECE.length) client.write(PIECE);
  let reads = 0;
  const readAll = async (): Promise<void> => {
    for (;;) {
      await reader.read();
      reads += 1;
      await Bun.sleep(5);
    }
  };
  const reading = readAll();
  while (!client.gone()) await client.write(PIECE);
  await expect(reading).rejects.toThrow('The client stopped reading.');
  expect(reads).toBeLessThan(1_000);
  expect(timesGone()).toBe(1);
});

test('a writer that is to hurry does not wait for the client, who is still there', async () => {
  const { client, timesGone } = stream();
  const room = client.write(LARGE);
  client.hurry();
  await room;
  expect([client.gone(), timesGone()]).toEqual([false, 0]);
  await client.body.cancel();
});
