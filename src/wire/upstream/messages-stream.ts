// A Messages stream: bytes in, events out.

import type { GenerationEvent } from '../../core/generation.ts';
import type { StreamDecoder } from '../format.ts';

export function createMessagesStream(_onEvent: (event: GenerationEvent) => void): StreamDecoder {
  return {
    feed: () => ({ class: 'malformed', detail: 'not written yet' }),
    end: () => undefined,
  };
}
