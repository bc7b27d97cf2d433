// Wraps an attempt to enforce prepaid output: meters tokens, blocks uncovered ones, and delays the
// first chunk until the hold is durable. Checkpoints record what was delivered, so that it can be
// charged after a crash. The pipeline wraps every attempt; the route, the pump and a drain read it
// like any other.

import type { UpstreamFailure } from '../core/failure.ts';
import type { GenerationEvent, Usage } from '../core/generation.ts';
import { isReadOn, mayHideThinking } from '../core/hidden.ts';
import { NOTHING_UNSEEN, type Quiet, unseenTokens } from '../core/unseen.ts';
import type { Attempt, Batch } from '../upstream/attempt.ts';
import { textOf } from '../upstream/content.ts';
import type { StartTimer } from '../upstream/timer.ts';
import type { AttemptTimes } from '../upstream/watch.ts';
import { LEFT_OUT } from '../wire/upstream/limits.ts';
import type { Cover } from './funded-output.ts';
import { CUT_SHORT, Guard } from './guard.ts';
import { type MeterMark, OutputMeter } from './meter.ts';
import { createYield, pieces } from './pieces.ts';
import { QuietClock } from './quiet-clock.ts';

const CHECKPOINT_MS = 2_000;

/** How often the balance is asked for what an upstream makes unseen. */
const LOOK_MS = 1_000;

/** With the uncounted batch of the meter, about 256 tokens. */
const CHECKPOINT_TOKENS = 192;

/** Read behind a cut beyond twice the bound: tokenizers differ, and a report is worth some tokens. */
const READ_ON_TOKENS = 16_384;

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
  /** Whether the client sees thinking. Hidden thinking delivers nothing. */
  readonly showsReasoning: boolean;
  /** If other nodes may end the hold, the first content waits for its checkpoint. */
  readonly isAwaited: boolean;
  readonly checkpoint: (progress: Progress, isAwaited: boolean) => Promise<void>;
};

