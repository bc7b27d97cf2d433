// How much output a request's hold covers, and how the hold grows by slices. The grant creates it
// and the output guard calls it. A slice is never returned before the request ends.

import { add, type Micro, smaller, subtract, type Tokens, tokenCount } from '../core/money.ts';
import { affordableOutput, coverAmount, type Price, SLICE_TOKENS } from '../core/price.ts';
import type { Ledger } from '../ledger/contract.ts';

/**
 * Concurrent requests of one account may take the remaining balance between two attempts to extend.
 */
const TRIES_MAX = 8;

export type Growth = 'grown' | 'refused' | 'failed';

type CoverOptions = {
  readonly ledger: Pick<Ledger, 'extend'>;
  readonly requestId: string;
  readonly price: Price;
  readonly promptTokens: Tokens;
  /** The amount currently held. */
  readonly amount: Micro;
  /** The most that the prompt may cost beyond its estimate. */
  readonly excess: Micro;
  readonly outputBound: Tokens;
  readonly lowered: boolean;
};

export class Cover {
  /** The bound on generated tokens. A fallback may have a lower one of its own. */
  readonly outputBound: Tokens;
  /** Whether the balance lowered the bound below what was requested. */
  readonly lowered: boolean;
  readonly #options: CoverOptions;
  #held: Micro;
  #bought: Tokens;

  constructor(options: CoverOptions) {
    this.#options = options;
    this.outputBound = options.outputBound;
    this.lowered = options.lowered;
    this.#held = options.amount;
    this.#bought = this.#payable(options.amount);
  }

  /** The amount currently held. */
  held(): Micro {
    return this.#held;
  }

  /** Output tokens covered by the hold. */
  tokens(): Tokens {
    return this.#bought;
  }

  /** Whether another slice could be bought. */
  canGrow(): boolean {
    return this.#bought < this.outputBound;
  }

  /**
   * Buys the next slice, or as much of it as the balance covers. Returns `failed` if the ledger
   * could not answer. Calls must not overlap.
   */
  grow(): Promise<Growth> {
    return this.#buy().catch(() => 'failed' as const);
  }

  #payable(amount: Micro): Tokens {
    const { promptTokens, price } = this.#options;
    return smaller(this.outputBound, affordableOutput(amount, promptTokens, price));
  }

  async #buy(): Promise<Growth> {
    const { ledger, requestId, price, promptTokens, excess } = this.#options;
    let target = smaller(this.outputBound, tokenCount(this.#bought + SLICE_TOKENS));
    for (let tries = 0; tries < TRIES_MAX && target > this.#bought; tries += 1) {
      const amount = coverAmount(promptTokens, target, price);
      const { ok, available, uncovered, budget } = await ledger.extend({
        requestId,
        amount,
        excess,
      });
      if (ok) {
        this.#held = amount;
        this.#bought = target;
        return 'grown';
      }
      const least = budget !== undefined && 'room' in budget ? budget.room : uncovered?.room;
      const room = least === undefined ? available : subtract(least, add(excess, this.#held));
      target = smaller(target, this.#payable(add(this.#held, smaller(room, available))));
    }
    return 'refused';
  }
}
