// Each fault of the proxy, as seen by a client of a line server, of Redis and of PostgreSQL.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { connect, createServer, type Server, type Socket } from 'node:net';
import postgres from 'postgres';
import { type FaultProxy, startFaultProxy } from './fault-proxy.ts';
import { listen } from './listen.ts';
import { postgresReply, redisReply } from './replies.ts';
import { describeWithServices, startPostgres, startRedis } from './services.ts';
import { waitUntil } from './upstream.ts';

describe('between a client and a server that repeats what it hears', () => {
  let echo: Server;
  let proxy: FaultProxy;

  beforeAll(async () => {
    echo = createServer((socket) => {
      socket.on('error', () => {});
      socket.pipe(socket);
    });
    proxy = await startFaultProxy({ port: await listen(echo) });
  });
  afterAll(async () => {
    await proxy.close();
    echo.close();
  });

  test('nothing is changed without a fault, and the end is passed on', async () => {
    proxy.clear();
    const client = await open(proxy);
    client.write('one');
    await client.heard('one');
    client.socket.end('two');
    expect(await client.over).toEqual({ text: 'onetwo', failed: false });
  });

  test('latency comes on top of both ways', async () => {
    const client = await open(proxy);
    proxy.set({ kind: 'latency', ms: 40 });
    const fromMs = performance.now();
    client.write('late');
    await client.heard('late');
    expect(performance.now() - fromMs).toBeGreaterThan(75);
    proxy.clear();
    client.socket.destroy();
  });

  test('stalled bytes arrive afterwards, in order, also on a connection made in between', async () => {
    const client = await open(proxy);
    proxy.set({ kind: 'stall' });
    client.write('a');
    client.write('b');
    const other = await open(proxy);
    other.write('c');
    await Bun.sleep(20);
    expect([client.text(), other.text()]).toEqual(['', '']);
    proxy.clear();
    await client.heard('ab');
    await other.heard('c');
    client.socket.destroy();
    other.socket.destroy();
  });

  test('drop and duplicate hit one reply, cut ends in the middle of it, reset comes instead', async () => {
    const before = proxy.counts();
    const client = await open(proxy);
    const say = async (text: string, expected: string) => {
      client.write(text);
      await client.heard(expected);
    };
    await say('a', 'a');
    proxy.set({ kind: 'drop' });
    client.write('b');
    await waitUntil(() => proxy.counts().hits.drop === before.hits.drop + 1);
    await say('c', 'ac');
    proxy.set({ kind: 'duplicate', replies: 2 });
    await say('d', 'acdd');
    await say('e', 'acddee');
    await say('f', 'acddeef');
    proxy.set({ kind: 'cut' });
    client.write('1234');
    expect(await client.over).toEqual({ text: 'acddeef12', failed: false });
    const second = await open(proxy);
    proxy.set({ kind: 'reset' });
    second.write('never');
    expect(await second.over).toEqual({ text: '', failed: true });
    await waitUntil(() => proxy.counts().open === 0);
    expect(proxy.counts()).toEqual({
      connections: before.connections + 2,
      open: 0,
      refused: before.refused,
      replies: before.replies + 8,
      hits: { drop: 1, duplicate: 2, cut: 1, reset: 1 },
    });
  });

  test('who is refused loses what was open, and gets nothing new until it is over', async () => {
    const client = await open(proxy);
    client.write('x');
    await client.heard('x');
    proxy.set({ kind: 'refuse' });
    expect(await client.over).toEqual({ text: 'x', failed: true });
    const second = await open(proxy).catch(() => undefined);
    expect((await second?.over) ?? { text: '', failed: true }).toEqual({ text: '', failed: true });
    proxy.clear();
    const third = await open(proxy);
    third.write('again');
    await third.heard('again');
    third.socket.destroy();
  });
});

