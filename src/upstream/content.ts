// What of an answer is content, and about how much: for timers, which must not wait for a tokenizer.
// Reasoning, text and tool calls are content; usage and the end of an answer are none.

import { unreachable } from '../core/assert.ts';
import type { GenerationEvent } from '../core/generation.ts';

const BYTES_PER_TOKEN = 4;

/** About how many tokens of content there are; 0 only where there is no content. */
export function contentTokens(events: readonly GenerationEvent[]): number {
  let tokens = 0;
  for (const event of events) {
    tokens += event.kind === 'tool-start' ? 1 : textTokens(textOf(event));
  }
  return tokens;
}

/** Whether an event is of the answer itself: content, or its end. */
export function isAnswer({ kind }: GenerationEvent): boolean {
  return kind !== 'usage';
}

/** What an event costs tokens for; empty where it costs none. */
export function textOf(event: GenerationEvent): string {
  switch (event.kind) {
    case 'reasoning-delta':
    case 'text-delta':
      return event.text;
    case 'tool-start':
      return event.name;
    case 'tool-delta':
      return event.json;
    case 'usage':
    case 'finish':
      return '';
    default:
      return unreachable(event);
  }
}

/** No delta has less than a token, and bytes tell more than characters: Chinese ones are tokens. */
function textTokens(text: string): number {
  return text === '' ? 0 : Math.max(1, Buffer.byteLength(text) / BYTES_PER_TOKEN);
}
