// An attempt with everything that belongs to its money: a meter, the guard that passes on nothing
// unpaid, the hold that has to be on disk first, and the checkpoints of what is delivered, which a
// crash is charged by. The pipeline wraps each attempt in one; the route, the pump and a drain read it
// like any other.

import type { UpstreamFailure } from '../core/failure.ts';
import type { GenerationEvent, Usage } from '../core/generation.ts';
import { LedgerSilent, LedgerUnavailable } from '../ledger/error.ts';
import type { Attempt, Batch } from '../upstream/attempt.ts';
import { textOf } from '../upstream/content.ts';
import type { AttemptTimes } from '../upstream/watch.ts';
import type { Cover } from './funded-output.ts';
import { Guard } from './guard.ts';
import { type MeterMark, OutputMeter } from './meter.ts';
import { createYield, pieces } from './pieces.ts';

const CHECKPOINT_MS = 2_000;

/** With the batch that the meter has not counted yet, some 256 tokens. */
const CHECKPOINT_TOKENS = 192;

const NOT_BOOKED: Batch = {
  events: [],
  end: {
    class: 'gateway',
    detail: 'the ledger refused the first checkpoint of the answer',
  },
};

const NOT_HELD: Batch = {
  events: [],
  end: { class: 'gateway', detail: 'the ledger could not write the hold' },
};

export type Progress = { readonly outputTokens: number; readonly reasoningTokens: number };

export type Delivery = {
  /** Whether the client gets to see thinking; hidden thinking delivers nothing. */
  readonly showsReasoning: boolean;
  /** Where other nodes may end the hold, the first content waits for its checkpoint. */
  readonly isAwaited: boolean;
  readonly checkpoint: (progress: Progress, isAwaited: boolean) => Promise<void>;
};

type MeterDependencies = {
  readonly permit: {
    /** Takes every batch as it came, before anything of it is kept back. It must not throw. */
    readonly see: (batch: Batch) => void;
    /** Called when we stop the upstream. It must not throw. */
    readonly end: (result: 'given_up') => void;
  };
  readonly grant: {
    readonly cover: Cover;
    /** Undefined once the hold is on disk: nothing is passed on before. Rejects where it never will be. */
    readonly untilHeld: () => Promise<void> | undefined;
  };
  readonly countNow: (text: string) => number;
  /** Milliseconds, of a clock that never jumps. */
  readonly monotonic: () => number;
  /** Of a stream; undefined for a whole answer, which is settled before it is delivered. */
  readonly delivery: Delivery | undefined;
};

export class MeteredAttempt implements Attempt {
  readonly candidate: Attempt['candidate'];
  readonly credential: string;
  readonly startedAt: number;
  readonly meter: OutputMeter;
  readonly #attempt: Attempt;
  readonly #dependencies: MeterDependencies;
  readonly #guard: Guard;
  /** Whether content was delivered. */
  #hasBegun = false;
  #savedTokens = 0;
  #savedAt = 0;
  #unread: OutputMeter | undefined;
  #isStopped = false;
  #hasWorked = true;

  constructor(attempt: Attempt, dependencies: MeterDependencies) {
    const { candidate } = attempt;
    this.candidate = candidate;
    this.credential = attempt.credential;
    this.startedAt = attempt.startedAt;
    this.meter = new OutputMeter(dependencies.countNow);
    this.#attempt = attempt;
    this.#dependencies = dependencies;
    const { cover } = dependencies.grant;
    this.#guard = new Guard(this.meter, cover, candidate.maxOutputTokens, this);
  }

  times(): AttemptTimes {
    return this.#attempt.times();
  }

  async next(): Promise<Batch> {
    const read = await this.#attempt.next();
    this.#dependencies.permit.see(read);
    if (read.end !== undefined && read.end !== 'finished') {
      this.#hasWorked = this.#isOurStop(read.end);
    }
    const held = read.events.length === 0 ? undefined : this.#dependencies.grant.untilHeld();
    try {
      if (held !== undefined) await held;
    } catch {
      this.abort();
      return NOT_HELD;
    }
    const batch = read.beyond === undefined ? read : await this.#readOn(read, read.beyond);
    const isFirst = this.#dependencies.delivery?.isAwaited === true && !this.#hasBegun;
    const before = isFirst ? this.meter.mark() : undefined;
    const passed = this.#guard.take(batch);
    return this.#deliver(passed instanceof Promise ? await passed : passed, before);
  }

