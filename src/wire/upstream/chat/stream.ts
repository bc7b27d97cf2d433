// Decodes a chat-completions stream from bytes to events. Ordinary chunks take the fast path, all
// others the parser; both use the same reader.

import type { UpstreamFailure } from '../../../core/failure.ts';
import type { GenerationEvent } from '../../../core/generation.ts';
import { parseJson } from '../../../core/json.ts';
import type { ChatProfile } from '../../../core/profile.ts';
import type { StreamDecoder } from '../../format.ts';
import { type Conversation, NO_CONVERSATION } from '../call-names.ts';
import { EventStream } from '../event-stream.ts';
import { type FrameLane, LearningLane } from '../frame.ts';
import { ChunkReader } from './chunk.ts';
import { PLAIN_LANE, type PlainDelta } from './delta.ts';

/** A test passes a fast path that matches nothing, and checks that the events are the same. */
export function createChatStream(
  onEvent: (event: GenerationEvent) => void,
  profile: ChatProfile,
  conversation: Conversation = NO_CONVERSATION,
  lane: FrameLane<PlainDelta> = new LearningLane(PLAIN_LANE),
): StreamDecoder {
  return new EventStream(new ChatEvents(onEvent, profile, conversation, lane));
}

/** Reads the records of a stream. */
class ChatEvents extends ChunkReader {
  readonly #lane: FrameLane<PlainDelta>;

  constructor(
    onEvent: (event: GenerationEvent) => void,
    profile: ChatProfile,
    conversation: Conversation,
    lane: FrameLane<PlainDelta>,
  ) {
    super(onEvent, profile, conversation);
    this.#lane = lane;
  }

  readFast(text: string, from: number, to: number): boolean {
    const delta = this.#lane.match(text, from, to);
    if (delta !== undefined) this.readPlain(delta);
    return delta !== undefined;
  }

  read(text: string): UpstreamFailure | 'not JSON' | undefined {
    if (this.readFast(text, 0, text.length)) return undefined;
    const value = parseJson(text);
    if (value === undefined) return 'not JSON';
    const failure = this.readChunk(value, text);
    if (failure === undefined) this.#lane.learn(text, value);
    return failure;
  }
}
