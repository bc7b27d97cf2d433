// The end of an answer that has become far longer than its upstream was told it may be. Called by an
// attempt with each read. It must never cut an honest answer.

import type { UpstreamFailure } from '../core/failure.ts';
import type { GenerationEvent } from '../core/generation.ts';
import { textOf } from './content.ts';
import type { Batch } from './source.ts';

/**
 * An upstream that ignores the bound that it was told would be read for ever, at our cost. No
 * tokenizer makes tokens of this length on average, so nothing honest is cut.
 */
const CHARACTERS_PER_TOKEN = 16;
const CHARACTERS_SLACK = 65_536;
/** What each event counts for beside its text, so that empty ones are bounded too. */
const EVENT_CHARACTERS = 1;
const FLOODED: UpstreamFailure = {
  class: 'malformed',
  detail: 'the upstream sent far more than the bound that it was told',
};

/** Turns the batch that is too much into the last one. */
export function createFloodGuard(maxOutputTokens: number): (batch: Batch) => Batch {
  let charactersLeft = maxOutputTokens * CHARACTERS_PER_TOKEN + CHARACTERS_SLACK;
  return (batch) => {
    for (const event of batch.events) charactersLeft -= EVENT_CHARACTERS + characters(event);
    return charactersLeft < 0 ? { events: batch.events, end: FLOODED } : batch;
  };
}

/**
 * Signed thinking, in the finish, has a bound of its own in the decoder: an honest one may repeat all
 * of the thinking that has been counted here, and half as much again.
 */
function characters(event: GenerationEvent): number {
  const { length } = textOf(event);
  return event.kind === 'tool-start' ? event.id.length + length : length;
}
