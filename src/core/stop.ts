// Stop sequences: which of them an upstream gets, and the cut at the first one in its answer. The
// gateway cuts at all of them, because many servers ignore those that they get. An attempt applies
// this directly after the upstream's decoder. It must not hold back more text than necessary.

import type { GenerationEvent } from './generation.ts';
import type { UpstreamProfile } from './profile.ts';

/**
 * The stop sequences that an upstream of this profile gets: the first `stopMax` distinct ones that
 * it accepts. `reasons` says whether the model can reason. Deterministic for the same request. The
 * request parsers refuse empty sequences.
 */
export function sentStops(
  stop: readonly string[],
  profile: Pick<UpstreamProfile, 'stopMax' | 'stopWhenReasoning' | 'blankStops'>,
  reasons: boolean,
): readonly string[] {
  if (stop.length === 0) return stop;
  const max = reasons && profile.stopWhenReasoning === 'hold' ? 0 : profile.stopMax;
  const accepts = (sequence: string) => profile.blankStops === 'send' || sequence.trim() !== '';
  return [...new Set(stop)].filter(accepts).slice(0, max);
}

/**
 * Cuts an answer at the first occurrence of a sequence in its text, however the text is split into
 * deltas. It holds back only text that may be the start of a sequence, until it cannot be one or a
 * non-text event follows, so the order of events is preserved. Annotations do not wait for it.
 *
 * Only the answer's text is searched, as model servers do: a match in the thinking would remove the
 * answer, and one in a tool's arguments half of a call.
 */
export function createStopCutter(sequences: readonly string[]) {
  // Half of a surrogate pair is not a character, and cutting there would leave the other half.
  const watches = sequences.filter((sequence) => sequence.isWellFormed()).map(createWatch);
  let held = '';
  /** Where the first complete match begins in `held`, while an earlier one is still possible. */
  let found: number | undefined;
  let hasCut = false;
  let rest = '';

  function cut(text: string, at: number): GenerationEvent[] {
    hasCut = true;
    held = '';
    rest = text.slice(at);
    return [...textEvent(text.slice(0, at)), { kind: 'finish', reason: 'stop' }];
  }

  /** Releases the held text once no later text can complete a sequence. */
  function release(): GenerationEvent[] {
    if (found !== undefined) return cut(held, found);
    const text = held;
    held = '';
    for (const watch of watches) watch.reset();
    return textEvent(text);
  }

  function pushText(delta: string): GenerationEvent[] {
    const text = held + delta;
    /** Where the earliest sequence that may still be completed begins. */
    let open = text.length;
    // Each sequence reads the whole delta, which takes a third of the time of taking turns at each
    // unit. What begins after the earliest match makes no difference.
    for (const watch of watches) {
      const end = watch.read(delta);
      if (end !== undefined) {
        const start = held.length + end - watch.length;
        found = Math.min(found ?? start, start);
      }
      const matched = watch.matched();
      if (matched < watch.length) open = Math.min(open, text.length - matched);
    }
    if (found !== undefined && found <= open) return cut(text, found);
    held = text.slice(open);
    if (found !== undefined) found -= open;
    return textEvent(text.slice(0, open));
  }

  return {
    /** The events to pass on instead of this one; none once the answer has been cut. */
    push(event: GenerationEvent): readonly GenerationEvent[] {
      if (hasCut) return [];
      if (event.kind === 'text-delta') return pushText(event.text);
      if (event.kind === 'annotation') return [event];
      const released = release();
      return hasCut ? released : [...released, event];
    },
    /** The held text, for an answer that ends without a finish event. */
    end: (): readonly GenerationEvent[] => (hasCut ? [] : release()),
    /** Whether a sequence has ended the answer. Its last event was a finish with reason `stop`. */
    hasCut: (): boolean => hasCut,
    /** The text received by then that is not in the answer, from the sequence on. */
    rest: (): string => rest,
  };
}

function textEvent(text: string): GenerationEvent[] {
  return text === '' ? [] : [{ kind: 'text-delta', text }];
}

/**
 * Matches one sequence incrementally, one UTF-16 unit at a time (Knuth-Morris-Pratt), in amortized
 * constant time per unit. Comparing from the start at every delta would take minutes for the long
 * repetitive sequences that a hostile caller can send.
 */
function createWatch(sequence: string) {
  const borders = createBorders(sequence);
  let matched = 0;
  return {
    length: sequence.length,
    /** Where the sequence first ends in a delta; undefined if it does not. */
    read(delta: string): number | undefined {
      let first: number | undefined;
      for (let at = 0; at < delta.length; at += 1) {
        const unit = delta.charCodeAt(at);
        while (matched > 0 && sequence.charCodeAt(matched) !== unit) {
          matched = borders(matched - 1);
        }
        if (sequence.charCodeAt(matched) === unit) matched += 1;
        if (matched === sequence.length) first ??= at + 1;
      }
      return first;
    },
    /** The length of the longest prefix of the sequence that ends at the current position. */
    matched: () => matched,
    reset(): void {
      matched = 0;
    },
  };
}

/**
 * Returns the length of the longest proper border of the prefix that ends at an index. Computed as
 * far as the answer has matched, because callers can send sequences of megabytes.
 */
function createBorders(sequence: string) {
  const borders = [0];
  return (last: number): number => {
    for (let at = borders.length; at <= last; at += 1) {
      let border = borders[at - 1] ?? 0;
      while (border > 0 && sequence.charCodeAt(border) !== sequence.charCodeAt(at)) {
        border = borders[border - 1] ?? 0;
      }
      borders.push(sequence.charCodeAt(border) === sequence.charCodeAt(at) ? border + 1 : 0);
    }
    return borders[last] ?? 0;
  };
}
