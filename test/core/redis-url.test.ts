// `REDIS_URL`, as operators write it, and that no mistake in it shows a password.

import { describe, expect, test } from 'bun:test';
import { type RedisTarget, readRedisUrl } from '../../src/core/redis-url.ts';

const PLAIN: RedisTarget = {
  kind: 'single',
  addresses: [{ host: 'cache', port: 6379 }],
  primary: undefined,
  username: undefined,
  password: undefined,
  database: 0,
  tls: false,
};

describe('the URL of a Redis', () => {
  test.each<[string, RedisTarget]>([
    ['redis://cache', PLAIN],
    ['redis://cache/', PLAIN],
    ['redis://cache:7000/3', { ...PLAIN, addresses: [{ host: 'cache', port: 7000 }], database: 3 }],
    ['rediss://:p%40ss@cache', { ...PLAIN, password: 'p@ss', tls: true }],
    ['redis://ann:secret@cache', { ...PLAIN, username: 'ann', password: 'secret' }],
    ['redis://[::1]:7000', { ...PLAIN, addresses: [{ host: '::1', port: 7000 }] }],
    [
      'redis+sentinel://:secret@one,two:7000/main/2',
      {
        ...{ ...PLAIN, kind: 'sentinel', primary: 'main', password: 'secret', database: 2 },
        addresses: [
          { host: 'one', port: 26_379 },
          { host: 'two', port: 7000 },
        ],
      },
    ],
    [
      'rediss+cluster://one:7001,two:7002',
      {
        ...{ ...PLAIN, kind: 'cluster', tls: true },
        addresses: [
          { host: 'one', port: 7001 },
          { host: 'two', port: 7002 },
        ],
      },
    ],
  ])('%s', (url, target) => {
    expect(readRedisUrl(url)).toEqual({ value: target });
  });

  const secret = 'hunter2';
  test.each([
    ['', 'must be redis://host:port'],
    [`redis://:${secret}@`, 'must be redis://host:port'],
    [`redis://:${secret}@host:0`, 'must be redis://host:port'],
    [`redis://:${secret}@host:65536`, 'must be redis://host:port'],
    [`redis://:${secret}@a b`, 'must be redis://host:port'],
    [`redis://:${secret}@one,two`, 'names several servers'],
    [`redis://:${secret}@host/x`, 'may end in the number of a database'],
    [`redis://:${secret}@host/1/2`, 'may end in the number of a database'],
    [`redis+cluster://:${secret}@host/1`, 'may end in the number of a database'],
    [`redis+sentinel://:${secret}@host`, 'must end in the name that the sentinels watch'],
    [`redis://:${secret}%zz@host`, 'whose percent signs are no encoding'],
  ])('%s is refused', (url, words) => {
    const read = readRedisUrl(url);
    const problem = 'problem' in read ? read.problem : 'none';
    expect(problem).toContain(words);
    expect(problem).not.toContain(secret);
  });
});
