// How much output the hold of a request pays for, and how it grows by slices. The grant makes it,
// the guard of an answer asks it. What has been bought is never given back before the request ends.

import { add, type Micro, smaller, subtract, type Tokens, tokenCount } from '../core/money.ts';
import { affordableOutput, coverAmount, type Price, SLICE_TOKENS } from '../core/price.ts';
import type { Ledger } from '../ledger/contract.ts';

/** Requests of one account may take what is left from each other between two tries. */
const TRIES_MAX = 8;

export type Growth = 'grown' | 'refused' | 'failed';

type CoverOptions = {
  readonly ledger: Pick<Ledger, 'extend'>;
  readonly requestId: string;
  readonly price: Price;
  readonly promptTokens: Tokens;
  /** What is held. */
  readonly amount: Micro;
  /** What the prompt may cost beyond its estimate. */
  readonly excess: Micro;
  readonly outputBound: Tokens;
  readonly lowered: boolean;
};

export class Cover {
  /** The bound on generated tokens. A fallback may have been given a lower one of its own. */
  readonly outputBound: Tokens;
  /** Whether that bound is what the balance could pay, and not what was asked for. */
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

  /** What is held by now. */
  held(): Micro {
    return this.#held;
  }

  /** Output tokens that are paid for. */
  tokens(): Tokens {
    return this.#bought;
  }

  /** Whether more could be bought. */
  canGrow(): boolean {
    return this.#bought < this.outputBound;
  }

  /**
   * Buys the next slice, or what the balance pays of it. `failed` where the ledger could not
   * answer. One call at a time.
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
      const { ok, available, uncovered } = await ledger.extend({ requestId, amount, excess });
      if (ok) {
        this.#held = amount;
        this.#bought = target;
        return 'grown';
      }
      const room =
        uncovered === undefined ? available : subtract(uncovered.room, add(excess, this.#held));
      target = smaller(target, this.#payable(add(this.#held, smaller(room, available))));
    }
    return 'refused';
  }
}
