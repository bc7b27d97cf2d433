// Decodes a Responses stream from bytes to events. Ordinary deltas take the fast path, all other
// events the parser; both use the same reader.

import type { GenerationEvent } from '../../../core/generation.ts';
import { parseJson } from '../../../core/json.ts';
import type { ResponsesProfile } from '../../../core/responses-profile.ts';
import type { StreamDecoder } from '../../format.ts';
import { type Conversation, NO_CONVERSATION } from '../call-names.ts';
import { EventStream } from '../event-stream.ts';
import { type FrameLane, LearningLane } from '../frame.ts';
import { ITEM_LANE, type ItemDelta } from './delta.ts';
import { createResponsesReader } from './event.ts';
import { responsesErrorEvent } from './failure.ts';

/** A test passes a fast path that matches nothing, and checks that the events are the same. */
export function createResponsesStream(
  onEvent: (event: GenerationEvent) => void,
  profile: ResponsesProfile,
  conversation: Conversation = NO_CONVERSATION,
  lane: FrameLane<ItemDelta> = new LearningLane(ITEM_LANE),
): StreamDecoder {
  const reader = createResponsesReader(onEvent, profile, conversation);
  const readFast = (text: string, from: number, to: number): boolean => {
    const delta = lane.match(text, from, to);
    return delta !== undefined && reader.readKnown(delta);
  };
  return new EventStream({
    readFast,
    read(text, event) {
      if (readFast(text, 0, text.length)) return undefined;
      const value = parseJson(text);
      if (value === undefined) return 'not JSON';
      const outcome = reader.read(value, event);
      if (outcome === undefined) lane.learn(text, value);
      return outcome;
    },
    error: (text) => responsesErrorEvent(text, conversation.wrote),
    end: reader.end,
    hasFinish: reader.isFinishing,
    isFinishing: reader.isFinishing,
    serviceTier: reader.serviceTier,
  });
}
