import { afterAll, beforeAll, expect, test } from 'bun:test';
import { readPostgresUrl } from '../../../src/core/postgres-url.ts';
import { PostgresFailure } from '../../../src/store/postgres/error.ts';
import { createPool } from '../../../src/store/postgres/pool.ts';
import {
  describeWithServices,
  type PostgresServer,
  startPostgres,
} from '../../support/services.ts';

describeWithServices('sessions of PostgreSQL', ['PostgreSQL'], () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await startPostgres();
  });
  afterAll(() => server.stop());

  function poolOf(max: number) {
    const read = readPostgresUrl(server.url);
    if ('problem' in read) throw new Error(read.problem);
    return createPool({
      ...{ target: read.value, authorities: undefined, max },
      ...{ connectTimeoutMs: 2_000, statementTimeoutMs: 2_000, lockTimeoutMs: 1_000 },
    });
  }

  test('are given in the order of asking, also in the place of one that broke', async () => {
    const pool = poolOf(1);
    const first = await pool.acquire();
    const order: string[] = [];
    const take = async (name: string): Promise<void> => {
      const session = await pool.acquire();
      order.push(name);
      pool.release(session);
    };
    const waiting = [take('second'), take('third')];
    first.end(new PostgresFailure('TEST', 'It broke.'));
    pool.release(first);
    waiting.push(take('fourth'));
    await Promise.all(waiting);
    expect(order).toEqual(['second', 'third', 'fourth']);
    pool.close();
  });

  test('end with the pool, and waiting callers get an error', async () => {
    const pool = poolOf(1);
    const session = await pool.acquire();
    const waiting = pool.acquire().catch((cause: Error) => cause.message);
    pool.close();
    expect(await waiting).toBe('The database was closed.');
    expect(session.isOpen()).toBe(false);
    await expect(pool.acquire()).rejects.toThrow('The database was closed.');
  });
});
