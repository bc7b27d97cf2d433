// Turns commands into transactions: writes one batch at a time and answers its requests in order,
// once it is on disk. Runs with the ledger's connection: in the thread of a server (`thread.ts`),
// or in the process of a command or a test (`ledger.ts`).

import { createSerialize } from '../async/serialize.ts';
import type { Database } from '../store/contract.ts';
import { isSqlite } from '../store/database.ts';
import {
  isConflict,
  isDeadlock,
  isLockTimeout,
  isStatementTimeout,
  isStoreFailure,
  isUnknownOutcome,
} from '../store/error.ts';
import type { LedgerBatch } from './batch.ts';
import { perform } from './commands.ts';
import type { LedgerRequest } from './contract.ts';
import { LedgerSilent, LedgerUnavailable, type PackedError, packError } from './error.ts';
import { Changes, Memory } from './memory.ts';
import { Names } from './names.ts';
import { createPostgresTables } from './postgres-tables.ts';
import { createSqliteTables } from './sqlite-tables.ts';
import type { Tables } from './tables.ts';

export type { LedgerRequest } from './contract.ts';

/** The outcome of one request, as plain data. */
export type LedgerAnswer =
  | { readonly ok: true; readonly result: unknown }
  | { readonly ok: false; readonly error: PackedError };

/**
 * Calls `onDecided` with the answers as soon as the transaction has decided, before it is on disk,
 * and again after each retry. The result is on disk.
 */
export type Writer = (
  batch: readonly LedgerRequest[],
  onDecided?: (answers: readonly LedgerAnswer[]) => void,
) => Promise<readonly LedgerAnswer[]>;

/** Bounds how long one transaction blocks all others. */
export const BATCH_MAX = 256;

/** A commit of unknown outcome and a deadlock are resolved by writing again. */
const TRIES_MAX = 4;
const RETRY_MS = 100;

/**
 * A batch that waited too long for another node's lock is tried again until then. Its holds may
 * wait for five seconds, and one more try takes at most two.
 */
const LATE_RETRIES_MS = 3_000;

/** `database` is open and migrated. */
export function createWriter(database: Database): Writer {
  const names = new Names(database);
  const memory = new Memory();
  const tables: Tables = isSqlite(database)
    ? createSqliteTables(database)
    : createPostgresTables(database);

  async function write(
    batch: readonly LedgerRequest[],
    onDecided: ((answers: readonly LedgerAnswer[]) => void) | undefined,
  ): Promise<readonly LedgerAnswer[]> {
    await names.learn(batch);
    return database.concurrently(async () => {
      const facts = await tables.load(batch, memory, names);
      const changes = new Changes();
      const own = { memory, facts, names, changes };
      // A first budget starts with what its key had spent before this batch, so it comes first and
      // counts what the batch charges.
      const first = batch.filter(({ name }) => name === 'budget');
      const budgets = new Map(first.map((request) => [request, answerTo(own, request)]));
      const answers = batch.map((request) => budgets.get(request) ?? answerTo(own, request));
      await tables.write(changes, () => onDecided?.(answers));
      return answers;
    });
  }

  /** A request whose rows the database rejects fails alone; the others are written without it. */
  async function writeApart(batch: readonly LedgerRequest[]): Promise<readonly LedgerAnswer[]> {
    const answers: LedgerAnswer[] = [];
    for (const request of batch) {
      try {
        answers.push(...(await write([request], undefined)));
      } catch (cause) {
        memory.forget();
        if (isStoreFailure(cause))
          return [...answers, ...unavailable(batch.slice(answers.length), cause)];
        answers.push({ ok: false, error: packError(cause) });
      }
    }
    return answers;
  }

  /**
   * Repeating the commands reveals the outcome of a commit: each is booked once, by its id. Where
   * the retries fail, the outcome stays unknown.
   */
  async function writeSurely(
    batch: readonly LedgerRequest[],
    onDecided: ((answers: readonly LedgerAnswer[]) => void) | undefined,
  ): Promise<readonly LedgerAnswer[]> {
    let isWhole = true;
    let unknown: unknown;
    const lateAt = performance.now() + LATE_RETRIES_MS;
    for (let tries = 1; ; ) {
      try {
        return await (isWhole ? write(batch, onDecided) : writeApart(batch));
      } catch (cause) {
        memory.forget();
        if (isUnknownOutcome(cause)) unknown = cause;
        if (isWhole && !isStoreFailure(cause)) {
          // Such a failure is rare, so only its batch pays for separating the commands.
          isWhole = false;
          continue;
        }
        const isLate = isLockTimeout(cause) || isStatementTimeout(cause);
        const isWorthMore = isLate
          ? performance.now() < lateAt
          : isUnknownOutcome(cause) || isDeadlock(cause) || isConflict(cause);
        if (!isWorthMore || tries === TRIES_MAX) return unavailable(batch, unknown ?? cause);
        // The next try reads what another node has written.
        if (!isConflict(cause)) await Bun.sleep(tries * RETRY_MS);
        tries += 1;
      }
    }
  }

  /** Cached books belong to one batch at a time, until it is written or rolled back. */
  const inTurn = createSerialize();
  return (batch, onDecided) => inTurn(() => writeSurely(batch, onDecided));
}

function answerTo(batch: LedgerBatch, request: LedgerRequest): LedgerAnswer {
  try {
    return { ok: true, result: perform(batch, request) };
  } catch (cause) {
    return { ok: false, error: packError(cause) };
  }
}

function unavailable(batch: readonly LedgerRequest[], cause: unknown): readonly LedgerAnswer[] {
  const error = packError(
    isUnknownOutcome(cause)
      ? new LedgerSilent('It is unknown whether the ledger was written.', { cause })
      : new LedgerUnavailable('The ledger could not be written.', { cause }),
  );
  return batch.map(() => ({ ok: false, error }));
}
