// The timers of one attempt, as one moving deadline. The attempt reports when it waits for the
// upstream and what each wait returned. From the first content on they count only the time spent
// waiting: a slow client must not count against the upstream, nor end an answer before its report.

import { unreachable } from '../core/assert.ts';
import type { Deadline, Deadlines } from '../core/deadlines.ts';
import type { AttemptPhase, UpstreamFailure } from '../core/failure.ts';
import type { GenerationEvent } from '../core/generation.ts';
import type { UpstreamTimeouts } from '../core/model.ts';
import { createThroughput, type Throughput } from '../core/throughput.ts';
import { contentTokens } from './content.ts';

/** Milliseconds from the start of an attempt; absent until reached. */
export type AttemptTimes = { readonly firstByteMs?: number; readonly firstContentMs?: number };

/** Connecting has its own timer elsewhere. */
type Timer = Exclude<AttemptPhase, 'connect'>;

export class Watch implements Deadline {
  at = 0;
  readonly #timeouts: UpstreamTimeouts;
  readonly #deadlines: Deadlines;
  readonly #onePiece: boolean;
  readonly #call: { readonly abort: () => void };
  readonly #startedAt: number;
  readonly #times: { firstByteMs?: number; firstContentMs?: number } = {};
  #failure: UpstreamFailure | undefined;
  /** The timer that expires at the deadline. */
  #due: Timer = 'total';
  /** Undefined while the attempt is not waiting for the upstream. */
  #waitsSince: number | undefined;
  /** Time since the first content in which the attempt did not wait, and since when it does not. */
  #pausedMs = 0;
  #pausedSince: number | undefined;
  /** Waiting time since the first content, and since the last. */
  #streamMs = 0;
  #gapMs = 0;
  #throughput: Throughput | undefined;

  /**
   * Starts with the request. `call` is aborted at most once. A non-streamed answer (`onePiece`)
   * arrives all at once, so its first byte means nothing and it gets the time limit for first
   * content.
   */
  constructor(
    timeouts: UpstreamTimeouts,
    deadlines: Deadlines,
    onePiece: boolean,
    call: { readonly abort: () => void },
  ) {
    this.#timeouts = timeouts;
    this.#deadlines = deadlines;
    this.#onePiece = onePiece;
    this.#call = call;
    this.#startedAt = deadlines.now();
    this.#arm();
    deadlines.add(this);
  }

  /** The attempt starts to wait for the next read. */
  wait(): void {
    this.#waitsSince = this.#deadlines.now();
    this.#addPause(this.#waitsSince);
    this.#pausedSince = undefined;
    this.#arm();
  }

