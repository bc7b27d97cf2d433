// The steps of a transaction on its session: what is asked within it, and its end.
// Called by the database, which opens it.

import { StoreError } from '../error.ts';
import { fromDriver, PostgresRefusal, TRANSACTION_ABORTED, UnknownOutcome } from './error.ts';
import type { Session } from './session.ts';
import type { Reply } from './values.ts';

export type Transaction = {
  readonly session: Session;
  state: 'open' | 'ended' | 'undone';
  /** What opens it; sent with its first statement. */
  readonly opening: readonly string[];
  opened: Promise<unknown> | undefined;
  /** Whether a reply came, or is to come, after the last question that only this session was asked. */
  isUnconfirmed: boolean;
  /** Why PostgreSQL refuses every further statement of it. */
  failure: unknown;
};

/** Sent before this returns, after what opens the transaction. */
export function askWithin(
  transaction: Transaction,
  text: string,
  values: readonly unknown[],
): Promise<Reply> {
  open(transaction);
  transaction.isUnconfirmed = true;
  return ask(transaction, text, values);
}

/** Not waited for: what follows travels along. */
function open(transaction: Transaction): void {
  const { session, opening } = transaction;
  if (transaction.opened !== undefined) return;
  transaction.opened = Promise.all(opening.map((text) => session.query(text)));
  transaction.opened.catch((cause) => {
    transaction.failure ??= cause;
  });
}

async function ask(
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

/** Fulfilled once all replies so far are known to belong to what was asked. */
export async function confirm(transaction: Transaction): Promise<void> {
  if (!transaction.isUnconfirmed) return;
  transaction.isUnconfirmed = false;
  await transaction.session.check();
}

/** Commits. Queries that were not awaited run outside of it from now on. */
export async function end(transaction: Transaction): Promise<void> {
  transaction.state = 'ended';
  if (transaction.opened === undefined) return;
  await transaction.opened;
  await confirm(transaction);
  await commit(transaction);
}

/**
 * Asks for the last time and commits, in one round trip. A statement that is alone is a transaction by
 * itself.
 */
export async function endWith(
  transaction: Transaction,
  text: string,
  values: readonly unknown[],
): Promise<Reply> {
  await confirm(transaction);
  const { session, opening } = transaction;
  const isAlone = transaction.opened === undefined && opening.length === 1;
  if (!isAlone) open(transaction);
  transaction.state = 'ended';
  const [reply, checked, committed] = await Promise.allSettled([
    ask(transaction, text, values),
    session.check(),
    isAlone ? undefined : commit(transaction),
  ]);
  if (committed.status === 'rejected') throw committed.reason;
  if (checked.status === 'rejected') throw unknownOutcome(session, checked.reason);
  if (reply.status === 'rejected') throw reply.reason;
  return reply.value;
}

/** PostgreSQL refuses what comes after a statement that failed, and says no more than that. */
export function isEcho(cause: unknown): boolean {
  return cause instanceof PostgresRefusal && cause.code === TRANSACTION_ABORTED;
}

/** Throws `UnknownOutcome` where it is unknown whether it is written. */
async function commit(transaction: Transaction): Promise<void> {
  const { session } = transaction;
  let command: string;
  try {
    ({ command } = await session.query('commit'));
  } catch (cause) {
    throw cause instanceof PostgresRefusal ? cause : unknownOutcome(session, cause);
  }
  if (command === 'COMMIT') return;
  throw (
    transaction.failure ??
    new StoreError('The transaction was not committed: a statement of it failed.')
  );
}

function unknownOutcome(session: Session, cause: unknown): UnknownOutcome {
  const { code, message } = fromDriver(cause);
  const said = `It is unknown what a commit did. ${message}`;
  const unknown = new UnknownOutcome(code, said, { cause });
  session.end(unknown);
  return unknown;
}

/** A session that cannot be brought back to rest is not used again. */
export async function undo({ session, opened }: Transaction): Promise<void> {
  if (opened === undefined || !session.isOpen()) return;
  const [undone, checked] = await Promise.allSettled([session.query('rollback'), session.check()]);
  if (undone.status === 'rejected') session.end(fromDriver(undone.reason));
  else if (checked.status === 'rejected') session.end(fromDriver(checked.reason));
}
