// Passes on no token that is not covered, and none beyond the bound sent to the upstream. Checks
// each read of an answer, buys the next slice before it is needed, and cuts the answer if a slice
// is refused: it passes on what is covered, stops the upstream or reads it on to its report, and
// finishes with reason `length`. The metered attempt uses it for streams and whole answers. The
// common path neither waits nor allocates.

import type { UpstreamFailure } from '../core/failure.ts';
import type { GenerationEvent } from '../core/generation.ts';
import { isHighSurrogate } from '../core/surrogate.ts';
import type { Batch } from '../upstream/attempt.ts';
import { textOf } from '../upstream/content.ts';
import type { Cover, Growth } from './funded-output.ts';
import type { OutputMeter } from './meter.ts';
import { createOverrun, type Overrun } from './overrun.ts';
import { createYield, pieces, withText, YIELD_CHARACTERS } from './pieces.ts';

/** Below this many covered tokens, the next slice is bought while the answer continues. */
const AHEAD_TOKENS = 1_024;

const CANNOT_RESERVE: UpstreamFailure = {
  class: 'gateway',
  detail: 'the ledger could not reserve money for the rest of the answer',
};

/** The end of an answer that the gateway cuts. */
export const CUT_SHORT: GenerationEvent = { kind: 'finish', reason: 'length' };

export class Guard {
  readonly #meter: OutputMeter;
  readonly #cover: Cover;
  readonly #bound: number;
  readonly #upstream: { readonly abort: () => void };
  /** A slice that is being bought ahead. */
  #ahead: Promise<Growth> | undefined;
  /** After a refusal, the next slice is bought only when it is needed. */
  #mayBuyAhead = true;
  #hasCut = false;
  /** The report of an answer that was cut shows what it cost in hidden thinking. */
  readonly #readsOn: boolean;
  /** Handles output beyond the bound, once there is any. */
  #overrun: Overrun | undefined;

  /**
   * `bound` is the one sent to the upstream; `abort` stops it. With `readsOn` it is read to its end
   * after a cut, and what it says is `beyond` the answer.
   */
  constructor(
    meter: OutputMeter,
    cover: Cover,
    bound: number,
    upstream: { readonly abort: () => void },
    readsOn: boolean,
  ) {
    this.#meter = meter;
    this.#cover = cover;
    this.#bound = bound;
    this.#upstream = upstream;
    this.#readsOn = readsOn;
  }

  /** Whether the answer was cut because the balance could not cover more. */
  hasCut(): boolean {
    return this.#hasCut;
  }

