// How much output the hold of a request pays for, and how it grows by slices. The grant makes it,
// the guard of an answer asks it. What has been bought is never given back before the request ends.

import { add, type Micro, smaller, subtract, type Tokens, tokenCount } from '../core/money.ts';
import { affordableOutput, coverAmount, type Price, SLICE_TOKENS } from '../core/price.ts';
import type { Ledger } from '../ledger/contract.ts';

/** Requests of one account may take what is left from each other between two tries. */
const TRIES_MAX = 8;

export type Growth = 'grown' | 'refused' | 'failed';

export type Cover = ReturnType<typeof createCover>;

/** `amount` is what is held. */
export function createCover(options: {
  readonly ledger: Pick<Ledger, 'extend'>;
  readonly requestId: string;
  readonly price: Price;
  readonly promptTokens: Tokens;
  readonly amount: Micro;
  /** What the prompt may cost beyond its estimate. */
  readonly excess: Micro;
  readonly outputBound: Tokens;
  readonly lowered: boolean;
}) {
  const { ledger, requestId, price, promptTokens, excess, outputBound, lowered } = options;
  let held = options.amount;
  const payable = (amount: Micro): Tokens =>
    smaller(outputBound, affordableOutput(amount, promptTokens, price));
  let bought = payable(held);

  const buy = async (): Promise<Growth> => {
    let target = smaller(outputBound, tokenCount(bought + SLICE_TOKENS));
    for (let tries = 0; tries < TRIES_MAX && target > bought; tries += 1) {
      const amount = coverAmount(promptTokens, target, price);
      const { ok, available, uncovered } = await ledger.extend({ requestId, amount, excess });
      if (ok) {
        held = amount;
        bought = target;
        return 'grown';
      }
      const room =
        uncovered === undefined ? available : subtract(uncovered.room, add(excess, held));
      target = smaller(target, payable(add(held, smaller(room, available))));
    }
    return 'refused';
  };

  return {
    /** The bound on generated tokens. A fallback may have been given a lower one of its own. */
    outputBound,
    /** Whether that bound is what the balance could pay, and not what was asked for. */
    lowered,
    /** What is held by now. */
    held: (): Micro => held,
    /** Output tokens that are paid for. */
    tokens: (): Tokens => bought,
    /** Whether more could be bought. */
    canGrow: (): boolean => bought < outputBound,
    /**
     * Buys the next slice, or what the balance pays of it. `failed` where the ledger could not
     * answer. One call at a time.
     */
    grow: (): Promise<Growth> => buy().catch(() => 'failed' as const),
  };
}
