// Classifies content and estimates its tokens, for timers that must not wait for a tokenizer.
// Reasoning, text and tool calls are content; annotations, usage and the finish are not.

import { unreachable } from '../core/assert.ts';
import type { GenerationEvent } from '../core/generation.ts';

const BYTES_PER_TOKEN = 4;

/** An estimate of the content's tokens; 0 only if there is no content. */
export function contentTokens(events: readonly GenerationEvent[]): number {
  let tokens = 0;
  for (const event of events) {
    tokens += event.kind === 'tool-start' ? 1 : textTokens(textOf(event));
  }
  return tokens;
}

/** Whether an event belongs to the answer itself: content, or its end. */
export function isAnswer({ kind }: GenerationEvent): boolean {
  return kind !== 'usage' && kind !== 'annotation';
}

/** The part of an event that is counted in tokens; empty if none is. */
export function textOf(event: GenerationEvent): string {
  switch (event.kind) {
    case 'reasoning-delta':
    case 'text-delta':
      return event.text;
    case 'tool-start':
      return event.name;
    case 'tool-delta':
      return event.json;
    case 'annotation':
    case 'usage':
    case 'finish':
      return '';
    default:
      return unreachable(event);
  }
}

/** At least one token per delta. Estimated from bytes: a Chinese character is about one token. */
function textTokens(text: string): number {
  return text === '' ? 0 : Math.max(1, Buffer.byteLength(text) / BYTES_PER_TOKEN);
}
