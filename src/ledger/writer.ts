// Where commands become transactions: takes a batch and answers each of its requests, in order, once
// the batch is on disk; one batch after the other. Runs wherever the ledger's connection is: in the
// thread of a server (`thread.ts`), or in the process of a command or a test (`ledger.ts`).

import { createSerialize } from '../async/serialize.ts';
import type { Database } from '../store/contract.ts';
import { isConflict, isDeadlock, isStoreFailure, isUnknownOutcome } from '../store/error.ts';
import { perform } from './commands.ts';
import type { LedgerRequest } from './contract.ts';
import { LedgerSilent, LedgerUnavailable, type PackedError, packError } from './error.ts';
import { Changes, Memory } from './memory.ts';
import { Names } from './names.ts';
import { createPostgresTables } from './postgres-tables.ts';
import { createSqliteTables } from './sqlite-tables.ts';
import type { Tables } from './tables.ts';

export type { LedgerRequest } from './contract.ts';

/** What became of one request, as plain data. */
export type LedgerAnswer =
  | { readonly ok: true; readonly result: unknown }
  | { readonly ok: false; readonly error: PackedError };

/**
 * `onDecided` is called with the answers as soon as the transaction has decided, before it is on disk;
 * once more where it had to be tried again. What is returned is on disk.
 */
export type Writer = (
  batch: readonly LedgerRequest[],
  onDecided?: (answers: readonly LedgerAnswer[]) => void,
) => Promise<readonly LedgerAnswer[]>;

/** Bounds how long one transaction keeps all others waiting. */
export const BATCH_MAX = 256;

/** A commit of unknown outcome, and a deadlock, are resolved by writing once more. */
const TRIES_MAX = 4;
const RETRY_MS = 100;

/** `database` is open and migrated. */
export function createWriter(database: Database): Writer {
  const names = new Names(database);
  const memory = new Memory();
  const tables: Tables =
    database.isolation === 'row locks'
      ? createPostgresTables(database)
      : createSqliteTables(database);

  async function write(
    batch: readonly LedgerRequest[],
    onDecided: ((answers: readonly LedgerAnswer[]) => void) | undefined,
  ): Promise<readonly LedgerAnswer[]> {
    await names.learn(batch);
    return database.concurrently(async () => {
      const facts = await tables.load(batch, memory, names);
      const changes = new Changes();
      const own = { memory, facts, names, changes };
      const answers = batch.map((request): LedgerAnswer => {
        try {
          return { ok: true, result: perform(own, request) };
        } catch (cause) {
          return { ok: false, error: packError(cause) };
        }
      });
      await tables.write(changes, () => onDecided?.(answers));
      return answers;
    });
  }

  /** One whose rows the tables refuse is answered with that; the others are written without it. */
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
   * The same commands again say what became of a commit: each is booked once, by its id. Where that
   * cannot be found out, it stays unknown, also where a later try fails.
   */
  async function writeSurely(
    batch: readonly LedgerRequest[],
    onDecided: ((answers: readonly LedgerAnswer[]) => void) | undefined,
  ): Promise<readonly LedgerAnswer[]> {
    let isWhole = true;
    let unknown: unknown;
    for (let tries = 1; ; ) {
      try {
        return await (isWhole ? write(batch, onDecided) : writeApart(batch));
      } catch (cause) {
        memory.forget();
        if (isUnknownOutcome(cause)) unknown = cause;
        if (isWhole && !isStoreFailure(cause)) {
          // Such a failure is rare, so only a batch that has one pays for keeping its commands apart.
          isWhole = false;
          continue;
        }
        const isWorthMore = isUnknownOutcome(cause) || isDeadlock(cause) || isConflict(cause);
        if (!isWorthMore || tries === TRIES_MAX) return unavailable(batch, unknown ?? cause);
        // What another node has written is read with the next try.
        if (!isConflict(cause)) await Bun.sleep(tries * RETRY_MS);
        tries += 1;
      }
    }
  }

  /** What is known of the books belongs to one batch at a time, until it is written or undone. */
  const inTurn = createSerialize();
  return (batch, onDecided) => inTurn(() => writeSurely(batch, onDecided));
}

function unavailable(batch: readonly LedgerRequest[], cause: unknown): readonly LedgerAnswer[] {
  const error = packError(
    isUnknownOutcome(cause)
      ? new LedgerSilent('The database has not said whether the ledger was written.', { cause })
      : new LedgerUnavailable('The ledger could not be written.', { cause }),
  );
  return batch.map(() => ({ ok: false, error }));
}
