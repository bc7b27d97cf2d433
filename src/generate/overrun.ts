// Handles output beyond the bound on generated tokens sent to the upstream. Tokenizers differ, so
// our count may exceed the bound of a correct upstream. The guard therefore holds the text back
// until the upstream's report confirms that it kept the bound, and drops it otherwise. The charge
// has the same bound, so no delivered text is free.

import type { GenerationEvent } from '../core/generation.ts';
import type { Batch } from '../upstream/attempt.ts';
import { textOf } from '../upstream/content.ts';
import type { OutputMeter } from './meter.ts';
import { createYield, pieces } from './pieces.ts';

/** Tokenizers differ by less than this factor. An upstream above it is not read any further. */
const DIFFERENCE_FACTOR = 2;
const DIFFERENCE_TOKENS = 64;

export type Overrun = ReturnType<typeof createOverrun>;

/** `meter` is at the bound; `abort` stops the upstream. */
export function createOverrun(
  meter: OutputMeter,
  bound: number,
  upstream: { readonly abort: () => void },
) {
  const mark = meter.mark();
  const held: GenerationEvent[] = [];
  const most = bound * DIFFERENCE_FACTOR + DIFFERENCE_TOKENS;

  /** Ends the answer at its bound. */
  const drop = (): Batch => {
    meter.reset(mark);
    return { events: [{ kind: 'finish', reason: 'length' }], end: 'finished' };
  };

  return {
    /** Reads the rest of an answer, starting with the first event beyond the bound. */
    async take({ events, end }: Batch): Promise<Batch> {
      const yieldAfter = createYield();
      for (const piece of events.flatMap(pieces)) {
        meter.push(piece);
        held.push(piece);
        // An exact count of a word without an end would repeat for each of its pieces.
        if (meter.atMost(0) > most && meter.tokens() > most) {
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