  /**
   * Buys output that the upstream makes unseen. False where the balance does not cover it: the
   * caller stops the upstream, and the answer counts as cut.
   */
  async coverUnseen(tokens: number): Promise<boolean> {
    const cover = this.#cover;
    const made = this.#meter.counted() + tokens;
    if (!cover.canGrow() || cover.tokens() - made > AHEAD_TOKENS) return true;
    if ((await this.#buyNow()) !== 'refused' || made < cover.tokens()) return true;
    this.#hasCut = true;
    return false;
  }

  /** Returns the part of a read that may be passed on. A batch with an `end` is the last one. */
  take(batch: Batch): Batch | Promise<Batch> {
    if (this.#overrun !== undefined) return this.#overrun.take(batch);
    const { events, end } = batch;
    if (this.#hasCut) return this.#readOn([], events, end);
    for (let index = 0; index < events.length; index += 1) {
      const event = events[index];
      if (event === undefined) continue;
      const isShort = textOf(event).length <= YIELD_CHARACTERS;
      if (!isShort || !this.#pushIfCovered(event)) return this.#takeWithCare(batch, index);
    }
    this.#buyAhead();
    return batch;
  }

  #limit(): number {
    return Math.min(this.#cover.tokens(), this.#bound);
  }

  /** Whether the limit is the requested bound and not the balance. */
  #isAtBound(): boolean {
    const cover = this.#cover;
    const bound = this.#bound;
    return cover.tokens() >= bound && !(cover.lowered && bound >= cover.outputBound);
  }

  /** Buys a slice in the background so that the answer need not pause. */
  #buyAhead(): void {
    const cover = this.#cover;
    if (!cover.canGrow() || !this.#mayBuyAhead || this.#ahead !== undefined) return;
    if (cover.tokens() - this.#meter.counted() > AHEAD_TOKENS) return;
    this.#ahead = cover.grow().then((growth) => {
      this.#mayBuyAhead = growth === 'grown';
      this.#ahead = undefined;
      return growth;
    });
  }

  /**
   * Buys a slice and waits. A slice refused earlier may succeed now, after other requests ended or
   * a top-up.
   */
  async #buyNow(): Promise<Growth> {
    const cover = this.#cover;
    if (this.#ahead !== undefined && (await this.#ahead) === 'grown') return 'grown';
    if (!cover.canGrow()) return 'refused';
    const growth = await cover.grow();
    this.#mayBuyAhead = growth === 'grown';
    return growth;
  }

  /** Like `take`, for a read whose first `from` events are covered. */
  async #takeWithCare(batch: Batch, from: number): Promise<Batch> {
    const passed = batch.events.slice(0, from);
    const rest = batch.events.slice(from).flatMap(pieces);
    const yieldAfter = createYield();
    for (const [index, piece] of rest.entries()) {
      await yieldAfter(textOf(piece).length);
      let growth: Growth = 'grown';
      while (!this.#pushIfCovered(piece) && growth === 'grown') {
        growth = this.#isAtBound() ? 'refused' : await this.#buyNow();
      }
      if (growth === 'grown') {
        passed.push(piece);
        continue;
      }
      if (this.#isAtBound()) {
        const start = this.#coveredStart(piece);
        if (start !== undefined) passed.push(start);
        this.#overrun = createOverrun(this.#meter, this.#bound, this.#upstream);
        const beyond = [withoutStart(piece, start), ...rest.slice(index + 1)];
        const taken = await this.#overrun.take({ ...batch, events: beyond });
        return { ...taken, events: [...passed, ...taken.events] };
      }
      if (growth === 'failed') {
        this.#upstream.abort();
        return { events: passed, end: CANNOT_RESERVE };
      }
      this.#hasCut = true;
      const start = this.#coveredStart(piece);
      if (start !== undefined) passed.push(start);
      const beyond = [withoutStart(piece, start), ...rest.slice(index + 1)];
      if (this.#readsOn) return this.#readOn(passed, beyond, batch.end);
      this.#upstream.abort();
      await this.#countProduced(beyond);
      return { events: [...passed, CUT_SHORT], end: 'finished' };
    }
    this.#buyAhead();
    return batch.end === undefined ? { events: passed } : { events: passed, end: batch.end };
  }

  /** The client's answer is complete, however the upstream ends. */
  #readOn(
    passed: readonly GenerationEvent[],
    beyond: readonly GenerationEvent[],
    end: Batch['end'],
  ): Batch {
    if (end === undefined) return { events: passed, beyond };
    this.#meter.push(CUT_SHORT);
    return { events: [...passed, CUT_SHORT], beyond, end: 'finished' };
  }

  /** Leaves the meter unchanged if the event is not covered. */
  #pushIfCovered(event: GenerationEvent): boolean {
    const meter = this.#meter;
    const text = textOf(event);
    if (text === '' || meter.atMost(Buffer.byteLength(text)) <= this.#limit()) {
      meter.push(event);
      return true;
    }
    const mark = meter.mark();
    meter.push(event);
    if (meter.tokens() <= this.#limit()) return true;
    meter.reset(mark);
    return false;
  }

  /** Pushes the longest covered prefix of a text and returns it; undefined if it is empty. */
  #coveredStart(piece: GenerationEvent): GenerationEvent | undefined {
    if (piece.kind === 'tool-start') return undefined;
    const meter = this.#meter;
    const text = textOf(piece);
    const mark = meter.mark();
    let fits = 0;
    let tooLong = text.length;
    while (tooLong - fits > 1) {
      const middle = (fits + tooLong) >> 1;
      if (this.#pushIfCovered(withText(piece, text.slice(0, middle)))) fits = middle;
      else tooLong = middle;
      meter.reset(mark);
    }
    if (isHighSurrogate(text.charCodeAt(fits - 1))) fits -= 1;
    if (fits <= 0) return undefined;
    const start = withText(piece, text.slice(0, fits));
    return this.#pushIfCovered(start) ? start : undefined;
  }

  /**
   * Records output that the upstream generated but the client did not get, because the operator
   * pays for it. Its report is dropped: it describes an answer that was not delivered.
   */
  async #countProduced(rest: readonly GenerationEvent[]): Promise<void> {
    const meter = this.#meter;
    const yieldAfter = createYield();
    for (const event of rest) {
      if (meter.counted() >= this.#cover.outputBound) return;
      const text = textOf(event);
      if (text !== '') meter.push(event);
      await yieldAfter(text.length);
    }
  }
}

/** The rest of a piece after the prefix that was passed on. */
function withoutStart(piece: GenerationEvent, start: GenerationEvent | undefined): GenerationEvent {
  if (start === undefined) return piece;
  return withText(piece, textOf(piece).slice(textOf(start).length));
}
