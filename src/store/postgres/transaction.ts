// The steps of a transaction on its session: its queries and its end. Called by the database, which
// opens it.

import { StoreError } from '../error.ts';
import { fromDriver, PostgresRefusal, TRANSACTION_ABORTED, UnknownOutcome } from './error.ts';
import type { Session } from './session.ts';
import type { Reply } from './values.ts';

export type Transaction = {
  readonly session: Session;
  state: 'open' | 'ended' | 'undone';
  /** The statements that open it; sent with its first query. */
  readonly opening: readonly string[];
  opened: Promise<unknown> | undefined;
  /** Whether replies arrived, or will, after the last confirmation. */
  isUnconfirmed: boolean;
  /** Why PostgreSQL rejects its further statements. */
  failure: unknown;
};

/** Sends before it returns, after the opening statements. */
export function askWithin(
  transaction: Transaction,
  text: string,
  values: readonly unknown[],
): Promise<Reply> {
  open(transaction);
  transaction.isUnconfirmed = true;
  return ask(transaction, text, values);
}

/** Not awaited, so that what follows shares the round trip. */
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

/** Resolves once all replies so far are matched to their statements. */
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
 * Confirms a last time and commits, in one round trip. A single statement is its own transaction.
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

/** PostgreSQL's reply to every statement after a failed one; it names no cause. */
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
  const said = `The outcome of a commit is unknown. ${message}`;
  const unknown = new UnknownOutcome(code, said, { cause });
  session.end(unknown);
  return unknown;
}

/** A session that cannot be rolled back is not used again. */
export async function undo({ session, opened }: Transaction): Promise<void> {
  if (opened === undefined || !session.isOpen()) return;
  const [undone, checked] = await Promise.allSettled([session.query('rollback'), session.check()]);
  if (undone.status === 'rejected') session.end(fromDriver(undone.reason));
  else if (checked.status === 'rejected') session.end(fromDriver(checked.reason));
}
