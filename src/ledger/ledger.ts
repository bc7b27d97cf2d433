// The ledger: the only writer of money. Commands queue up, and all that came within one turn of
// the event loop share one transaction and so one sync to disk. No timers decide a batch.

import type { Database, Queries } from '../store/database.ts';
import { isStoreFailure } from '../store/error.ts';
import { balances } from '../store/tables.ts';
import { audit, type Difference } from './audit.ts';
import { createCommands, requireAmount } from './commands.ts';
import type {
  Balance,
  CreditCommand,
  CreditResult,
  HoldCommand,
  HoldResult,
  ReleaseCommand,
  SettleCommand,
  Settlement,
} from './contract.ts';
import { LedgerUnavailable } from './error.ts';
import { explain, type RequestStory } from './explain.ts';
import { prepareStatements } from './statements.ts';
import { prepareTokenCounts } from './tokens.ts';

/**
 * Every command answers when its transaction is on disk. A promise rejects with
 * `LedgerUnavailable` when the database failed, and with `LedgerRefusal` when the command cannot
 * be carried out (unknown account or request, an amount out of range); then nothing was changed.
 */
export type Ledger = {
  /** Reserves `amount`, or answers `ok: false` and reserves nothing. */
  readonly hold: (command: HoldCommand) => Promise<HoldResult>;
  /**
   * Ends the hold and takes the charge: from the hold, then from the available balance down to
   * zero; the rest is booked as the gateway's loss. Whichever of `settle` and `release` comes
   * first for a request counts: a later one changes nothing and answers what the first one took.
   * Where the database failed, the promise rejects, but the command is kept and tried again.
   */
  readonly settle: (command: SettleCommand) => Promise<Settlement>;
  /** Ends the hold without a charge; else like `settle`. */
  readonly release: (command: ReleaseCommand) => Promise<Settlement>;
  /** Adds money to an account, once by credit id. */
  readonly credit: (command: CreditCommand) => Promise<CreditResult>;
  /** Throws `LedgerRefusal` for an unknown account. */
  readonly balance: (accountId: string) => Balance;
  /** Gives a new account its balance of zero, inside the transaction that creates it. */
  readonly openBalance: (tx: Queries, accountId: string) => void;
  /** Input and output tokens of the requests that started at or after an instant. */
  readonly usageSince: (accountId: string, sinceMs: number) => number;
  /** Prompt and first slice of output of the requests that are under way. */
  readonly openHoldTokens: (accountId: string) => number;
  /** All that is known of one request, or `undefined` where nothing is. */
  readonly explain: (requestId: string) => RequestStory | undefined;
  /** Recomputes every balance and transfer; an empty list is a healthy ledger. */
  readonly audit: () => readonly Difference[];
  /** Commands that are not on disk yet, the ones that are tried again included. */
  readonly pending: () => number;
  /** Writes what is pending, once more, and stops trying. Answers how many commands are left. */
  readonly close: () => number;
};

export type LedgerOptions = {
  /** Open and migrated. */
  readonly database: Database;
  /** Told when a settle or release is kept for later, and when one had to be given up. */
  readonly onTrouble?: (trouble: LedgerTrouble) => void;
};

export type LedgerTrouble = {
  readonly kind: 'kept' | 'given_up';
  readonly requestId: string;
  readonly cause: unknown;
};

type Queued = {
  /** Does the work, and returns what tells the caller once it is on disk. */
  readonly apply: () => Answer;
  readonly reject: (cause: unknown) => void;
  /** Set on what must not be lost: a settle or a release. */
  readonly requestId: string | undefined;
};

type Answer = () => void;

/** Bounds how long one batch keeps the event loop. */
const BATCH_MAX = 256;
const RETRY_FIRST_MS = 100;
const RETRY_LAST_MS = 5_000;

