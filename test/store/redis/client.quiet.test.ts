// The Redis client: scripts that run where their keys are, a breaker, messages, and no password in
// any output. Over real servers: one, a cluster, one behind sentinels.

import { describe, expect, test } from 'bun:test';
import { readRedisUrl } from '../../../src/core/redis-url.ts';
import { createRedis, type Redis } from '../../../src/store/redis/client.ts';
import { redisScript } from '../../../src/store/redis/script.ts';
import { startFaultProxy } from '../../support/fault-proxy.ts';
import {
  describeWithServices,
  startRedis,
  startRedisCluster,
  startRedisSentinel,
} from '../../support/services.ts';
import { waitUntil } from '../../support/upstream.ts';

const COUNT = redisScript("return redis.call('INCRBY', KEYS[1], ARGV[1])");
const ECHO = redisScript('return ARGV[1]');
const BROKEN = redisScript("return redis.call('GET', 'a', 'b')");

type Opened = Redis & {
  readonly changes: (readonly [boolean, string | undefined])[];
  readonly [Symbol.dispose]: () => void;
};

function open(url: string, timeoutMs = 2_000): Opened {
  const target = readRedisUrl(url);
  if ('problem' in target) throw new Error(target.problem);
  const changes: (readonly [boolean, string | undefined])[] = [];
  const onChange = (isUp: boolean, reason: string | undefined) => changes.push([isUp, reason]);
  const redis = createRedis({ target: target.value, onChange, timeoutMs });
  return { ...redis, changes, [Symbol.dispose]: redis.close };
}

