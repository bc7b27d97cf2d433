// Splits the text of events into pieces that are counted one at a time.

import { yieldToEventLoop } from '../async/yield.ts';
import type { GenerationEvent } from '../core/generation.ts';
import { isHighSurrogate } from '../core/surrogate.ts';
import { textOf } from '../upstream/content.ts';

/** The length of a piece. */
const PIECE_CHARACTERS = 512;

/** Characters counted per turn of the event loop. */
export const YIELD_CHARACTERS = 16_384;

/** Yields to the event loop once enough characters have been counted. */
export function createYield(): (characters: number) => Promise<void> | undefined {
  let counted = 0;
  return (characters) => {
    counted += characters;
    if (counted <= YIELD_CHARACTERS) return undefined;
    counted = 0;
    return yieldToEventLoop();
  };
}

export function withText(event: GenerationEvent, text: string): GenerationEvent {
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

/** Splits a long text into pieces, never inside a surrogate pair. */
export function pieces(event: GenerationEvent): readonly GenerationEvent[] {
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
