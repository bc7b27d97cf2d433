// One command between its caller and the answer, in the queue (`queue.ts`). A hold is answered
// twice: when it is decided and when it is on disk. Also defines which commands are kept until they
// are on disk, which may wait for a batch, and which may be rejected.

import { AMOUNT_MAX, type Micro, micro, negate, smaller, ZERO } from '../core/money.ts';
import { requireAmount } from './commands.ts';
import type { HoldCommand, HoldResult, LedgerRequest, Written } from './contract.ts';
import { HoldRevoked } from './error.ts';

export type LedgerTrouble = {
  /**
   * A settle or release: kept for a retry, or dropped because the ledger rejects it. Or another
   * command, refused as the first in an outage.
   */
  readonly kind: 'kept' | 'given_up' | 'refused';
  readonly requestId: string;
  readonly cause: unknown;
};

export class WaitingCommand implements Written {
  readonly request: LedgerRequest;
  readonly askedAt: number;
  /** It failed and is being retried; its caller waits. */
  kept = false;
  readonly #resolve: (result: unknown) => void;
  readonly #reject: (error: Error) => void;
  /** The answer to a hold before it was on disk. */
  #decided: HoldResult | undefined;
  /** Whether it is on disk, or why not. */
  #end: 'written' | Error | undefined;
  #write: PromiseWithResolvers<void> | undefined;

  constructor(
    request: LedgerRequest,
    resolve: (result: unknown) => void,
    reject: (error: Error) => void,
  ) {
    this.request = request;
    this.askedAt = performance.now();
    this.#resolve = resolve;
    this.#reject = reject;
  }

  isDone(): boolean {
    return this.#end === 'written';
  }

  wait(): Promise<void> {
    if (this.#end === 'written') return Promise.resolve();
    if (this.#end !== undefined) return Promise.reject(this.#end);
    this.#write ??= Promise.withResolvers();
    return this.#write.promise;
  }

  /**
   * The transaction of a hold has decided, and is being written. A refusal is final only on disk:
   * after a conflict with another node, the retry may decide otherwise.
   */
  decide(result: unknown): void {
    if (this.request.name === 'hold' && (result as HoldResult).ok)
      this.#answer(result as HoldResult);
  }

  #answer(result: HoldResult): void {
    if (this.#decided !== undefined) return;
    this.#decided = result;
    this.#resolve({ ...result, written: this });
  }

  resolve(result: unknown): void {
    if (this.request.name !== 'hold') {
      this.#resolve(result);
      return;
    }
    const final = result as HoldResult;
    this.#answer(final);
    if (this.#isRevoked(this.request.command, final)) {
      this.reject(new HoldRevoked(final));
      return;
    }
    this.#end = 'written';
    this.#write?.resolve();
  }

  /** The money beyond a hold bounds the hidden output that its upstream has been asked for. */
  #isRevoked({ hidden = ZERO }: HoldCommand, final: HoldResult): boolean {
    const early = this.#decided;
    if (early?.ok !== true) return false;
    return !final.ok || beyond(final) < smaller(beyond(early), hidden);
  }

  reject(error: Error): void {
    this.#end = error;
    if (this.#decided === undefined) this.#reject(error);
    this.#write?.reject(error);
  }
}

/** What a hold leaves of the balance, and of its key's budget where it has one. */
function beyond({ available, budget }: HoldResult): Micro {
  return budget !== undefined && 'left' in budget ? smaller(available, budget.left) : available;
}

/** The request that this command ends: such a command is kept until it is on disk. */
export function promisedFor({ name, command }: LedgerRequest): string | undefined {
  return name === 'settle' || name === 'release' ? command.requestId : undefined;
}

/** If it is lost in a crash, the gateway bears the cost, and no customer does. */
export function isUnhurried(
  request: LedgerRequest,
): request is Extract<LedgerRequest, { readonly name: 'checkpoint' }> {
  return request.name === 'checkpoint' && request.command.isAwaited !== true;
}

/** Whether it begins something that its caller can retry. */
export function isNew(request: LedgerRequest): boolean {
  return isRefusable(request) && request.name !== 'extend';
}

const REFUSABLE: ReadonlySet<LedgerRequest['name']> = new Set([
  'hold',
  'extend',
  'recover',
  'credit',
  'redeem',
  'budget',
]);

/** Whether it may be rejected because the queue is full; commands of a running request may not. */
export function isRefusable({ name }: LedgerRequest): boolean {
  return REFUSABLE.has(name);
}

/** Throws `LedgerRefusal` for an invalid amount. */
export function requireAmountOf({ name, command }: LedgerRequest): void {
  if (name === 'hold' || name === 'extend') requireAmount(command.amount, ZERO);
  if (name === 'settle') requireAmount(command.charge, ZERO);
  if (name !== 'credit') return;
  const least = command.kind === 'adjustment' ? negate(AMOUNT_MAX) : micro(1n);
  requireAmount(command.amount, least);
}

/** Whether the failure of a promised command is known, or says that there was no hold to release. */
export function isExpected({ kept, request }: WaitingCommand, unavailable: boolean): boolean {
  if (unavailable) return kept;
  return request.name === 'release' && request.command.isUnconfirmed === true;
}