  abort(): void {
    this.#isStopped = true;
    this.#dependencies.permit.end('given_up');
    this.#attempt.abort();
  }

  /** Whether the answer was cut because the balance could not pay for more. */
  hasCut(): boolean {
    return this.#guard.hasCut();
  }

  /** Our count of what came behind a stop sequence; undefined where the upstream was not read on. */
  unread(): Usage | undefined {
    return this.#unread?.estimate(0);
  }

  /** Whether the upstream has got the request, and has not failed by itself. */
  hasWorked(): boolean {
    return this.#hasWorked;
  }

  /**
   * What we stopped had the request, unless it had no connection yet. Any other class than that of a
   * stop is a failure of its own, which came at the same time.
   */
  #isOurStop({ class: how, phase, status }: UpstreamFailure): boolean {
    return this.#isStopped && how === 'cut' && phase !== 'connect' && status === undefined;
  }

  #deliver(batch: Batch, before: MeterMark | undefined): Batch | Promise<Batch> {
    const { delivery } = this.#dependencies;
    if (delivery === undefined) return batch;
    if (this.#hasBegun) {
      if (batch.end === undefined) this.#save(delivery);
      return batch;
    }
    const output = this.meter.output();
    const isHidden = output === 'thinking' && !delivery.showsReasoning;
    return output === 'none' || isHidden ? batch : this.#begin(delivery, batch, before);
  }

  /** From the first delivered content on there is something to pay. */
  #begin(
    { checkpoint, isAwaited }: Delivery,
    batch: Batch,
    before: MeterMark | undefined,
  ): Batch | Promise<Batch> {
    this.#hasBegun = true;
    this.#savedAt = this.#dependencies.monotonic();
    const { outputTokens, reasoningTokens } = this.meter.estimate(0);
    this.#savedTokens = outputTokens;
    const written = checkpoint({ outputTokens, reasoningTokens }, isAwaited);
    if (before === undefined) {
      written.catch(ignore);
      return batch;
    }
    return written.then(
      () => batch,
      (error: unknown) => {
        // No node ends the hold while this one is not fenced: what runs goes on without its database.
        if (error instanceof LedgerUnavailable && !(error instanceof LedgerSilent)) return batch;
        this.abort();
        // The client does not get it, so it is not charged.
        this.meter.reset(before);
        return NOT_BOOKED;
      },
    );
  }

  /** What is not passed on is counted apart, and only its report belongs to the answer. */
  async #readOn(batch: Batch, beyond: readonly GenerationEvent[]): Promise<Batch> {
    this.#unread ??= new OutputMeter(this.#dependencies.countNow);
    const yieldAfter = createYield();
    for (const piece of beyond.flatMap(pieces)) {
      if (piece.kind === 'usage') this.meter.push(piece);
      else this.#unread.push(piece);
      await yieldAfter(textOf(piece).length);
    }
    const { beyond: _, ...rest } = batch;
    return rest;
  }

  #save({ checkpoint }: Delivery): void {
    const nowMs = this.#dependencies.monotonic();
    const isSoon = nowMs - this.#savedAt < CHECKPOINT_MS;
    if (this.meter.counted() - this.#savedTokens < CHECKPOINT_TOKENS && isSoon) return;
    const { outputTokens, reasoningTokens } = this.meter.estimate(0);
    this.#savedAt = nowMs;
    if (outputTokens <= this.#savedTokens) return;
    this.#savedTokens = outputTokens;
    // Only a crash would need it, and the ledger logs its own failures: no answer waits for it.
    checkpoint({ outputTokens, reasoningTokens }, false).catch(ignore);
  }
}

function ignore(): void {}
