// The steps of a transaction on its session: what is asked within it, its savepoints, and its end.
// Called by the database, which opens it.

import { StoreError } from '../error.ts';
import { fromDriver, PostgresRefusal, TRANSACTION_ABORTED, UnknownOutcome } from './error.ts';
import type { Session } from './session.ts';
import type { Reply } from './values.ts';

export type Transaction = {
  readonly session: Session;
  state: 'open' | 'ended' | 'undone';
  /** Why PostgreSQL refuses every further statement of it. */
  failure: unknown;
  savepoints: number;
};

export async function askWithin(
  transaction: Transaction,
  text: string,
  values: readonly unknown[],
): Promise<Reply> {
  try {
    return await transaction.session.query(text, values);
  } catch (cause) {
    if (isEcho(cause)) throw transaction.failure ?? cause;
    transaction.failure ??= cause;
    throw cause;
  }
}

/** PostgreSQL refuses what comes after a statement that failed, and says no more than that. */
export function isEcho(cause: unknown): boolean {
  return cause instanceof PostgresRefusal && cause.code === TRANSACTION_ABORTED;
}

/** Throws `UnknownOutcome` where it is unknown whether it is written. */
export async function commit({ session, failure }: Transaction): Promise<void> {
  let command: string;
  try {
    ({ command } = await session.query('commit'));
  } catch (cause) {
    if (cause instanceof PostgresRefusal) throw cause;
    const { code, message } = fromDriver(cause);
    const unknown = new UnknownOutcome(code, `Nobody knows what a commit did. ${message}`, {
      cause,
    });
    session.end(unknown);
    throw unknown;
  }
  if (command === 'COMMIT') return;
  throw failure ?? new StoreError('The transaction was not committed: a statement of it failed.');
}

/** A session that cannot be brought back to rest is not used again. */
export async function undo(session: Session): Promise<void> {
  if (!session.isOpen()) return;
  const [undone, checked] = await Promise.allSettled([session.query('rollback'), session.check()]);
  if (undone.status === 'rejected') session.end(fromDriver(undone.reason));
  else if (checked.status === 'rejected') session.end(fromDriver(checked.reason));
}

export async function atSavepoint<T>(transaction: Transaction, work: () => Promise<T>): Promise<T> {
  const { session } = transaction;
  const name = `inner_${transaction.savepoints}`;
  transaction.savepoints += 1;
  const opened = session.query(`savepoint ${name}`);
  opened.catch(() => undefined);
  try {
    const result = await work();
    await opened;
    await session.query(`release savepoint ${name}`);
    return result;
  } catch (cause) {
    if (session.isOpen()) {
      transaction.failure = undefined;
      await session.query(`rollback to savepoint ${name}`);
      await session.query(`release savepoint ${name}`);
    }
    throw cause;
  } finally {
    transaction.savepoints -= 1;
  }
}
