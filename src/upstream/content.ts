// What of an answer is content, and about how much: for timers, which must not wait for a tokenizer.
// Reasoning, text and tool calls are content; usage and the end of an answer are none.

import { unreachable } from '../core/assert.ts';
import type { GenerationEvent } from '../core/generation.ts';

const BYTES_PER_TOKEN = 4;

/** About how many tokens of content there are; 0 only where there is no content. */
export function contentTokens(events: readonly GenerationEvent[]): number {
  let tokens = 0;
  for (const event of events) {
    switch (event.kind) {
      case 'reasoning-delta':
      case 'text-delta':
        tokens += textTokens(event.text);
        break;
      case 'tool-start':
        tokens += 1;
        break;
      case 'tool-delta':
        tokens += textTokens(event.json);
        break;
      case 'usage':
      case 'finish':
        break;
      default:
        unreachable(event);
    }
  }
  return tokens;
}

/** No delta has less than a token, and bytes tell more than characters: Chinese ones are tokens. */
function textTokens(text: string): number {
  return text === '' ? 0 : Math.max(1, Buffer.byteLength(text) / BYTES_PER_TOKEN);
}