type MeterDependencies = {
  readonly permit: {
    /** Receives every batch as it arrived, before anything is held back. It must not throw. */
    readonly see: (batch: Batch) => void;
    /** Called when the gateway stops the upstream. It must not throw. */
    readonly end: (result: 'given_up') => void;
  };
  readonly grant: {
    readonly cover: Cover;
    /**
     * Undefined once the hold is durable; nothing is passed on before. Rejects if it cannot become
     * durable.
     */
    readonly untilHeld: () => Promise<void> | undefined;
  };
  readonly countNow: (text: string) => number;
  /** Whether a stream was requested; else the whole answer is made unseen. */
  readonly streams: boolean;
  /** Output tokens a second that the upstream makes unseen. */
  readonly pace: () => number;
  readonly startTimer: StartTimer;
  /** Milliseconds of a monotonic clock. */
  readonly monotonic: () => number;
  /** For a stream. Undefined for a whole answer, which is settled before it is delivered. */
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
  /** Delivered, and counted in all, at the last checkpoint. */
  #savedTokens = 0;
  #savedCount = 0;
  #savedAt = 0;
  #unread: OutputMeter | undefined;
  #isStopped = false;
  #isLate = false;
  #hasWorked = true;
  #endsEarly = false;
  #stopCovering: () => void = ignore;
  #isSilent = false;
  /** The time in which the upstream worked unseen; absent where it shows what it makes. */
  readonly #quiet: QuietClock | undefined;
  readonly #begunAt: number;

  constructor(attempt: Attempt, dependencies: MeterDependencies) {
    const { candidate } = attempt;
    this.candidate = candidate;
    this.credential = attempt.credential;
    this.startedAt = attempt.startedAt;
    this.meter = new OutputMeter(dependencies.countNow);
    this.#attempt = attempt;
    this.#dependencies = dependencies;
    const { cover } = dependencies.grant;
    const bound = candidate.maxOutputTokens;
    this.#guard = new Guard(this.meter, cover, bound, this, isReadOn(candidate));
    const { monotonic, streams } = dependencies;
    this.#begunAt = monotonic();
    const hides = !streams || mayHideThinking(candidate);
    this.#quiet = hides ? new QuietClock(monotonic, this.#begunAt) : undefined;
    if (hides && cover.canGrow() && !isReadOn(candidate)) this.#coverUnseen(dependencies.pace());
  }

  soFar(): ReturnType<NonNullable<Attempt['soFar']>> {
    return this.#attempt.soFar?.();
  }

  /** Milliseconds from the request until now. */
  workMs(): number {
    return this.#dependencies.monotonic() - this.#begunAt;
  }

  /** How long the upstream worked unseen until it was ended. */
  quiet(): Quiet {
    return this.#quiet?.total() ?? NOTHING_UNSEEN;
  }

  /** Whether it generated unseen until the timer of its first content ended it. */
  isSilent(): boolean {
    return this.#isSilent;
  }

  /** Whether the gateway ended the answer before its report: no report of it can come. */
  endsEarly(): boolean {
    return this.#endsEarly;
  }

  times(): AttemptTimes {
    return this.#attempt.times();
  }

  async next(): Promise<Batch> {
    this.#quiet?.wait();
    const read = await this.#attempt.next();
    if (read.end !== undefined) this.#stopCovering();
    this.#dependencies.permit.see(read);
    this.#quiet?.arrived(this.meter);
    if (read.end !== undefined && read.end !== 'finished') {
      this.#hasWorked = this.#isOurStop(read.end);
      this.#isSilent = this.#hasThought(read.end);
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
    const taken = this.#guard.take(batch);
    const passed = taken instanceof Promise ? await taken : taken;
    this.#quiet?.counted(this.meter);
    if (passed.end === 'finished') this.#endsEarly = read.stopped === true || this.#isStopped;
    const { beyond } = passed;
    const counted = beyond === undefined ? passed : await this.#readOn(passed, beyond);
    return this.#deliver(withoutLeftOut(counted), before);
  }

  abort(): void {
    this.#isStopped = true;
    this.#stopCovering();
    this.#dependencies.permit.end('given_up');
    this.#attempt.abort();
  }

  /** Whether the answer was cut because the balance could not cover more. */
  hasCut(): boolean {
    return this.#guard.hasCut();
  }

  /** Whether the answer ended because its time was over. */
  isLate(): boolean {
    return this.#isLate;
  }

  /** Our count of the text behind a cut; undefined unless the upstream was read on. */
  unread(): Usage | undefined {
    return this.#unread?.estimate(0);
  }

  droppedThinking(): boolean {
    return this.#attempt.droppedThinking?.() === true;
  }

  /** Whether the upstream received the request and did not fail by itself. */
  hasWorked(): boolean {
    return this.#hasWorked;
  }

  /**
   * Whether we stopped an upstream that had the request; without a connection it had not. Any other
   * failure class means that the upstream failed at the same time.
   */
  #isOurStop({ class: how, phase, status }: UpstreamFailure): boolean {
    return this.#isStopped && how === 'cut' && phase !== 'connect' && status === undefined;
  }

  /** Buys what the upstream makes unseen, and stops it where the balance is empty. */
  #coverUnseen(pace: number): void {
    const quiet = this.#quiet;
    if (quiet === undefined) return;
    const look = async (): Promise<void> => {
      if (!(await this.#guard.coverUnseen(unseenTokens(quiet.untilNow(), pace)))) this.abort();
      else if (!this.#isStopped) this.#stopCovering = this.#dependencies.startTimer(LOOK_MS, look);
    };
    this.#stopCovering = this.#dependencies.startTimer(LOOK_MS, look);
  }

  /** A timer ended an answer of which only the beginning had come, and thinking may be hidden. */
  #hasThought({ class: how, phase }: UpstreamFailure): boolean {
    if (how !== 'timeout' || phase !== 'first_content' || this.#quiet === undefined) return false;
    return this.meter.output() !== 'answer' && this.soFar()?.hasBegun() === true;
  }

  #deliver(batch: Batch, before: MeterMark | undefined): Batch | Promise<Batch> {
    const { delivery } = this.#dependencies;
    if (delivery === undefined) return this.#inTime(batch);
    if (this.#hasBegun) {
      if (batch.end === undefined) this.#save(delivery);
      return batch;
    }
    const output = this.meter.output();
    const isHidden = output === 'thinking' && !delivery.showsReasoning;
    return output === 'none' || isHidden ? batch : this.#begin(delivery, batch, before);
  }

  /**
   * A whole answer that outlasts the time of its request ends there, as at its bound: dropped, it
   * would cost its caller nothing, who decides how long it is.
   */
  #inTime(batch: Batch): Batch {
    const { events, end } = batch;
    const isLate = typeof end === 'object' && end.phase === 'total' && this.#hadTime();
    if (!isLate || this.meter.output() !== 'answer') return batch;
    this.#isLate = true;
    this.#endsEarly = true;
    this.meter.push(CUT_SHORT);
    return { events: [...events, CUT_SHORT], end: 'finished' };
  }

  /** Whether most of its time was its own: earlier attempts may have used the rest. */
  #hadTime(): boolean {
    const { model, upstream, timeouts } = this.candidate;
    const placed = model.servedBy.find((each) => each.upstream === upstream.id);
    return placed === undefined || 2 * timeouts.totalMs >= placed.timeouts.totalMs;
  }

  /** Marks the first delivered content; from here on there is something to charge. */
  #begin(delivery: Delivery, batch: Batch, before: MeterMark | undefined): Batch | Promise<Batch> {
    this.#hasBegun = true;
    this.#savedAt = this.#dependencies.monotonic();
    this.#savedCount = this.meter.counted();
    const progress = this.#progress(delivery);
    this.#savedTokens = progress.outputTokens;
    const written = delivery.checkpoint(progress, delivery.isAwaited);
    if (before === undefined) {
      written.catch(ignore);
      return batch;
    }
    return written.then(
      () => batch,
      () => {
        // If the database stays away, another node ends the hold by its checkpoints: without one
        // the answer would be free. The client does not receive it, so it is not charged.
        this.abort();
        this.meter.reset(before);
        return NOT_BOOKED;
      },
    );
  }

  /**
   * Counts output that is not passed on. Only the usage report among it belongs to the answer. An
   * upstream that ignores its bound is stopped, and has no report.
   */
  async #readOn(batch: Batch, beyond: readonly GenerationEvent[]): Promise<Batch> {
    this.#unread ??= new OutputMeter(this.#dependencies.countNow);
    const yieldAfter = createYield();
    for (const piece of beyond.flatMap(pieces)) {
      if (piece.kind === 'usage') this.meter.push(piece);
      else this.#unread.push(piece);
      await yieldAfter(textOf(piece).length);
    }
    const bound = this.candidate.maxOutputTokens;
    if (this.#unread.counted() > 2 * bound + READ_ON_TOKENS) this.abort();
    const { beyond: _, ...rest } = batch;
    return rest;
  }

  #save(delivery: Delivery): void {
    const nowMs = this.#dependencies.monotonic();
    const isSoon = nowMs - this.#savedAt < CHECKPOINT_MS;
    if (this.meter.counted() - this.#savedCount < CHECKPOINT_TOKENS && isSoon) return;
    const progress = this.#progress(delivery);
    this.#savedAt = nowMs;
    this.#savedCount = this.meter.counted();
    if (progress.outputTokens <= this.#savedTokens) return;
    this.#savedTokens = progress.outputTokens;
    // Only crash recovery needs it, and the ledger logs its own failures, so the answer does not
    // wait.
    delivery.checkpoint(progress, false).catch(ignore);
  }

  /** What the client has received. */
  #progress({ showsReasoning }: Delivery): Progress {
    const { outputTokens, reasoningTokens } = this.meter.estimate(0, showsReasoning);
    return { outputTokens, reasoningTokens };
  }
}

/** What is left out is metered like the rest, because the upstream was asked for it. */
function withoutLeftOut(batch: Batch): Batch {
  if (!batch.events.some(isLeftOut)) return batch;
  return { ...batch, events: batch.events.filter((event) => !isLeftOut(event)) };
}

function isLeftOut(event: GenerationEvent): boolean {
  return event.kind === 'tool-delta' && event.index === LEFT_OUT;
}

function ignore(): void {}