describe('where a reply ends', () => {
  test.each([
    ['+OK\r\n'],
    [':12\r\n'],
    ['$3\r\na\r\n\r\n'],
    ['$-1\r\n'],
    ['*2\r\n$1\r\na\r\n*1\r\n:1\r\n'],
    ['*-1\r\n'],
    ['%1\r\n+a\r\n_\r\n'],
    ['>2\r\n+message\r\n$0\r\n\r\n'],
  ])('of Redis: %j', (reply) => {
    const bytes = Buffer.from(`${reply}+NEXT\r\n`);
    expect(redisReply(bytes)).toBe(reply.length);
    for (let length = 0; length < reply.length; length += 1) {
      expect(redisReply(bytes.subarray(0, length))).toBeUndefined();
    }
  });

  test('of PostgreSQL: at "ready for query"', () => {
    const reply = Buffer.from('C\0\0\0\x09DONE\0Z\0\0\0\x05I', 'latin1');
    expect(postgresReply(Buffer.concat([reply, reply]))).toBe(reply.length);
    expect(postgresReply(reply.subarray(0, -1))).toBeUndefined();
  });
});

describeWithServices('before real servers', ['PostgreSQL', 'Redis'], () => {
  test('one reply of several in flight is dropped, doubled', async () => {
    await using redis = await startRedis();
    await using proxy = await startFaultProxy(redis, 'redis');
    const client = await open(proxy);
    proxy.set({ kind: 'drop' });
    client.write('ECHO a\r\nECHO b\r\nECHO c\r\n');
    await client.heard('$1\r\nb\r\n$1\r\nc\r\n');
    proxy.set({ kind: 'duplicate' });
    client.write('ECHO d\r\nECHO e\r\n');
    await client.heard('$1\r\nb\r\n$1\r\nc\r\n$1\r\nd\r\n$1\r\nd\r\n$1\r\ne\r\n');
    client.socket.destroy();
  });

  test('a stalled PostgreSQL answers late, a cut one fails', async () => {
    await using server = await startPostgres();
    await using proxy = await startFaultProxy(server, 'postgres');
    const sql = postgres(proxy.through(server.url), { max: 1 });
    // Asks for the types of its parameters first, and gets no "ready for query" with them.
    expect([...(await sql`select ${1}::int as x`)]).toEqual([{ x: 1 }]);
    proxy.set({ kind: 'stall' });
    const late = sql`select 2 as x`.execute();
    await Bun.sleep(20);
    proxy.clear();
    expect([...(await late)]).toEqual([{ x: 2 }]);
    proxy.set({ kind: 'cut' });
    await expect(sql`select 3 as x`.execute()).rejects.toThrow('CONNECTION_CLOSED');
    expect([...(await sql`select 4 as x`)]).toEqual([{ x: 4 }]);
    await sql.end();
  }, 30_000);
});

type TestClient = {
  readonly socket: Socket;
  readonly text: () => string;
  readonly write: (text: string) => void;
  /** Resolves when all that came is `text`. */
  readonly heard: (text: string) => Promise<void>;
  readonly over: Promise<{ readonly text: string; readonly failed: boolean }>;
};

function open(proxy: FaultProxy): Promise<TestClient> {
  const socket = connect({ host: '127.0.0.1', port: proxy.port, noDelay: true });
  const { promise: over, resolve: end } = Promise.withResolvers<{
    text: string;
    failed: boolean;
  }>();
  let text = '';
  let failed = false;
  socket.on('data', (bytes) => {
    text += bytes.toString();
  });
  socket.on('error', () => {
    failed = true;
  });
  socket.on('close', () => end({ text, failed }));
  return new Promise((resolve, reject) => {
    socket.on('error', reject);
    socket.on('connect', () =>
      resolve({
        socket,
        text: () => text,
        write: (sent) => void socket.write(sent),
        async heard(expected) {
          await waitUntil(() => text.length >= expected.length || socket.destroyed);
          expect(text).toBe(expected);
        },
        over,
      }),
    );
  });
}
