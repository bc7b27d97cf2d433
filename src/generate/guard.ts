// Passes on no token that is not paid for. It looks at each read of an answer, buys the next slice
// before it is needed, and where a slice is refused it cuts: the upstream is stopped, what is covered
// goes on, and the answer ends for its length. Called by the metered attempt, for whole answers as
// for streams. Where nothing can be refused it neither waits nor allocates.

import { unreachable } from '../core/assert.ts';
import type { UpstreamFailure } from '../core/failure.ts';
import type { GenerationEvent } from '../core/generation.ts';
import type { Batch } from '../upstream/attempt.ts';
import type { Cover, Growth } from './cover.ts';
import type { OutputMeter } from './meter.ts';

/** Fewer covered tokens than this left: the next slice is bought while the answer goes on. */
const AHEAD_TOKENS = 1_024;

/** Longer texts are looked at in pieces of this length. */
const PIECE_CHARACTERS = 512;

/** Events up to this are counted at once, and the loop has a turn after so many characters. */
const BREATH_CHARACTERS = 16_384;

const CANNOT_RESERVE: UpstreamFailure = {
  class: 'gateway',
  detail: 'the ledger could not reserve money for the rest of the answer',
};

export type Guard = {
  /** What of a read may be passed on. After a batch with an `end` there is no further one. */
  readonly take: (batch: Batch) => Batch | Promise<Batch>;
  /** Whether it has cut the answer because the balance could not pay for more. */
  readonly hasCut: () => boolean;
};

/** `abort` stops the upstream. */
export function createGuard(parts: {
  readonly meter: OutputMeter;
  readonly cover: Cover;
  readonly abort: () => void;
}): Guard {
  const { meter, cover, abort } = parts;
  /** A slice that is being bought ahead of need. */
  let ahead: Promise<Growth> | undefined;
  /** Once one was refused, the next one is bought at need alone. */
  let mayBuyAhead = true;
  let cut = false;

  const take = (batch: Batch): Batch | Promise<Batch> => {
    const { events } = batch;
    const limit = cover.tokens();
    for (let index = 0; index < events.length; index += 1) {
      const event = events[index];
      if (event === undefined) continue;
      const size = textOf(event).length;
      const covered = size === 0 || meter.atMost(size) <= limit;
      if (!covered || size > BREATH_CHARACTERS) return takeWithCare(batch, index);
      meter.push(event);
    }
    buyAhead();
    return batch;
  };

  /** Buys without waiting, so that the answer need not stop for it. */
  const buyAhead = (): void => {
    if (!cover.canGrow() || !mayBuyAhead || ahead !== undefined) return;
    if (cover.tokens() - meter.counted() > AHEAD_TOKENS) return;
    const growing = cover.grow().then((growth) => {
      mayBuyAhead = growth === 'grown';
      ahead = undefined;
      return growth;
    });
    ahead = growing;
  };

  /** Buys at need. What was refused ahead of it may be there by now: others end, people top up. */
  const buyNow = async (): Promise<Growth> => {
    if (ahead !== undefined && (await ahead) === 'grown') return 'grown';
    if (!cover.canGrow()) return 'refused';
    const growth = await cover.grow();
    mayBuyAhead = growth === 'grown';
    return growth;
  };

  /** The same as `take`, for a read that begins with so many events that are covered. */
  const takeWithCare = async (batch: Batch, from: number): Promise<Batch> => {
    const passed = batch.events.slice(0, from);
    const rest = batch.events.slice(from).flatMap(pieces);
    const breathe = createBreath();
    for (const [index, piece] of rest.entries()) {
      await breathe(textOf(piece).length);
      let growth: Growth = 'grown';
      while (!pushIfCovered(piece) && growth === 'grown') growth = await buyNow();
      if (growth === 'grown') {
        passed.push(piece);
        continue;
      }
      abort();
      if (growth === 'failed') return { events: passed, end: CANNOT_RESERVE };
      cut = true;
      const start = coveredStart(piece);
      if (start !== undefined) passed.push(start);
      passed.push({ kind: 'finish', reason: 'length' });
      await countProduced([piece, ...rest.slice(index + 1)], start);
      return { events: passed, end: 'finished' };
    }
    buyAhead();
    return batch.end === undefined ? { events: passed } : { events: passed, end: batch.end };
  };

  /** Leaves the meter as it was where the event is not covered. */
  const pushIfCovered = (event: GenerationEvent): boolean => {
    const size = textOf(event).length;
    if (size === 0 || meter.atMost(size) <= cover.tokens()) {
      meter.push(event);
      return true;
    }
    const mark = meter.mark();
    meter.push(event);
    if (meter.tokens() <= cover.tokens()) return true;
    meter.reset(mark);
    return false;
  };

  /** The longest beginning of a text that is covered. It is pushed, and undefined where empty. */
  const coveredStart = (piece: GenerationEvent): GenerationEvent | undefined => {
    if (piece.kind === 'tool-start') return undefined;
    const text = textOf(piece);
    const mark = meter.mark();
    let fits = 0;
    let tooLong = text.length;
    while (tooLong - fits > 1) {
      const middle = (fits + tooLong) >> 1;
      if (pushIfCovered(withText(piece, text.slice(0, middle)))) fits = middle;
      else tooLong = middle;
      meter.reset(mark);
    }
    if (isHighSurrogate(text.charCodeAt(fits - 1))) fits -= 1;
    if (fits <= 0) return undefined;
    const start = withText(piece, text.slice(0, fits));
    return pushIfCovered(start) ? start : undefined;
  };

  /**
   * The upstream made it, so it costs us, and the books say how much. Its report is left out: it
   * is about an answer that nobody has got.
   */
  const countProduced = async (
    rest: readonly GenerationEvent[],
    passed: GenerationEvent | undefined,
  ): Promise<void> => {
    const breathe = createBreath();
    let skip = passed === undefined ? 0 : textOf(passed).length;
    for (const event of rest) {
      if (meter.counted() >= cover.outputBound) return;
      const text = textOf(event);
      if (text !== '') meter.push(skip === 0 ? event : withText(event, text.slice(skip)));
      skip = 0;
      await breathe(text.length);
    }
  };

  return { take, hasCut: () => cut };
}

