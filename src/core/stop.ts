// Stop sequences that an upstream is not told, because it takes fewer of them than a request may
// carry or none of white space: the gateway cuts the answer at those itself. Called by an attempt,
// between the upstream's decoder and everybody else. It must not hold back more than it has to.

import type { GenerationEvent } from './generation.ts';
import type { UpstreamProfile } from './profile.ts';

type Stops = {
  /** What the upstream is told. */
  readonly sent: readonly string[];
  /** What the gateway itself cuts the answer at. */
  readonly cut: readonly string[];
};

const NO_STOPS: Stops = { sent: [], cut: [] };

/**
 * Divides a request's stop sequences, duplicates removed, for the upstream of a profile: the first
 * `stopMax` that it takes are sent, the others are cut by us. `reasons` says whether the model can
 * reason. The same request is always divided the same way. Empty sequences do not get here: the
 * request parsers refuse them.
 */
export function splitStops(
  stop: readonly string[],
  profile: Pick<UpstreamProfile, 'stopMax' | 'stopWhenReasoning' | 'blankStops'>,
  reasons: boolean,
): Stops {
  if (stop.length === 0) return NO_STOPS;
  const max = reasons && profile.stopWhenReasoning === 'hold' ? 0 : profile.stopMax;
  const sent: string[] = [];
  const cut: string[] = [];
  for (const sequence of new Set(stop)) {
    const taken = profile.blankStops === 'send' || sequence.trim() !== '';
    if (taken && sent.length < max) sent.push(sequence);
    else cut.push(sequence);
  }
  return { sent, cut };
}

/**
 * Cuts one answer where the first of the sequences begins in its text, however that is split into
 * deltas. Only text that may turn out to be the beginning of a sequence is held back, until it
 * cannot be one any more or anything but text follows: so no event overtakes another.
 *
 * Only the answer's text is watched, as model servers do it: a sequence in the thinking would take
 * away the answer, and one in a tool's arguments half of a call.
 */
export function createStopCutter(sequences: readonly string[]) {
  // Half of a surrogate pair is no character, and to cut there would leave its other half.
  const watches = sequences.filter((sequence) => sequence.isWellFormed()).map(createWatch);
  let held = '';
  /** Where the first whole sequence begins, from the start of `held`, while another may come first. */
  let found: number | undefined;
  let hasCut = false;
  let rest = '';

  function cut(text: string, at: number): GenerationEvent[] {
    hasCut = true;
    held = '';
    rest = text.slice(at);
    return [...textEvent(text.slice(0, at)), { kind: 'finish', reason: 'stop' }];
  }

  /** Nothing that follows can complete a sequence. */
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
    let open = 0;
    for (let at = held.length; at < text.length; at += 1) {
      const unit = delta.charCodeAt(at - held.length);
      open = at + 1;
      for (const watch of watches) {
        const matched = watch.follow(unit);
        const start = at + 1 - matched;
        if (matched < watch.length) open = Math.min(open, start);
        else if (found === undefined || start < found) found = start;
      }
      if (found !== undefined && found <= open) return cut(text, found);
    }
    held = text.slice(open);
    if (found !== undefined) found -= open;
    return textEvent(text.slice(0, open));
  }

  return {
    /** The events to pass on in place of this one; none once the answer has been cut. */
    push(event: GenerationEvent): readonly GenerationEvent[] {
      if (hasCut) return [];
      if (event.kind === 'text-delta') return pushText(event.text);
      const released = release();
      return hasCut ? released : [...released, event];
    },
    /** What was held back, for an answer that ends without a finish. */
    end: (): readonly GenerationEvent[] => (hasCut ? [] : release()),
    /** Whether a sequence has ended the answer. Its last event was a finish with reason `stop`. */
    hasCut: (): boolean => hasCut,
    /** The text that had come by then and is not in the answer, from the sequence on. */
    rest: (): string => rest,
  };
}

function textEvent(text: string): GenerationEvent[] {
  return text === '' ? [] : [{ kind: 'text-delta', text }];
}

/**
 * Follows one sequence through a text, one UTF-16 unit at a time, after Knuth, Morris and Pratt: in
 * constant time a unit on average. Comparing anew with every delta would take minutes for the long
 * and repetitive sequences that a hostile caller can send.
 */
function createWatch(sequence: string) {
  const borders = bordersOf(sequence);
  let matched = 0;
  return {
    length: sequence.length,
    /** How many units at the end of the text are the beginning, or the whole, of the sequence. */
    follow(unit: number): number {
      while (matched > 0 && sequence.charCodeAt(matched) !== unit) {
        matched = borders[matched - 1] ?? 0;
      }
      if (sequence.charCodeAt(matched) === unit) matched += 1;
      return matched;
    },
    reset(): void {
      matched = 0;
    },
  };
}

/** For each beginning of the sequence, the length of its longest proper border: both ends alike. */
function bordersOf(sequence: string): Int32Array {
  const borders = new Int32Array(sequence.length);
  let border = 0;
  for (let at = 1; at < sequence.length; at += 1) {
    const unit = sequence.charCodeAt(at);
    while (border > 0 && sequence.charCodeAt(border) !== unit) border = borders[border - 1] ?? 0;
    if (sequence.charCodeAt(border) === unit) border += 1;
    borders[at] = border;
  }
  return borders;
}
