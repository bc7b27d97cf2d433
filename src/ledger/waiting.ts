// One command between its caller and the answer, in the queue (`queue.ts`). A hold is answered twice: once
// it is decided, and once it is on disk. Also which commands the queue keeps until they are on disk,
// which may wait for a batch to join, and which it may refuse.

import { AMOUNT_MAX, micro, negate, ZERO } from '../core/money.ts';
import { requireAmount } from './commands.ts';
import type { HoldResult, LedgerRequest, Written } from './contract.ts';
import { LedgerUnavailable } from './error.ts';

export class WaitingCommand implements Written {
  readonly request: LedgerRequest;
  readonly askedAt: number;
  /** It has failed and is tried again; its caller waits. */
  kept = false;
  readonly #resolve: (result: unknown) => void;
  readonly #reject: (error: Error) => void;
  /** What a hold was answered, before it was on disk. */
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
   * The transaction of a hold has decided, and is on its way to the disk. A refusal is told once it is
   * there: what another node has written since may decide otherwise.
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
    this.#answer(result as HoldResult);
    if (this.#decided?.ok === (result as HoldResult).ok) {
      this.#end = 'written';
      this.#write?.resolve();
    } else this.reject(new LedgerUnavailable('The ledger has decided otherwise since.'));
  }

  reject(error: Error): void {
    this.#end = error;
    if (this.#decided === undefined) this.#reject(error);
    this.#write?.reject(error);
  }
}

/** The request whose end this is: such a command is kept until it is on disk. */
export function promisedFor({ name, command }: LedgerRequest): string | undefined {
  return name === 'settle' || name === 'release' ? command.requestId : undefined;
}

/** A crash before it is written costs the gateway what it would have said, and no customer. */
export function isUnhurried(
  request: LedgerRequest,
): request is Extract<LedgerRequest, { readonly name: 'checkpoint' }> {
  return request.name === 'checkpoint' && request.command.isAwaited !== true;
}

/** Whether it begins something that its caller can ask for again. */
export function isNew(request: LedgerRequest): boolean {
  return isRefusable(request) && request.name !== 'extend';
}

const REFUSABLE: ReadonlySet<LedgerRequest['name']> = new Set([
  'hold',
  'extend',
  'recover',
  'credit',
  'redeem',
]);

/** Whether it asks for something new; what belongs to a running request is always taken. */
export function isRefusable({ name }: LedgerRequest): boolean {
  return REFUSABLE.has(name);
}

/** Throws `LedgerRefusal` for an amount that no command takes. */
export function requireAmountOf({ name, command }: LedgerRequest): void {
  if (name === 'hold' || name === 'extend') requireAmount(command.amount, ZERO);
  if (name === 'settle') requireAmount(command.charge, ZERO);
  if (name !== 'credit') return;
  const least = command.kind === 'adjustment' ? negate(AMOUNT_MAX) : micro(1n);
  requireAmount(command.amount, least);
}