describeWithServices('a client of Redis', ['Redis'], () => {
  test('runs scripts, those too that the server has forgotten', async () => {
    await using server = await startRedis();
    using redis = open(server.url);
    await redis.waitUntilUp(5_000);
    expect(await redis.run(COUNT, ['k'], ['2'])).toBe(2);
    expect(await redis.run(COUNT, ['k'], ['3'])).toBe(5);
    await server.ask('SCRIPT FLUSH');
    expect(await redis.run(COUNT, ['k'], ['1'])).toBe(6);
    expect(redis.counts().failures).toBe(0);
    await expect(redis.run(BROKEN, [], [])).rejects.toThrow();
    expect(redis.isUp()).toBe(true);
  });

  test('asks no more after five failures in a row, and again when a probe was answered', async () => {
    await using server = await startRedis();
    using redis = open(server.url, 300);
    await redis.waitUntilUp(5_000);
    await redis.run(COUNT, ['k'], ['1']);
    server.pause();
    const asked = [1, 2, 3, 4, 5].map(() => redis.run(COUNT, ['k'], ['1']).catch(() => 'failed'));
    expect(await Promise.all(asked)).toEqual(asked.map(() => 'failed'));
    expect(redis.isUp()).toBe(false);
    const commands = redis.counts().roundTrips;
    await expect(redis.run(COUNT, ['k'], ['1'])).rejects.toThrow('Redis is down (timeout).');
    await expect(redis.publish('news', 'x')).rejects.toThrow('Redis is down (timeout).');
    expect(redis.counts().roundTrips).toBe(commands);
    server.resume();
    await waitUntil(redis.isUp);
    expect(redis.changes).toEqual([
      [true, undefined],
      [false, 'timeout'],
      [true, undefined],
    ]);
  }, 15_000);

  test('a server that is killed is noticed at once, and one that is back as well', async () => {
    await using server = await startRedis();
    using redis = open(server.url);
    await redis.waitUntilUp(5_000);
    await server.kill();
    await waitUntil(() => !redis.isUp());
    await server.start();
    await waitUntil(redis.isUp);
    expect(await redis.run(COUNT, ['k'], ['1'])).toBe(1);
    expect(redis.changes.map(([isUp]) => isUp)).toEqual([true, false, true]);
  }, 15_000);

  test.each([
    ['is a replica', 'READONLY', 'REPLICAOF 127.0.0.1 1', 'REPLICAOF NO ONE'],
    ['has no memory left', 'OOM', 'CONFIG SET maxmemory 1', 'CONFIG SET maxmemory 0'],
  ])(
    'a server that answers and %s is away until it takes writes again',
    async (_, reason, refuse, accept) => {
      await using server = await startRedis();
      using redis = open(server.url, 1_000);
      await redis.waitUntilUp(5_000);
      expect(await server.ask(refuse)).toStartWith('+OK');
      const asked = [1, 2, 3, 4, 5].map(() => redis.run(COUNT, ['k'], ['1']).catch(() => 'failed'));
      expect(await Promise.all(asked)).toEqual(asked.map(() => 'failed'));
      const { failures } = redis.counts();
      // A probe, at least, has failed as well.
      await waitUntil(() => redis.counts().failures > failures);
      expect(redis.changes).toEqual([
        [true, undefined],
        [false, reason],
      ]);
      expect(await server.ask(accept)).toStartWith('+OK');
      await waitUntil(redis.isUp);
      expect(await redis.run(COUNT, ['k'], ['1'])).toBe(1);
    },
    15_000,
  );

  test.each(['drop', 'duplicate'] as const)(
    'after a reply that the way did %s, no answer is taken for another one',
    async (kind) => {
      await using server = await startRedis();
      await using proxy = await startFaultProxy(
        { port: Number(new URL(server.url).port) },
        'redis',
      );
      using redis = open(proxy.through(server.url), 1_000);
      await redis.waitUntilUp(5_000);
      const echo = (text: string) =>
        redis.run(ECHO, [], [text], (reply) => reply === text).catch(() => 'failed');
      expect(await echo('first')).toBe('first');
      proxy.set({ kind, replies: 1 });
      const texts = ['a', 'b', 'c', 'd'];
      const answers = await Promise.all(texts.map(echo));
      for (const [index, text] of texts.entries()) {
        expect([text, 'failed']).toContain(String(answers[index]));
      }
      expect(answers).toContain('failed');
      await waitUntil(redis.isUp);
      expect(await echo('last')).toBe('last');
      expect(redis.changes.map(([, reason]) => reason)).toContain('out of step');
    },
    15_000,
  );

  test('nothing that it says has the password', async () => {
    await using server = await startRedis();
    await server.ask('CONFIG SET requirepass the-right-one');
    const said: unknown[] = [];
    for (const password of ['hunter2', 'the-right-one']) {
      const url = server.url.replace('//', `//:${password}@`);
      using redis = open(url, 300);
      await redis.waitUntilUp(password === 'hunter2' ? 300 : 5_000);
      expect(redis.isUp()).toBe(password === 'the-right-one');
      said.push(await redis.run(BROKEN, [], []).catch((error: unknown) => String(error)));
      said.push(redis.changes);
    }
    expect(JSON.stringify(said)).toContain('WRONGPASS');
    expect(JSON.stringify(said)).not.toMatch(/hunter2|the-right-one/);
  }, 15_000);

  describe('messages', () => {
    test('reach every subscriber, and each connection is reported', async () => {
      await using server = await startRedis();
      using redis = open(server.url);
      using other = open(server.url);
      await Promise.all([redis.waitUntilUp(5_000), other.waitUntilUp(5_000)]);
      const heard: string[] = [];
      let connections = 0;
      const end = other.subscribe(
        'news',
        (message) => heard.push(message),
        () => {
          connections += 1;
        },
      );
      await waitUntil(() => connections === 1);
      await redis.publish('other', 'not this');
      await redis.publish('news', 'one');
      await waitUntil(() => heard.length === 1);
      await server.ask('CLIENT KILL TYPE pubsub');
      await waitUntil(() => connections === 2);
      await waitUntil(redis.isUp);
      await redis.publish('news', 'two');
      await waitUntil(() => heard.length === 2);
      end();
      await redis.publish('news', 'three');
      await redis.run(COUNT, ['k'], ['1']);
      expect(heard).toEqual(['one', 'two']);
    }, 15_000);
  });

  test('a cluster has its keys in three places, and its messages everywhere', async () => {
    await using cluster = await startRedisCluster();
    using redis = open(cluster.url);
    await redis.waitUntilUp(10_000);
    const accounts = Array.from({ length: 20 }, (_, index) => `tollgate:{acct_${index}}:limits`);
    const counts = accounts.map((key) => redis.run(COUNT, [key], ['1']));
    expect(await Promise.all(counts)).toEqual(accounts.map(() => 1));
    const sizes = await Promise.all(cluster.servers.map((server) => server.ask('DBSIZE')));
    expect(sizes.map((size) => size.trim()).filter((size) => size !== ':0').length).toBe(3);
    const heard: string[] = [];
    let connected = false;
    redis.subscribe(
      'news',
      (message) => heard.push(message),
      () => {
        connected = true;
      },
    );
    await waitUntil(() => connected);
    await redis.publish('news', 'one');
    await waitUntil(() => heard.length === 1);
  }, 30_000);

  test('a primary that dies is followed by the one that the sentinels choose', async () => {
    await using group = await startRedisSentinel();
    using redis = open(group.url);
    await redis.waitUntilUp(10_000);
    expect(await redis.run(COUNT, ['k'], ['1'])).toBe(1);
    await group.servers[0]?.kill();
    await waitUntil(() => !redis.isUp());
    await waitUntil(redis.isUp);
    await waitUntil(async () => (await redis.run(COUNT, ['k'], ['1']).catch(() => 0)) !== 0);
  }, 30_000);
});
