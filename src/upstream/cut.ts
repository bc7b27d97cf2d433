// Ends an answer at the stop sequences that its upstream was not sent. Called by an attempt with each
// read. Where the answer may have cost thinking that it does not show, the upstream is read on for
// its report, in the bounds of any answer; otherwise it is to be stopped.

import type { GenerationEvent, GenerationRequest } from '../core/generation.ts';
import { mayHideThinking } from '../core/hidden.ts';
import type { Candidate } from '../core/route.ts';
import { createStopCutter, splitStops } from '../core/stop.ts';
import type { Batch } from './source.ts';

const FINISH: GenerationEvent = { kind: 'finish', reason: 'stop' };

/** Undefined where the upstream is sent all sequences. */
export function createCut(candidate: Candidate, request: Pick<GenerationRequest, 'stop'>) {
  const { model, upstream } = candidate;
  // The demonstration, inside the program, takes any number of them.
  if (request.stop.length === 0 || upstream.dialect === 'demo') return undefined;
  const { cut } = splitStops(request.stop, upstream.profile, model.features.has('reasoning'));
  if (cut.length === 0) return undefined;
  const cutter = createStopCutter(cut);
  let isReadOn = false;
  let isStopped = false;

  /** The answer is whole for its client, however its upstream ends: only its finish has to wait. */
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
    /** Whether the answer has ended before its upstream, which is not read any further. */
    isStopped: () => isStopped,
    take({ events, end }: Batch): Batch {
      if (isReadOn) return readOn([], events, end);
      const passed: GenerationEvent[] = [];
      let next = 0;
      for (; next < events.length && !cutter.hasCut(); next += 1) {
        const event = events[next];
        if (event !== undefined) passed.push(...cutter.push(event));
      }
      const last = events[next - 1];
      const isText = last?.kind === 'text-delta';
      // What is not text is behind the text that it has released.
      if (cutter.hasCut() && !isText) next -= 1;
      if (end !== undefined) passed.push(...cutter.end());
      if (!cutter.hasCut()) return end === undefined ? { events: passed } : { events: passed, end };
      if (!mayHideThinking(candidate)) {
        // Our own count of what is delivered is charged, however the bytes fell: also where the
        // report came in this very read, for it is about text that is not delivered.
        isStopped = true;
        return { events: passed, end: 'finished' };
      }
      isReadOn = true;
      const rest: GenerationEvent = { kind: 'text-delta', text: cutter.rest() };
      return readOn(passed.slice(0, -1), [rest, ...events.slice(next)], end);
    },
  };
}
