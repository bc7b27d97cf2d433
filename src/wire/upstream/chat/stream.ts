// A chat-completions stream: bytes in, events out. Called by the dialect, once a stream. Ordinary
// chunks take the fast lane, all others the parser; both end in the same reader.

import type { GenerationEvent } from '../../../core/generation.ts';
import { parseJson } from '../../../core/json.ts';
import type { ChatProfile } from '../../../core/profile.ts';
import type { StreamDecoder } from '../../format.ts';
import { type Conversation, NO_CONVERSATION } from '../call-names.ts';
import { createEventStream } from '../event-stream.ts';
import { errorEventFailure } from '../failure.ts';
import { createChunkReader } from './chunk.ts';
import { createFrameLane, type FrameLane } from './frame.ts';

/** A test hands in a lane that matches nothing, and holds that the events are the same. */
export function createChatStream(
  onEvent: (event: GenerationEvent) => void,
  profile: ChatProfile,
  conversation: Conversation = NO_CONVERSATION,
  lane: FrameLane = createFrameLane(),
): StreamDecoder {
  const reader = createChunkReader(onEvent, profile, conversation);
  return createEventStream({
    read(text) {
      const delta = lane.match(text);
      if (delta !== undefined) {
        reader.readPlain(delta);
        return undefined;
      }
      const value = parseJson(text);
      if (value === undefined) return 'not JSON';
      const failure = reader.read(value, text, 'delta');
      if (failure === undefined) lane.learn(text, value);
      return failure;
    },
    error: (text) => errorEventFailure(text, conversation.wrote),
    end: reader.end,
    isFinishing: reader.isFinishing,
  });
}
