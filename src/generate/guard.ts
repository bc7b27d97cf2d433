// Passes on no token that is not paid for, and none beyond the bound that the upstream was given. It
// looks at each read of an answer, buys the next slice before it is needed, and cuts where a slice is
// refused: the upstream is stopped, what is covered goes on, and the answer ends for its length.
// Called by the metered attempt, for whole answers as for streams. A plain answer neither waits nor
// allocates here.

import type { UpstreamFailure } from '../core/failure.ts';
import type { GenerationEvent } from '../core/generation.ts';
import type { Batch } from '../upstream/attempt.ts';
import { textOf } from '../upstream/content.ts';
import type { Cover, Growth } from './funded-output.ts';
import type { OutputMeter } from './meter.ts';
import { createOverrun, type Overrun } from './overrun.ts';
import { createYield, isHighSurrogate, pieces, withText, YIELD_CHARACTERS } from './pieces.ts';

/** Fewer covered tokens than this left: the next slice is bought while the answer goes on. */
const AHEAD_TOKENS = 1_024;

const CANNOT_RESERVE: UpstreamFailure = {
  class: 'gateway',
  detail: 'the ledger could not reserve money for the rest of the answer',
};

export class Guard {
  readonly #meter: OutputMeter;
  readonly #cover: Cover;
  readonly #bound: number;
  readonly #upstream: { readonly abort: () => void };
  /** A slice that is being bought ahead of need. */
  #ahead: Promise<Growth> | undefined;
  /** Once one was refused, the next one is bought at need alone. */
  #mayBuyAhead = true;
  #hasCut = false;
  /** What has come beyond the bound, once anything has. */
  #overrun: Overrun | undefined;

  /** `bound` is what the upstream was given; `abort` stops it. */
  constructor(
    meter: OutputMeter,
    cover: Cover,
    bound: number,
    upstream: { readonly abort: () => void },
  ) {
    this.#meter = meter;
    this.#cover = cover;
    this.#bound = bound;
    this.#upstream = upstream;
  }

  /** Whether it has cut the answer because the balance could not pay for more. */
  hasCut(): boolean {
    return this.#hasCut;
  }

  /** What of a read may be passed on. After a batch with an `end` there is no further one. */
  take(batch: Batch): Batch | Promise<Batch> {
    if (this.#overrun !== undefined) return this.#overrun.take(batch);
    const { events } = batch;
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

  /** Whether the limit is the bound that was asked for, and not the money. */
  #isAtBound(): boolean {
    const cover = this.#cover;
    const bound = this.#bound;
    return cover.tokens() >= bound && !(cover.lowered && bound >= cover.outputBound);
  }

  /** Buys without waiting, so that the answer need not stop for it. */
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

  /** Buys at need. What was refused ahead of it may be there by now: others end, people top up. */
  async #buyNow(): Promise<Growth> {
    const cover = this.#cover;
    if (this.#ahead !== undefined && (await this.#ahead) === 'grown') return 'grown';
    if (!cover.canGrow()) return 'refused';
    const growth = await cover.grow();
    this.#mayBuyAhead = growth === 'grown';
    return growth;
  }

  /** The same as `take`, for a read that begins with so many events that are covered. */
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
      this.#upstream.abort();
      if (growth === 'failed') return { events: passed, end: CANNOT_RESERVE };
      this.#hasCut = true;
      const start = this.#coveredStart(piece);
      if (start !== undefined) passed.push(start);
      passed.push({ kind: 'finish', reason: 'length' });
      await this.#countProduced([withoutStart(piece, start), ...rest.slice(index + 1)]);
      return { events: passed, end: 'finished' };
    }
    this.#buyAhead();
    return batch.end === undefined ? { events: passed } : { events: passed, end: batch.end };
  }

  /** Leaves the meter as it was where the event is not covered. */
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

  /** The longest beginning of a text that is covered. It is pushed, and undefined where empty. */
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
   * The upstream made it, so it costs us, and the books say how much. Its report is left out: it
   * is about an answer that nobody has got.
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

/** What follows the beginning that was passed on. */
function withoutStart(piece: GenerationEvent, start: GenerationEvent | undefined): GenerationEvent {
  if (start === undefined) return piece;
  return withText(piece, textOf(piece).slice(textOf(start).length));
}