  /** A read has arrived with these events. */
  read(events: readonly GenerationEvent[]): void {
    const nowMs = this.#deadlines.now();
    // Enforces the deadline even if no sweep has run since it passed.
    this.#check(nowMs);
    const waitedMs = this.#waitsSince === undefined ? 0 : nowMs - this.#waitsSince;
    this.#waitsSince = undefined;
    this.#times.firstByteMs ??= nowMs - this.#startedAt;
    const tokens = contentTokens(events);
    if (this.#times.firstContentMs !== undefined) this.#noteContent(tokens, waitedMs);
    else if (tokens > 0) {
      this.#times.firstContentMs = nowMs - this.#startedAt;
      if (!this.#onePiece) this.#throughput = throughputOf(this.#timeouts);
      this.#throughput?.add(tokens);
    }
    if (this.#times.firstContentMs !== undefined) this.#pausedSince = nowMs;
    this.#arm();
  }

  stop(): void {
    this.#deadlines.remove(this);
  }

  /** The failure of the timer that expired, if any. */
  timedOut(): UpstreamFailure | undefined {
    return this.#failure;
  }

  /** The current phase of the attempt. */
  phase(): AttemptPhase {
    if (this.#times.firstContentMs !== undefined) return 'stream';
    return this.#times.firstByteMs === undefined ? 'first_byte' : 'first_content';
  }

  times(): AttemptTimes {
    return this.#times;
  }

  /** Called by the deadlines. */
  fire(): void {
    this.#check(this.#deadlines.now());
    if (this.#failure === undefined) this.#deadlines.add(this);
  }

  #expire(phase: Timer): void {
    this.stop();
    this.#failure = { class: 'timeout', detail: timeoutWords(phase, this.#timeouts), phase };
    this.#call.abort();
  }

  #check(nowMs: number): void {
    while (this.#failure === undefined && this.at <= nowMs) {
      const isLater =
        this.#due === 'total'
          ? this.#addPause(nowMs)
          : this.#due === 'throughput' && !this.#isTooSlow();
      if (isLater) this.#arm();
      else this.#expire(this.#due);
    }
  }

  /** Whether there is a pause that did not count until now. The client's stalls have a bound. */
  #addPause(nowMs: number): boolean {
    const pausedMs = nowMs - (this.#pausedSince ?? nowMs);
    if (pausedMs <= 0) return false;
    this.#pausedMs += pausedMs;
    this.#pausedSince = nowMs;
    return true;
  }

  /** Advances at least to the scheduled check, however the clock is rounded. */
  #isTooSlow(): boolean {
    if (this.#throughput === undefined || this.#waitsSince === undefined) return false;
    const atMs = this.#streamMs + this.#deadlines.now() - this.#waitsSince;
    return this.#throughput.isTooSlow(Math.max(atMs, this.#throughput.nextCheckAt()));
  }

  /** Sets the deadline to the timer that expires next if nothing is read. */
  #arm(): void {
    const timeouts = this.#timeouts;
    this.at = this.#startedAt + timeouts.totalMs + this.#pausedMs;
    this.#due = 'total';
    if (this.#times.firstContentMs === undefined) {
      const isSilent = this.#times.firstByteMs === undefined && !this.#onePiece;
      if (isSilent) this.#sooner(this.#startedAt + timeouts.firstByteMs, 'first_byte');
      this.#sooner(this.#startedAt + timeouts.firstContentMs, 'first_content');
    } else if (this.#waitsSince !== undefined) {
      this.#sooner(this.#waitsSince + timeouts.idleMs - this.#gapMs, 'stream');
      if (this.#throughput !== undefined) {
        const checkAt = this.#waitsSince + this.#throughput.nextCheckAt() - this.#streamMs;
        this.#sooner(checkAt, 'throughput');
      }
    }
  }

  #sooner(at: number, phase: Timer): void {
    if (at >= this.at) return;
    this.at = at;
    this.#due = phase;
  }

  #noteContent(tokens: number, waitedMs: number): void {
    this.#gapMs = tokens > 0 ? 0 : this.#gapMs + waitedMs;
    this.#streamMs += waitedMs;
    if (this.#throughput === undefined || this.#failure !== undefined) return;
    if (this.#throughput.isTooSlow(this.#streamMs)) this.#expire('throughput');
    else this.#throughput.add(tokens);
  }
}

function timeoutWords(timer: Timer, timeouts: UpstreamTimeouts): string {
  const { firstByteMs, firstContentMs, idleMs, minTokensPerSecond, totalMs } = timeouts;
  switch (timer) {
    case 'first_byte':
      return `no byte of an answer within ${firstByteMs} ms`;
    case 'first_content':
      return `no content within ${firstContentMs} ms`;
    case 'stream':
      return `no content for ${idleMs} ms in the middle of the answer`;
    case 'throughput':
      return `fewer than ${minTokensPerSecond} tokens a second over ${idleMs} ms`;
    case 'total':
      return `not complete within ${Math.round(totalMs)} ms`;
    default:
      return unreachable(timer);
  }
}

/**
 * The window is as long as the allowed gap, since an allowed gap would be too slow in a shorter
 * one.
 */
function throughputOf({ idleMs, minTokensPerSecond }: UpstreamTimeouts): Throughput | undefined {
  return minTokensPerSecond > 0 ? createThroughput(idleMs, minTokensPerSecond) : undefined;
}
