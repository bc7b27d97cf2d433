// Drizzle's query builder over a function that runs one statement. On failure Drizzle wraps the
// error in one whose message contains every value, which a log would show; here a query rejects
// with the driver's own error.

import { DrizzleQueryError } from 'drizzle-orm';
import { NoopCache } from 'drizzle-orm/cache/core';
import { NoopLogger } from 'drizzle-orm/logger';
import { type PreparedQueryConfig, SQLiteAsyncDialect } from 'drizzle-orm/sqlite-core';
import {
  type AsyncRemoteCallback,
  RemotePreparedQuery,
  SQLiteRemoteSession,
  SqliteRemoteDatabase,
} from 'drizzle-orm/sqlite-proxy';
import type { Queries } from './contract.ts';

export function createBuilder(run: AsyncRemoteCallback): Queries {
  const dialect = new SQLiteAsyncDialect();
  return new SqliteRemoteDatabase('async', dialect, new Session(run, dialect), undefined);
}

class Session extends SQLiteRemoteSession<Record<string, never>, Record<string, never>> {
  readonly #run: AsyncRemoteCallback;

  constructor(run: AsyncRemoteCallback, dialect: SQLiteAsyncDialect) {
    super(run, dialect, undefined);
    this.#run = run;
  }

  override prepareQuery<T extends Config>(...asked: PrepareArguments) {
    const [query, fields, method, isArray, map, metadata, cached] = asked;
    return new Prepared<T>(
      ...([this.#run, query, new NoopLogger(), new NoopCache(), metadata, cached] as const),
      ...([fields, method, isArray, map] as const),
    );
  }
}

class Prepared<T extends Config> extends RemotePreparedQuery<T> {
  override run = (values?: Values) => super.run(values).catch(rethrow);
  override all = (values?: Values) => super.all(values).catch(rethrow);
  override get = (values?: Values) => super.get(values).catch(rethrow);
  override values = <Row extends unknown[]>(values?: Values) =>
    super.values<Row>(values).catch(rethrow);
}

type Config = Omit<PreparedQueryConfig, 'run' | 'statement'>;
type PrepareArguments = Parameters<SQLiteRemoteSession<never, never>['prepareQuery']>;
type Values = Record<string, unknown>;

function rethrow(cause: unknown): never {
  throw cause instanceof DrizzleQueryError ? cause.cause : cause;
}
