// Detects an answer that is far longer than the bound sent to its upstream. An attempt checks each
// read and then ends. It must never cut a correct answer.

import type { UpstreamFailure } from '../core/failure.ts';
import type { GenerationEvent } from '../core/generation.ts';
import { textOf } from './content.ts';

/**
 * An upstream that ignores its bound would be read forever, at our cost. The longest tokens of the
 * usual vocabularies are runs of 128 blanks, and a caller can ask for nothing else: an answer that
 * failed here would cost its caller less than it cost us.
 */
const CHARACTERS_PER_TOKEN = 128;
const CHARACTERS_SLACK = 65_536;
/** Counted for each event in addition to its text, so that empty events are bounded too. */
const EVENT_CHARACTERS = 1;
export const FLOODED: UpstreamFailure = {
  class: 'malformed',
  detail: 'the upstream sent far more output than its bound allows',
};

/** The number of characters that an answer with this bound may have. */
export function charactersAllowed(maxOutputTokens: number): number {
  return maxOutputTokens * CHARACTERS_PER_TOKEN + CHARACTERS_SLACK;
}

/** The characters counted for the events of a read. */
export function charactersOf(events: readonly GenerationEvent[]): number {
  let all = 0;
  for (const event of events) all += EVENT_CHARACTERS + characters(event);
  return all;
}

/**
 * Signed thinking, in the finish event, has its own bound in the decoder: a correct answer may
 * repeat all thinking counted here, plus half of it.
 */
function characters(event: GenerationEvent): number {
  const { length } = textOf(event);
  return event.kind === 'tool-start' ? event.id.length + length : length;
}