export function createLedger({ database, onTrouble = () => undefined }: LedgerOptions): Ledger {
  const commands = createCommands(prepareStatements(database));
  const tokens = prepareTokenCounts(database.db);
  const queue: Queued[] = [];
  const kept: Queued[] = [];
  const unsynced: { readonly answer: Answer; readonly reject: Queued['reject'] }[] = [];
  let syncing = false;
  let retryTimer: Timer | undefined;
  let retryMs = RETRY_FIRST_MS;

  function submit<T>(work: () => T, requestId?: string): Promise<T> {
    return new Promise((resolve, reject) => {
      const apply = () => {
        const result = work();
        return () => resolve(result);
      };
      queue.push({ apply, reject, requestId });
      if (queue.length === 1) setImmediate(flush);
    });
  }

  function flush(): void {
    const batch = queue.splice(0, BATCH_MAX);
    if (queue.length > 0) setImmediate(flush);
    if (batch.length > 0) commit(batch);
  }

  function commit(batch: readonly Queued[]): void {
    let answers: Answer[];
    try {
      answers = database.transaction(() => batch.map((queued) => queued.apply()));
    } catch (cause) {
      commands.forget();
      if (isStoreFailure(cause)) failBatch(batch, cause);
      else if (batch.length > 1) for (const queued of batch) commit([queued]);
      else for (const queued of batch) refuse(queued, cause);
      return;
    }
    retryMs = RETRY_FIRST_MS;
    if (database.sync === undefined) for (const answer of answers) answer();
    else awaitDisk(database.sync, batch, answers);
  }

  /** One sync at a time: what is committed meanwhile shares the next one. */
  function awaitDisk(
    sync: () => Promise<void>,
    batch: readonly Queued[],
    answers: readonly Answer[],
  ): void {
    batch.forEach((queued, index) => {
      unsynced.push({ answer: answers[index] ?? (() => undefined), reject: queued.reject });
    });
    if (!syncing) void syncAll(sync);
  }

  async function syncAll(sync: () => Promise<void>): Promise<void> {
    syncing = true;
    while (unsynced.length > 0) {
      const batch = unsynced.splice(0);
      try {
        await sync();
        for (const { answer } of batch) answer();
      } catch (cause) {
        // It is committed, but nobody may be told so: a power cut could still undo it.
        const error = new LedgerUnavailable('The disk did not confirm a write.', { cause });
        for (const { reject } of batch) reject(error);
      }
    }
    syncing = false;
  }

  function refuse(queued: Queued, cause: unknown): void {
    queued.reject(cause);
    if (queued.requestId !== undefined) {
      onTrouble({ kind: 'given_up', requestId: queued.requestId, cause });
    }
  }

  function failBatch(batch: readonly Queued[], cause: unknown): void {
    const error = new LedgerUnavailable('The ledger could not be written.', { cause });
    for (const queued of batch) {
      queued.reject(error);
      if (queued.requestId === undefined) continue;
      kept.push(queued);
      onTrouble({ kind: 'kept', requestId: queued.requestId, cause });
    }
    if (kept.length > 0) retryLater();
  }

  function retryLater(): void {
    if (retryTimer !== undefined) return;
    retryTimer = setTimeout(retry, retryMs);
    retryMs = Math.min(retryMs * 2, RETRY_LAST_MS);
  }

  /** Puts what was kept back into the queue; its callers have been told already. */
  function retry(): void {
    retryTimer = undefined;
    queue.push(...kept.splice(0));
    flush();
  }

  return {
    async hold(command) {
      requireAmount(command.amount, 0n);
      return submit(() => commands.hold(command));
    },
    async settle(command) {
      requireAmount(command.charge, 0n);
      return submit(() => commands.settle(command), command.requestId);
    },
    async release(command) {
      return submit(() => commands.release(command), command.requestId);
    },
    async credit(command) {
      requireAmount(command.amount, 1n);
      return submit(() => commands.credit(command));
    },
    balance: commands.balance,
    openBalance(tx, accountId) {
      tx.insert(balances).values({ accountId, posted: 0n, held: 0n }).run();
    },
    usageSince: tokens.usageSince,
    openHoldTokens: tokens.openHoldTokens,
    explain: (requestId) => explain(database, requestId),
    audit: () => audit(database),
    pending: () => queue.length + kept.length + unsynced.length,
    close() {
      const last = [...kept.splice(0), ...queue.splice(0)];
      if (last.length > 0) commit(last);
      clearTimeout(retryTimer);
      retryTimer = undefined;
      return kept.length;
    },
  };
}
