// A chat-completions stream: bytes in, events out. `finish` is always the last event: it comes at
// `[DONE]` or at the end of the bytes, so a reader may stop there and leave the rest unread. Where
// a connection breaks, `end` still says whether the answer had been complete.

import type { UpstreamFailure } from '../../core/failure.ts';
import type { GenerationEvent } from '../../core/generation.ts';
import type { ChatProfile } from '../../core/profile.ts';
import type { StreamDecoder } from '../format.ts';
import { parseJson } from '../json.ts';
import { createSseDecoder } from '../sse.ts';
import { createChunkReader } from './chat-chunk.ts';
import { errorEventFailure } from './chat-failure.ts';
import { createFrameLane, type FrameLane } from './chat-frame.ts';
import { STREAM_LIMITS } from './limits.ts';

/**
 * Returns a decoder for one stream. After a failure it emits nothing and repeats the failure.
 * The events are the same with a lane that matches nothing, which a test holds it to.
 */
export function createChatStream(
  onEvent: (event: GenerationEvent) => void,
  profile: ChatProfile,
  lane: FrameLane = createFrameLane(),
): StreamDecoder {
  const reader = createChunkReader(onEvent, profile);
  const sse = createSseDecoder(onRecord, STREAM_LIMITS);
  let failure: UpstreamFailure | undefined;
  let done = false;
  let atEnd = false;

  function onRecord(data: string, event: string): void {
    if (!done && failure === undefined) failure = readRecord(data, event);
  }

  function readRecord(data: string, event: string): UpstreamFailure | undefined {
    const text = data.trim();
    if (text === '[DONE]') {
      done = true;
      return reader.end();
    }
    if (event === 'error') return errorEventFailure(text);
    // Keep-alives that should have been comments: `data:` and `data: : keepalive`.
    if (text === '' || text.startsWith(':')) return undefined;
    const delta = lane.match(text);
    if (delta !== undefined) {
      reader.readPlain(delta);
      return undefined;
    }
    const value = parseJson(text);
    if (value !== undefined) {
      const broken = reader.read(value, text, 'delta');
      if (broken === undefined) lane.learn(text, value);
      return broken;
    }
    // The bytes ended inside an event. Whether that matters is for the finish reason to say.
    if (atEnd) return undefined;
    return { class: 'malformed', detail: 'the upstream sent an event that is not JSON' };
  }

  return {
    feed(bytes) {
      if (done || failure !== undefined) return failure;
      const broken = sse.feed(bytes);
      if (!done) failure ??= broken;
      return failure;
    },
    end() {
      if (done || failure !== undefined) return failure;
      atEnd = true;
      const broken = sse.end();
      if (!done) failure ??= broken ?? reader.end();
      done = true;
      return failure;
    },
  };
}
