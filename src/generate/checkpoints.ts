// Writes to the ledger how much of a stream was delivered, so that it can be charged after a crash.
// The metered attempt calls it once for each read.

import type { OutputMeter } from './meter.ts';

const CHECKPOINT_MS = 2_000;

/** With the uncounted batch of the meter, about 256 tokens. */
const CHECKPOINT_TOKENS = 192;

export type Progress = { readonly outputTokens: number; readonly reasoningTokens: number };

export type Delivery = {
  /** Whether the client sees thinking. Hidden thinking delivers nothing. */
  readonly showsReasoning: boolean;
  /** If other nodes may end the hold, the first content waits for its checkpoint. */
  readonly isAwaited: boolean;
  readonly checkpoint: (progress: Progress, isAwaited: boolean) => Promise<void>;
};

export class Checkpoints {
  readonly #delivery: Delivery;
  readonly #meter: OutputMeter;
  /** Milliseconds of a monotonic clock. */
  readonly #monotonic: () => number;
  #hasBegun = false;
  /** Delivered, and counted in all, at the last checkpoint. */
  #savedTokens = 0;
  #savedCount = 0;
  #savedAt = 0;

  constructor(delivery: Delivery, meter: OutputMeter, monotonic: () => number) {
    this.#delivery = delivery;
    this.#meter = meter;
    this.#monotonic = monotonic;
  }

  /** Whether content was delivered. */
  hasBegun(): boolean {
    return this.#hasBegun;
  }

  /** Whether the first content waits for its checkpoint. */
  isAwaited(): boolean {
    return this.#delivery.isAwaited && !this.#hasBegun;
  }

  /** Whether what has passed is anything that the client sees. */
  isDelivered(): boolean {
    const output = this.#meter.output();
    return output !== 'none' && (output !== 'thinking' || this.#delivery.showsReasoning);
  }

  /** Writes the first checkpoint. */
  begin(): Promise<void> {
    this.#hasBegun = true;
    this.#savedAt = this.#monotonic();
    this.#savedCount = this.#meter.counted();
    const progress = this.#progress();
    this.#savedTokens = progress.outputTokens;
    return this.#delivery.checkpoint(progress, this.#delivery.isAwaited);
  }

  /** Writes another one if enough has passed. */
  save(): void {
    const nowMs = this.#monotonic();
    const isSoon = nowMs - this.#savedAt < CHECKPOINT_MS;
    if (this.#meter.counted() - this.#savedCount < CHECKPOINT_TOKENS && isSoon) return;
    const progress = this.#progress();
    this.#savedAt = nowMs;
    this.#savedCount = this.#meter.counted();
    if (progress.outputTokens <= this.#savedTokens) return;
    this.#savedTokens = progress.outputTokens;
    // Only crash recovery needs it, and the ledger logs its own failures, so the answer does not
    // wait.
    this.#delivery.checkpoint(progress, false).catch(ignore);
  }

  /** What the client has received. */
  #progress(): Progress {
    const { outputTokens, reasoningTokens } = this.#meter.estimate(
      0,
      this.#delivery.showsReasoning,
    );
    return { outputTokens, reasoningTokens };
  }
}

function ignore(): void {}
