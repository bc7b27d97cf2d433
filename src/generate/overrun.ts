// What an upstream sends beyond the bound on generated tokens that it was given. Tokenizers differ, so
// our count may be above the bound of an honest upstream: the text is held back until its report says
// that it kept the bound, and dropped otherwise. Called by the guard of an answer. The charge is
// bounded by the same number, so no text is passed on that costs nothing.

import type { GenerationEvent } from '../core/generation.ts';
import type { Batch } from '../upstream/attempt.ts';
import { textOf } from '../upstream/content.ts';
import type { OutputMeter } from './meter.ts';
import { createYield, pieces } from './pieces.ts';

/** No two tokenizers differ by more than this; an upstream above it is not read any further. */
const DIFFERENCE_FACTOR = 2;
const DIFFERENCE_TOKENS = 64;

export type Overrun = ReturnType<typeof createOverrun>;

/** `meter` stands at the bound; `abort` stops the upstream. */
export function createOverrun(
  meter: OutputMeter,
  bound: number,
  upstream: { readonly abort: () => void },
) {
  const mark = meter.mark();
  const held: GenerationEvent[] = [];
  const most = bound * DIFFERENCE_FACTOR + DIFFERENCE_TOKENS;

  /** The answer ends at its bound. */
  const drop = (): Batch => {
    meter.reset(mark);
    return { events: [{ kind: 'finish', reason: 'length' }], end: 'finished' };
  };

  return {
    /** The rest of an answer, from the first event beyond the bound on. */
    async take({ events, end }: Batch): Promise<Batch> {
      const yieldAfter = createYield();
      for (const piece of events.flatMap(pieces)) {
        meter.push(piece);
        held.push(piece);
        if (meter.tokens() > most) {
          upstream.abort();
          return drop();
        }
        await yieldAfter(textOf(piece).length);
      }
      if (end === undefined) return { events: [] };
      if (end !== 'finished') {
        meter.reset(mark);
        return { events: [], end };
      }
      const reported = meter.reported();
      const kept = reported?.basis === 'reported' && reported.outputTokens <= bound;
      return kept ? { events: held, end } : drop();
    },
  };
}
