// What each command does, inside the transaction of its batch: complete or thrown, one after another.
// A `LedgerRefusal` is thrown before anything is written; after any other error the transaction must
// be undone. The ledger calls these and nobody else; there is no other writer of money.

import { assert } from '../core/assert.ts';
import { exposureRoom } from '../core/exposure.ts';
import {
  AMOUNT_MAX,
  add,
  larger,
  type Micro,
  negate,
  smaller,
  subtract,
  ZERO,
} from '../core/money.ts';
import type { Database } from '../store/contract.ts';
import { isStoreFailure } from '../store/error.ts';
import type { BatchFacts } from './batch-facts.ts';
import type {
  CheckpointCommand,
  ExtendCommand,
  HoldCommand,
  HoldResult,
  Ledger,
  LedgerRequest,
} from './contract.ts';
import { createCredits } from './credits.ts';
import { createEndHold } from './end-hold.ts';
import { LedgerRefusal } from './error.ts';
import type { Hold } from './hold-statements.ts';
import { createOpenHolds } from './open-holds.ts';
import { createPrices, type PriceUse } from './prices.ts';
import { createReceipts } from './receipts.ts';
import { createRecover } from './recover.ts';
import type { Statements } from './statements.ts';

export type Commands = Omit<Ledger, 'hold' | 'pending' | 'close'> & {
  readonly hold: (command: HoldCommand) => Promise<HoldResult>;
  /**
   * At the beginning of each transaction, inside it: somebody else may have written since. `facts`
   * are what was read under its locks, where there are locks.
   */
  readonly begin: (facts: BatchFacts | undefined) => void;
  /**
   * Writes down the prices that a batch is about to use for the first time: in one order for all
   * nodes, and before anything else that another one may wait for.
   */
  readonly announce: (batch: readonly LedgerRequest[]) => Promise<void>;
  /** After a rollback: what was written may be gone, so nothing counts as known any more. */
  readonly forget: () => void;
};

/** `savepoint` undoes what is written inside it when that throws. */
export function createCommands(statements: Statements, savepoint: Database['savepoint']): Commands {
  const prices = createPrices(statements);
  const receipts = createReceipts(statements);
  const openHolds = createOpenHolds(statements);
  const endHold = createEndHold({
    statements,
    prices,
    openHolds,
    appendReceipt: receipts.append,
  });
  let commits: number | undefined;

  /** What is known is what this writer has written, for as long as nobody else has. */
  function begin(facts: BatchFacts | undefined): void {
    const now = statements.foreignCommits();
    if (now === undefined || now !== commits) {
      // What a version of prices means stays as it is, whoever wrote it down.
      receipts.forget();
      openHolds.forget();
    }
    commits = now;
    facts?.lastReceipts.forEach((last, accountId) => {
      receipts.know(accountId, last);
    });
    facts?.worst.forEach((worst, accountId) => {
      openHolds.listed(accountId, worst);
    });
    facts?.openHolds.forEach((hold, requestId) => {
      openHolds.opened(requestId, hold);
    });
  }

  async function hold(command: HoldCommand): Promise<HoldResult> {
    const { requestId, accountId, amount, excess = ZERO, hidden = ZERO } = command;
    const left = await reserve(command, accountId, amount, (available) =>
      worstCase(amount, add(excess, smaller(hidden, available))),
    );
    if (!left.ok) return (await firstHold(command)) ?? left;
    const { worst, ...result } = left;
    const opened = newHold(command, worst);
    if (await statements.insertHold(opened)) {
      openHolds.opened(requestId, opened);
      await prices.remember(command);
      return result;
    }
    await statements.reserve(accountId, negate(amount));
    const first = await firstHold(command);
    assert(first !== undefined, `the hold of ${requestId} is there`);
    return first;
  }

  /**
   * Reserves `more` for a request, where the balance covers it and the other open holds of the
   * account leave room for its worst case, which depends on what is available then; else nothing.
   */
  async function reserve(
    { requestId }: { readonly requestId: string },
    accountId: string,
    more: Micro,
    worstAt: (available: Micro) => Micro,
  ): Promise<Reserved> {
    const left = await statements.reserve(accountId, more);
    if (left === undefined) {
      return { ok: false, available: (await statements.balance(accountId)).available };
    }
    const others = await openHolds.exposure(accountId, requestId);
    const room = exposureRoom(left, others);
    const worst = worstAt(left.available);
    if (room === undefined || worst <= room) return { ok: true, available: left.available, worst };
    await statements.reserve(accountId, negate(more));
    const available = add(left.available, more);
    return { ok: false, available, uncovered: { room, openHolds: others.count } };
  }

  /** The answer to a hold that is given once more; nothing is reserved for it again. */
  async function firstHold(command: HoldCommand): Promise<HoldResult | undefined> {
    const found = await statements.findHold(command.requestId);
    if (found === undefined) return undefined;
    if (found.endedAt !== null) throw new LedgerRefusal('This request has ended already.');
    if (!isRepeated(command, found)) {
      throw new LedgerRefusal('This request id was used before, for another hold.');
    }
    return { ok: true, available: (await statements.balance(found.accountId)).available };
  }

  async function checkpoint({ served, ...progress }: CheckpointCommand): Promise<void> {
    const { model, upstream, price } = served;
    await prices.remember({ ...served, nowMs: progress.nowMs });
    const isOpen = await statements.checkpointHold({
      ...progress,
      upstream,
      modelServed: model,
      priceVersionServed: price.version,
    });
    if (!isOpen) throw new LedgerRefusal('There is no open hold with this request id.');
  }

  async function extend(command: ExtendCommand): Promise<HoldResult> {
    const { requestId, amount } = command;
    const open = await openHolds.find(requestId);
    if (open === undefined) throw new LedgerRefusal('There is no open hold with this request id.');
    const { accountId } = open;
    const more = subtract(amount, open.amount);
    if (more <= 0n) {
      return { ok: true, available: (await statements.balance(accountId)).available };
    }
    const { excess = ZERO } = command;
    const left = await reserve(command, accountId, more, () =>
      larger(open.worst, worstCase(amount, excess)),
    );
    if (!left.ok) return left;
    const { worst, ...result } = left;
    await statements.raiseHold(requestId, amount, worst);
    openHolds.opened(requestId, { ...open, amount, worst });
    return result;
  }

  function forget(): void {
    prices.forget();
    receipts.forget();
    openHolds.forget();
  }

  /** What `work` wrote is undone where the books contradict it; a database that fails is one. */
  async function attempt<T>(work: () => Promise<T>): Promise<T | undefined> {
    try {
      return await savepoint(work);
    } catch (cause) {
      forget();
      if (isStoreFailure(cause)) throw cause;
      return undefined;
    }
  }

  return {
    hold,
    extend,
    checkpoint,
    settle: (command) => endHold(command, command.charge, 'settled'),
    release: (command) => endHold(command, ZERO, 'released'),
    recover: createRecover({ statements, prices, endHold, attempt }),
    ...createCredits({ statements, appendReceipt: receipts.append }),
    begin,
    announce: (batch) => prices.announce(batch.flatMap(pricesOf)),
    forget,
  };
}

