// The servers that other tests depend on start, crash, pause and stop on request.

import { expect, test } from 'bun:test';
import { existsSync } from 'node:fs';
import postgres from 'postgres';
import {
  describeWithServices,
  sharedPostgres,
  startPostgres,
  startRedis,
  startRedisCluster,
  startRedisSentinel,
} from './services.ts';
import { waitUntil } from './upstream.ts';

describeWithServices('PostgreSQL', ['PostgreSQL'], () => {
  test('keeps what was committed over a crash, and makes databases apart from each other', async () => {
    await using server = await startPostgres();
    const [first, second] = [await server.createDatabase(), await server.createDatabase()];
    expect(first).not.toBe(second);
    await ask(first, 'create table t (x text collate "C")');
    await ask(first, `insert into t values ('kept')`);
    await server.kill();
    await expect(ask(first, 'select 1')).rejects.toThrow();
    await server.start();
    expect(await ask(first, 'select x from t')).toEqual([{ x: 'kept' }]);
    await server.restart('immediate');
    expect(await ask(first, 'select x from t')).toEqual([{ x: 'kept' }]);
    await expect(ask(second, 'select x from t')).rejects.toThrow('does not exist');
    expect(await ask(first, 'show lc_collate')).toEqual([{ lc_collate: 'C' }]);
  }, 30_000);

  test('answers nothing while it is paused, and everything afterwards', async () => {
    await using server = await startPostgres();
    const sql = postgres(server.url, { max: 1 });
    await sql`select 1`;
    server.pause();
    let answered = false;
    const answer = sql`select 2 as x`.then((rows) => {
      answered = true;
      return [...rows];
    });
    await Bun.sleep(50);
    expect(answered).toBe(false);
    server.resume();
    expect(await answer).toEqual([{ x: 2 }]);
    await sql.end();
  }, 30_000);

  test('is one server for all files that do not crash it, each with its own databases', async () => {
    const [mine, theirs] = [await sharedPostgres(), await sharedPostgres()];
    const [first, second] = [await mine.createDatabase(), await theirs.createDatabase()];
    expect(new URL(first).host).toBe(new URL(second).host);
    await mine.stop();
    await expect(ask(first, 'select 1')).rejects.toThrow('does not exist');
    expect(await ask(second, 'select 1 as x')).toEqual([{ x: 1 }]);
    await theirs.stop();
  }, 30_000);

  test('is gone with its directory, also when its parent was killed', async () => {
    const owner = Bun.spawn(
      [
        process.execPath,
        '-e',
        `const { startPostgres } = await import(${JSON.stringify(`${import.meta.dir}/services.ts`)});
         const server = await startPostgres();
         process.stdout.write(server.directory + ' ' + server.url + '\\n');
         setInterval(() => {}, 1000);`,
      ],
      { stdin: 'ignore', stdout: 'pipe', stderr: 'inherit' },
    );
    const { value } = await owner.stdout.pipeThrough(new TextDecoderStream()).getReader().read();
    const [directory = '', url = ''] = (value ?? '').trim().split(' ');
    expect(await ask(url, 'select 1 as x')).toEqual([{ x: 1 }]);
    owner.kill('SIGKILL');
    await waitUntil(() => !existsSync(directory));
    await expect(ask(url, 'select 1')).rejects.toThrow();
  }, 30_000);
});

describeWithServices('Redis', ['Redis'], () => {
  test('comes back empty when it was killed, and is silent while it is paused', async () => {
    await using server = await startRedis();
    expect(await server.ask('SET a 1')).toBe('+OK\r\n');
    expect(await server.ask('GET a')).toBe('$1\r\n1\r\n');
    server.pause();
    let answered = false;
    const answer = server.ask('GET a').then((reply) => {
      answered = true;
      return reply;
    });
    await Bun.sleep(50);
    expect(answered).toBe(false);
    server.resume();
    expect(await answer).toBe('$1\r\n1\r\n');
    await server.restart();
    expect(await server.ask('GET a')).toBe('$-1\r\n');
    const { directory } = server;
    await server.stop();
    expect(existsSync(directory)).toBe(false);
  });

  test('runs as a cluster that shares the slots', async () => {
    await using cluster = await startRedisCluster();
    expect(cluster.url).toMatch(/^redis\+cluster:\/\/(127\.0\.0\.1:\d+,?){3}$/);
    const replies = await Promise.all(cluster.servers.map((server) => server.ask('SET a 1')));
    const outcomes = replies.map((reply) => reply.split(/[ \r]/)[0]).sort();
    expect(outcomes).toEqual(['+OK', '-MOVED', '-MOVED']);
  }, 30_000);

  test('fails over to the replica, as the sentinel reports', async () => {
    await using group = await startRedisSentinel();
    const [primary, replica, sentinel] = group.servers;
    if (primary === undefined || replica === undefined || sentinel === undefined) throw new Error();
    const reported = () => sentinel.ask('SENTINEL GET-MASTER-ADDR-BY-NAME main');
    expect(await reported()).toContain(String(primary.port));
    await primary.kill();
    await waitUntil(async () => (await reported()).includes(String(replica.port)));
  }, 30_000);
});

async function ask(url: string, text: string): Promise<unknown[]> {
  const sql = postgres(url, { max: 1, connect_timeout: 2, onnotice: () => {} });
  try {
    return [...(await sql.unsafe(text))];
  } finally {
    await sql.end({ timeout: 1 });
  }
}
