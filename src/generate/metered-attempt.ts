// Wraps an attempt to enforce prepaid output: meters tokens, blocks uncovered ones, and delays the
// first chunk until the hold is durable. Checkpoints record what was delivered, so that it can be
// charged after a crash. The pipeline wraps every attempt; the route, the pump and a drain read it
// like any other.

import type { UpstreamFailure } from '../core/failure.ts';
import type { GenerationEvent, Usage } from '../core/generation.ts';
import { isReadOn, mayHideThinking } from '../core/hidden.ts';
import type { Learned } from '../core/learned.ts';
import { NOTHING_UNSEEN, type Quiet } from '../core/unseen.ts';
import type { Attempt, Batch } from '../upstream/attempt.ts';
import { textOf } from '../upstream/content.ts';
import type { StartTimer } from '../upstream/timer.ts';
import type { AttemptTimes } from '../upstream/watch.ts';
import { LEFT_OUT } from '../wire/upstream/limits.ts';
import { Checkpoints, type Delivery } from './checkpoints.ts';
import type { Cover } from './funded-output.ts';
import { CUT_SHORT, Guard } from './guard.ts';
import { type MeterMark, OutputMeter } from './meter.ts';
import { createYield, pieces } from './pieces.ts';
import { UnseenWork } from './unseen-work.ts';

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
  readonly learned: Pick<Learned, 'pace'>;
  readonly accountId: string;
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
  /** Of a stream. */
  readonly #checkpoints: Checkpoints | undefined;
  #unread: OutputMeter | undefined;
  #isStopped = false;
  #isLate = false;
  #hasWorked = true;
  #endsEarly = false;
  #isSilent = false;
  /** What the upstream makes unseen; absent where it shows everything. */
  readonly #unseen: UnseenWork | undefined;
  readonly #begunAt: number;

  constructor(attempt: Attempt, dependencies: MeterDependencies) {
    const { candidate } = attempt;
    this.candidate = candidate;
    this.credential = attempt.credential;
    this.startedAt = attempt.startedAt;
    this.meter = new OutputMeter(dependencies.countNow);
    const { delivery, monotonic } = dependencies;
    this.#checkpoints = delivery && new Checkpoints(delivery, this.meter, monotonic);
    this.#attempt = attempt;
    this.#dependencies = dependencies;
    const { cover } = dependencies.grant;
    const bound = candidate.maxOutputTokens;
    this.#guard = new Guard(this.meter, cover, bound, this, isReadOn(candidate));
    this.#begunAt = dependencies.monotonic();
    const hides = !dependencies.streams || mayHideThinking(candidate);
    this.#unseen = hides ? this.#watchUnseen() : undefined;
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
    return this.#unseen?.total() ?? NOTHING_UNSEEN;
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
    this.#unseen?.wait();
    const read = await this.#attempt.next();
    if (read.end !== undefined) this.#unseen?.stop();
    this.#dependencies.permit.see(read);
    this.#unseen?.arrived(read.events);
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
    const isFirst = this.#checkpoints?.isAwaited() === true;
    const before = isFirst ? this.meter.mark() : undefined;
    const taken = this.#guard.take(batch);
    const passed = taken instanceof Promise ? await taken : taken;
    if (passed.end === 'finished') this.#endsEarly = read.stopped === true || this.#isStopped;
    const { beyond } = passed;
    const counted = beyond === undefined ? passed : await this.#readOn(passed, beyond);
    return this.#deliver(withoutLeftOut(counted), before);
  }

  abort(): void {
    this.#isStopped = true;
    this.#unseen?.stop();
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

  /** Also buys it where the upstream would be stopped for want of balance. */
  #watchUnseen(): UnseenWork {
    const { monotonic, learned, accountId, startTimer, grant } = this.#dependencies;
    const unseen = new UnseenWork(monotonic, this.#begunAt);
    if (!grant.cover.canGrow() || isReadOn(this.candidate)) return unseen;
    const { model, upstream } = this.candidate;
    const pace = learned.pace(model, upstream.id, accountId);
    unseen.cover(this.#guard, pace, startTimer, () => this.abort());
    return unseen;
  }

  /** A timer ended an answer of which only the beginning had come, and thinking may be hidden. */
  #hasThought({ class: how, phase }: UpstreamFailure): boolean {
    if (how !== 'timeout' || phase !== 'first_content' || this.#unseen === undefined) return false;
    return this.meter.output() !== 'answer' && this.soFar()?.hasBegun() === true;
  }

  #deliver(batch: Batch, before: MeterMark | undefined): Batch | Promise<Batch> {
    const checkpoints = this.#checkpoints;
    if (checkpoints === undefined) return this.#inTime(batch);
    if (checkpoints.hasBegun()) {
      if (batch.end === undefined) checkpoints.save();
      return batch;
    }
    return checkpoints.isDelivered() ? this.#begin(checkpoints, batch, before) : batch;
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
  #begin(
    checkpoints: Checkpoints,
    batch: Batch,
    before: MeterMark | undefined,
  ): Batch | Promise<Batch> {
    const written = checkpoints.begin();
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
