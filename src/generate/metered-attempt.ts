// An attempt with everything that belongs to its money: a meter, the guard that passes on nothing
// unpaid, and the checkpoints of what is delivered, which a crash is charged by. The pipeline wraps
// each attempt in one; the route, the pump and a drain read it like any other.

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

type MeterMark = ReturnType<OutputMeter['mark']>;

const NOT_BOOKED: Batch = {
  events: [],
  end: {
    class: 'gateway',
    detail: 'the ledger could not write the first checkpoint of the answer',
  },
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

type Delivery = {
  /** Whether the client gets to see thinking; hidden thinking delivers nothing. */
  readonly showsReasoning: boolean;
  /** Where other nodes may end the hold, the first content waits for its checkpoint. */
  readonly isAwaited: boolean;
  readonly checkpoint: (progress: Progress, isAwaited: boolean) => Promise<void>;
};

export function meterAttempt(
  attempt: Attempt,
  dependencies: {
    /** Told of every batch as it came, before anything of it is kept back. It must not throw. */
    readonly see: (batch: Batch) => void;
    readonly cover: Cover;
    readonly countNow: (text: string) => number;
    /** Milliseconds, of a clock that never jumps. */
    readonly monotonic: () => number;
    /** Of a stream; undefined for a whole answer, which is settled before it is delivered. */
    readonly delivery: Delivery | undefined;
  },
): MeteredAttempt {
  const { see, cover, countNow, monotonic, delivery } = dependencies;
  const meter = createOutputMeter(countNow);
  const bound = attempt.candidate.maxOutputTokens;
  const guard = createGuard({ meter, cover, bound, abort: () => attempt.abort() });
  let hasBegun = false;
  let savedTokens = 0;
  let savedAt = 0;
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

  const save = ({ checkpoint }: Delivery): void => {
    const nowMs = monotonic();
    if (meter.counted() - savedTokens < CHECKPOINT_TOKENS && nowMs - savedAt < CHECKPOINT_MS)
      return;
    const { outputTokens, reasoningTokens } = meter.estimate(0);
    savedAt = nowMs;
    if (outputTokens <= savedTokens) return;
    savedTokens = outputTokens;
    // Only a crash would need it, and the ledger logs its own failures: no answer waits for it.
    checkpoint({ outputTokens, reasoningTokens }, false).catch(() => {});
  };
  /** From the first delivered content on there is something to pay. */
  const begin = (
    { checkpoint, isAwaited }: Delivery,
    batch: Batch,
    before: MeterMark | undefined,
  ): Batch | Promise<Batch> => {
    hasBegun = true;
    savedAt = monotonic();
    const { outputTokens, reasoningTokens } = meter.estimate(0);
    savedTokens = outputTokens;
    const written = checkpoint({ outputTokens, reasoningTokens }, isAwaited);
    if (before === undefined) {
      written.catch(() => {});
      return batch;
    }
    return written.then(
      () => batch,
      () => {
        abort();
        // The client does not get it, so it is not charged.
        meter.reset(before);
        return NOT_BOOKED;
      },
    );
  };
  const deliver = (batch: Batch, before: MeterMark | undefined): Batch | Promise<Batch> => {
    if (delivery === undefined) return batch;
    if (hasBegun) {
      if (batch.end === undefined) save(delivery);
      return batch;
    }
    const output = meter.output();
    const isHidden = output === 'thinking' && !delivery.showsReasoning;
    return output === 'none' || isHidden ? batch : begin(delivery, batch, before);
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
    const before = delivery?.isAwaited === true && !hasBegun ? meter.mark() : undefined;
    const taken = guard.take(batch);
    if (taken instanceof Promise) return taken.then((passed) => deliver(passed, before));
    return deliver(taken, before);
  };
  const take = (batch: Batch): Batch | Promise<Batch> => {
    see(batch);
    if (batch.end !== undefined && batch.end !== 'finished') hasWorked = isOurStop(batch.end);
    return pass(batch);
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