/** The price that a command names. */
function pricesOf({ command }: LedgerRequest): PriceUse[] {
  if ('price' in command) return [command];
  if (!('served' in command) || command.served === undefined) return [];
  return [{ ...command.served, nowMs: command.nowMs }];
}

function newHold(command: HoldCommand, worst: Micro): Hold {
  return {
    requestId: command.requestId,
    accountId: command.accountId,
    keyId: command.keyId,
    format: command.format,
    stream: command.stream,
    endUser: command.endUser ?? null,
    model: command.model,
    priceVersion: command.price.version,
    amount: command.amount,
    worst,
    promptTokens: command.promptTokens,
    outputBound: command.outputBound,
    phase: 'held',
    upstream: null,
    modelServed: null,
    priceVersionServed: null,
    outputTokens: 0,
    reasoningTokens: 0,
    createdAt: command.nowMs,
    dispatchedAt: null,
    checkpointAt: null,
    endedAt: null,
    boot: command.boot ?? '',
  };
}

type Reserved =
  | (HoldResult & { readonly ok: true; readonly worst: Micro })
  | (HoldResult & { readonly ok: false });

function worstCase(amount: Micro, beyond: Micro): Micro {
  return larger(amount, smaller(add(amount, beyond), AMOUNT_MAX));
}

/** The first hold may have grown since; everything else is as it was. */
function isRepeated(command: HoldCommand, found: Hold): boolean {
  return (
    found.accountId === command.accountId &&
    found.keyId === command.keyId &&
    found.model === command.model &&
    found.priceVersion === command.price.version &&
    found.amount >= command.amount &&
    found.promptTokens === command.promptTokens &&
    found.outputBound === command.outputBound &&
    found.createdAt === command.nowMs
  );
}

/** Refuses an amount that no caller may ask for, before it is queued. */
export function requireAmount(amount: Micro, least: Micro): void {
  if (amount >= least && amount <= AMOUNT_MAX) return;
  throw new LedgerRefusal('The amount is outside what the ledger accepts.');
}
