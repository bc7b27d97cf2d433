// When an answer has become far longer than its upstream was told it may be. Asked by an attempt with
// each read, which then ends. It must never cut an honest answer.

import type { UpstreamFailure } from '../core/failure.ts';
import type { GenerationEvent } from '../core/generation.ts';
import { textOf } from './content.ts';

/**
 * An upstream that ignores the bound that it was told would be read for ever, at our cost. No
 * tokenizer makes tokens of this length on average, so nothing honest is cut.
 */
const CHARACTERS_PER_TOKEN = 16;
const CHARACTERS_SLACK = 65_536;
/** What each event counts for beside its text, so that empty ones are bounded too. */
const EVENT_CHARACTERS = 1;
export const FLOODED: UpstreamFailure = {
  class: 'malformed',
  detail: 'the upstream sent far more than the bound that it was told',
};

/** How many characters an answer may have that was told this bound. */
export function charactersAllowed(maxOutputTokens: number): number {
  return maxOutputTokens * CHARACTERS_PER_TOKEN + CHARACTERS_SLACK;
}

/** What the events of a read count for. */
export function charactersOf(events: readonly GenerationEvent[]): number {
  let all = 0;
  for (const event of events) all += EVENT_CHARACTERS + characters(event);
  return all;
}

/**
 * Signed thinking, in the finish, has a bound of its own in the decoder: an honest one may repeat all
 * of the thinking that has been counted here, and half as much again.
 */
function characters(event: GenerationEvent): number {
  const { length } = textOf(event);
  return event.kind === 'tool-start' ? event.id.length + length : length;
}
