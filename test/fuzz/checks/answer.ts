// Small readings of answers that several laws compare by.

import { Fold } from '../../../src/core/fold.ts';
import type { Answer, GenerationEvent } from '../../../src/core/generation.ts';

/** The whole answer of a stream. */
export function fold(events: readonly GenerationEvent[]): Answer {
  const folded = new Fold();
  for (const event of events) folded.push(event);
  return folded.answer();
}

/** White space at a border between text and calls is not text. */
export function solid(text: string): string {
  return text.replace(/\s+/g, '');
}

/** The parsed JSON, or undefined. */
export function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

export function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
