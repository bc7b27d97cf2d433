// An attempt with everything that belongs to its money: a meter, the guard that passes on nothing
// unpaid, the first words that wait until the attempt is booked where that matters, and checkpoints in
// case that nobody is left to settle. The pipeline wraps each attempt in one; the route, the pump and a
// drain read it like any other.

import type { UpstreamFailure } from '../core/failure.ts';
import type { GenerationEvent, Usage } from '../core/generation.ts';
import type { Attempt, Batch } from '../upstream/attempt.ts';
import { textOf } from '../upstream/content.ts';
import type { Cover } from './funded-output.ts';
import { createGuard } from './guard.ts';
import { createOutputMeter, type OutputMeter } from './meter.ts';
import { createYield, pieces } from './pieces.ts';

const CHECKPOINT_MS = 2_000;

/** With the batch that the meter has not counted yet, some 256 tokens. */
const CHECKPOINT_TOKENS = 192;

const NOT_BOOKED: Batch = {
  events: [],
  end: { class: 'gateway', detail: 'the ledger could not write that the upstream was asked' },
};

export type MeteredAttempt = Attempt & {
  readonly meter: OutputMeter;
  /** Whether the answer was cut because the balance could not pay for more. */
  readonly hasCut: () => boolean;
  /** Our count of what came behind a stop sequence; undefined where the upstream was not read on. */
  readonly unread: () => Usage | undefined;
  /** Whether the upstream has got the request, and has not failed by itself. */
  readonly hasWorked: () => boolean;
};

export type Progress = { readonly outputTokens: number; readonly reasoningTokens: number };

export function meterAttempt(
  attempt: Attempt,
  dependencies: {
    /** Told of every batch as it came, before anything of it is kept back. It must not throw. */
    readonly see: (batch: Batch) => void;
    /** What the first words wait for; where it rejects, there are none. */
    readonly booked?: Promise<void>;
    readonly cover: Cover;
    readonly countNow: (text: string) => number;
    /** Milliseconds, of a clock that never jumps. */
    readonly monotonic: () => number;
    /** Told of what has passed, every now and then. It must not throw. */
    readonly checkpoint: (progress: Progress) => void;
  },
): MeteredAttempt {
  const { see, cover, countNow, monotonic, checkpoint } = dependencies;
  const meter = createOutputMeter(countNow);
  const bound = attempt.candidate.maxOutputTokens;
  const guard = createGuard({ meter, cover, bound, abort: () => attempt.abort() });
  let { booked } = dependencies;
  let savedTokens = 0;
  let savedAt = monotonic();
  let unread: OutputMeter | undefined;
  let isStopped = false;
  let hasWorked = true;
  const abort = (): void => {
    isStopped = true;
    attempt.abort();
  };
  /**
   * What we stopped had the request, unless it had no connection yet. Any other class than that of a
   * stop is a failure of its own, which came at the same time.
   */
  const isOurStop = ({ class: how, phase, status }: UpstreamFailure): boolean =>
    isStopped && how === 'cut' && phase !== 'connect' && status === undefined;

  const save = (): void => {
    const nowMs = monotonic();
    if (meter.counted() - savedTokens < CHECKPOINT_TOKENS && nowMs - savedAt < CHECKPOINT_MS)
      return;
    const { outputTokens, reasoningTokens } = meter.estimate(0);
    savedAt = nowMs;
    if (outputTokens <= savedTokens) return;
    savedTokens = outputTokens;
    checkpoint({ outputTokens, reasoningTokens });
  };
  /** What is not passed on is counted apart, and only its report belongs to the answer. */
  const readOn = async (events: readonly GenerationEvent[]): Promise<void> => {
    unread ??= createOutputMeter(countNow);
    const yieldAfter = createYield();
    for (const piece of events.flatMap(pieces)) {
      if (piece.kind === 'usage') meter.push(piece);
      else unread.push(piece);
      await yieldAfter(textOf(piece).length);
    }
  };
  const pass = (batch: Batch): Batch | Promise<Batch> => {
    const { beyond, ...rest } = batch;
    if (beyond !== undefined) return readOn(beyond).then(() => pass(rest));
    const taken = guard.take(batch);
    if (batch.end === undefined) save();
    return taken;
  };
  const take = (batch: Batch): Batch | Promise<Batch> => {
    see(batch);
    if (batch.end !== undefined && batch.end !== 'finished') hasWorked = isOurStop(batch.end);
    if (booked === undefined || batch.events.length === 0) return pass(batch);
    return booked.then(
      () => {
        booked = undefined;
        return pass(batch);
      },
      () => {
        abort();
        return NOT_BOOKED;
      },
    );
  };

  return {
    candidate: attempt.candidate,
    credential: attempt.credential,
    startedAt: attempt.startedAt,
    times: attempt.times,
    next: () => attempt.next().then(take),
    abort,
    meter,
    hasCut: guard.hasCut,
    unread: () => unread?.estimate(0),
    hasWorked: () => hasWorked,
  };
}

/** Reads on for the upstream's report of its usage; whoever aborts the attempt ends this. */
export async function readToEnd(attempt: MeteredAttempt): Promise<void> {
  for (;;) {
    const { end: over } = await attempt.next();
    if (over !== undefined) return;
  }
}