/** Gives the event loop a turn between long texts. */
function createBreath(): (characters: number) => Promise<void> | undefined {
  let counted = 0;
  return (characters) => {
    counted += characters;
    if (counted <= BREATH_CHARACTERS) return undefined;
    counted = 0;
    return new Promise((resolve) => setImmediate(resolve));
  };
}

/** What an event costs tokens for; empty where it costs none. */
function textOf(event: GenerationEvent): string {
  switch (event.kind) {
    case 'reasoning-delta':
    case 'text-delta':
      return event.text;
    case 'tool-start':
      return event.name;
    case 'tool-delta':
      return event.json;
    case 'usage':
    case 'finish':
      return '';
    default:
      return unreachable(event);
  }
}

function withText(event: GenerationEvent, text: string): GenerationEvent {
  switch (event.kind) {
    case 'reasoning-delta':
    case 'text-delta':
      return { ...event, text };
    case 'tool-delta':
      return { ...event, json: text };
    default:
      return event;
  }
}

/** A long text in pieces, never cut inside a surrogate pair. */
function pieces(event: GenerationEvent): readonly GenerationEvent[] {
  const text = textOf(event);
  if (text.length <= PIECE_CHARACTERS || event.kind === 'tool-start') return [event];
  const all: GenerationEvent[] = [];
  let start = 0;
  while (start < text.length) {
    let end = Math.min(start + PIECE_CHARACTERS, text.length);
    if (end < text.length && isHighSurrogate(text.charCodeAt(end - 1))) end -= 1;
    all.push(withText(event, text.slice(start, end)));
    start = end;
  }
  return all;
}

function isHighSurrogate(code: number): boolean {
  return code >= 0xd800 && code <= 0xdbff;
}
