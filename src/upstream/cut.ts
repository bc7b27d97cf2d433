// Cuts an answer at its request's stop sequences, whether or not its upstream got them (decision
// 0029). An attempt calls it with each read. If the answer may cost hidden thinking, or is billed to
// its end, the upstream is drained for its report, within the usual bounds; otherwise it is stopped.

import type { GenerationEvent, GenerationRequest } from '../core/generation.ts';
import { isReadOn } from '../core/hidden.ts';
import type { Candidate } from '../core/route.ts';
import { createStopCutter, sentStops } from '../core/stop.ts';
import type { Batch } from './source.ts';

const FINISH: GenerationEvent = { kind: 'finish', reason: 'stop' };

/** Undefined for a request without stop sequences. */
export function createCut(candidate: Candidate, request: Pick<GenerationRequest, 'stop'>) {
  const { model, profile } = candidate;
  if (request.stop.length === 0) return undefined;
  const stop = new Set(request.stop);
  const sent = sentStops(request.stop, profile, model.features.has('reasoning'));
  const cutter = createStopCutter([...stop]);
  const readsOn = isReadOn(candidate);
  let hasCut = false;
  let isStopped = false;

  /**
   * The client's answer is complete however the upstream ends; only the finish event waits for it.
   */
  const readOn = (
    events: readonly GenerationEvent[],
    beyond: readonly GenerationEvent[],
    end: Batch['end'],
  ): Batch => {
    if (end === undefined) return { events, beyond };
    isStopped = end !== 'finished';
    return { events: [...events, FINISH], beyond, end: 'finished' };
  };

  return {
    /** Only a stream can be stopped early, which saves the tokens after a cut that is ours alone. */
    needsStream: sent.length < stop.size,
    /** Whether the answer ended before its upstream, which is not read any further. */
    isStopped: () => isStopped,
    take({ events, end }: Batch): Batch {
      if (hasCut) return readOn([], events, end);
      const passed: GenerationEvent[] = [];
      let next = 0;
      for (; next < events.length && !cutter.hasCut(); next += 1) {
        const event = events[next];
        if (event !== undefined) passed.push(...cutter.push(event));
      }
      const last = events[next - 1];
      const isText = last?.kind === 'text-delta';
      // A non-text event comes after the text that it released.
      if (cutter.hasCut() && !isText) next -= 1;
      if (end !== undefined) passed.push(...cutter.end());
      if (!cutter.hasCut()) return end === undefined ? { events: passed } : { events: passed, end };
      if (!readsOn) {
        // Always charge our own count of the delivered text, even if the report arrived in this
        // read: it covers text that is not delivered.
        isStopped = true;
        return { events: passed, end: 'finished', stopped: true };
      }
      hasCut = true;
      const rest: GenerationEvent = { kind: 'text-delta', text: cutter.rest() };
      return readOn(passed.slice(0, -1), [rest, ...events.slice(next)], end);
    },
  };
}
