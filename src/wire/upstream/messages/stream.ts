// A Messages stream: bytes in, events out. Called by the dialect, once a stream.

import type { GenerationEvent } from '../../../core/generation.ts';
import type { StreamDecoder } from '../../format.ts';
import { parseJson } from '../../json.ts';
import { type Conversation, NO_CONVERSATION } from '../call-names.ts';
import { createEventStream } from '../event-stream.ts';
import { createMessagesReader } from './event.ts';
import { messagesErrorEvent } from './failure.ts';

export function createMessagesStream(
  onEvent: (event: GenerationEvent) => void,
  conversation: Conversation = NO_CONVERSATION,
): StreamDecoder {
  const reader = createMessagesReader(onEvent, conversation);
  return createEventStream({
    read(text, event) {
      const value = parseJson(text);
      return value === undefined ? 'not JSON' : reader.read(value, text, event);
    },
    error: (text) => messagesErrorEvent(text, conversation.wrote),
    end: reader.end,
    isFinishing: reader.isFinishing,
  });
}
