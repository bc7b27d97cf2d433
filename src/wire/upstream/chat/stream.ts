// A chat-completions stream: bytes in, events out.

import type { GenerationEvent } from '../../../core/generation.ts';
import type { ChatProfile } from '../../../core/profile.ts';
import type { StreamDecoder } from '../../format.ts';
import { parseJson } from '../../json.ts';
import { createEventStream } from '../event-stream.ts';
import { errorEventFailure } from '../failure.ts';
import { createChunkReader } from './chunk.ts';
import { createFrameLane, type FrameLane } from './frame.ts';

/** The events are the same with a lane that matches nothing, which a test holds it to. */
export function createChatStream(
  onEvent: (event: GenerationEvent) => void,
  profile: ChatProfile,
  seed = '',
  lane: FrameLane = createFrameLane(),
): StreamDecoder {
  const reader = createChunkReader(onEvent, profile, seed);
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
    error: errorEventFailure,
    end: reader.end,
    isFinishing: reader.isFinishing,
  });
}
