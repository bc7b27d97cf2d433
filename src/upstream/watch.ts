// The timers of one attempt, as one deadline that moves. The attempt tells when it waits for the
// upstream and what each wait has brought. Whoever does not wait, because a client reads slowly, is
// not kept waiting: the gap and the throughput are of the time in which somebody waits.

import { unreachable } from '../core/assert.ts';
import type { Deadline, Deadlines } from '../core/deadlines.ts';
import type { AttemptPhase, UpstreamFailure } from '../core/failure.ts';
import type { GenerationEvent } from '../core/generation.ts';
import type { UpstreamTimeouts } from '../core/model.ts';
import { createThroughput, type Throughput } from '../core/throughput.ts';
import { contentTokens } from './content.ts';

/** Milliseconds from the start of an attempt; absent for what has not come. */
export type AttemptTimes = { readonly firstByteMs?: number; readonly firstContentMs?: number };

/** The connection is made elsewhere, and watched there. */
type Timer = Exclude<AttemptPhase, 'connect'>;

type WatchOptions = {
  readonly timeouts: UpstreamTimeouts;
  readonly deadlines: Deadlines;
  /**
   * Whether the answer comes in one piece. Nothing is heard of it until it is complete, so its first
   * byte says nothing, and it has as long as the first content of a stream.
   */
  readonly onePiece: boolean;
  /** Called at most once. */
  readonly onTimeout: () => void;
};

/** Starts with the request. */
export function startWatch({ timeouts, deadlines, onePiece, onTimeout }: WatchOptions) {
  const startedAt = deadlines.now();
  const times: { firstByteMs?: number; firstContentMs?: number } = {};
  let failure: UpstreamFailure | undefined;
  /** What runs out at the deadline. */
  let due: Timer = 'total';
  /** Undefined while nobody waits. */
  let waitsSince: number | undefined;
  /** Of the time in which somebody waited: all since the first content, and all since the last. */
  let streamMs = 0;
  let gapMs = 0;
  let throughput: Throughput | undefined;

  const expire = (phase: Timer): void => {
    deadlines.remove(deadline);
    failure = { class: 'timeout', detail: timeoutWords(phase, timeouts), phase };
    onTimeout();
  };

  const deadline: Deadline = {
    at: 0,
    fire() {
      check(deadlines.now());
      if (failure === undefined) deadlines.add(deadline);
    },
  };

  const check = (nowMs: number): void => {
    while (failure === undefined && deadline.at <= nowMs) {
      if (due !== 'throughput' || isTooSlow()) expire(due);
      else arm();
    }
  };

  /** At least to where the window had to be looked at, however the clock is rounded. */
  const isTooSlow = (): boolean => {
    if (throughput === undefined || waitsSince === undefined) return false;
    const atMs = streamMs + deadlines.now() - waitsSince;
    return throughput.isTooSlow(Math.max(atMs, throughput.nextCheckAt()));
  };

  const sooner = (at: number, phase: Timer): void => {
    if (at >= deadline.at) return;
    deadline.at = at;
    due = phase;
  };

  /** Finds the timer that runs out next, if nothing is read until then. */
  const arm = (): void => {
    deadline.at = startedAt + timeouts.totalMs;
    due = 'total';
    if (times.firstContentMs === undefined) {
      const isSilent = times.firstByteMs === undefined && !onePiece;
      if (isSilent) sooner(startedAt + timeouts.firstByteMs, 'first_byte');
      sooner(startedAt + timeouts.firstContentMs, 'first_content');
    } else if (waitsSince !== undefined) {
      sooner(waitsSince + timeouts.idleMs - gapMs, 'stream');
      if (throughput !== undefined) {
        sooner(waitsSince + throughput.nextCheckAt() - streamMs, 'throughput');
      }
    }
  };

  const noteContent = (tokens: number, waitedMs: number): void => {
    gapMs = tokens > 0 ? 0 : gapMs + waitedMs;
    streamMs += waitedMs;
    if (throughput === undefined || failure !== undefined) return;
    if (throughput.isTooSlow(streamMs)) expire('throughput');
    else throughput.add(tokens);
  };

  arm();
  deadlines.add(deadline);
  return {
    /** Somebody waits for the next read from here on. */
    wait(): void {
      waitsSince = deadlines.now();
      arm();
    },
    /** The wait is over: something of an answer has come, with these events in it. */
    read(events: readonly GenerationEvent[]): void {
      const nowMs = deadlines.now();
      // What comes too late comes too late, also where nobody has looked at the clock since.
      check(nowMs);
      const waitedMs = waitsSince === undefined ? 0 : nowMs - waitsSince;
      waitsSince = undefined;
      times.firstByteMs ??= nowMs - startedAt;
      const tokens = contentTokens(events);
      if (times.firstContentMs !== undefined) noteContent(tokens, waitedMs);
      else if (tokens > 0) {
        times.firstContentMs = nowMs - startedAt;
        throughput = throughputOf(timeouts);
        throughput?.add(tokens);
      }
      arm();
    },
    stop: () => deadlines.remove(deadline),
    /** The timer that ran out, if one did. */
    timedOut: () => failure,
    /** Where the attempt is. */
    phase(): AttemptPhase {
      if (times.firstContentMs !== undefined) return 'stream';
      return times.firstByteMs === undefined ? 'first_byte' : 'first_content';
    },
    times: (): AttemptTimes => ({ ...times }),
  };
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
 * Over as long as a gap may be: in a shorter window a gap that is allowed would be too slow.
 */
function throughputOf({ idleMs, minTokensPerSecond }: UpstreamTimeouts): Throughput | undefined {
  return minTokensPerSecond > 0 ? createThroughput(idleMs, minTokensPerSecond) : undefined;
}
