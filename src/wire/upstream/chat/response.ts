// A whole chat-completions answer, read by the reader of chunks.

import type { UpstreamFailure } from '../../../core/failure.ts';
import type { Answer, JsonObject } from '../../../core/generation.ts';
import { isObject } from '../../../core/json.ts';
import type { ChatProfile } from '../../../core/profile.ts';
import { type Conversation, NO_CONVERSATION } from '../call-names.ts';
import { malformed, readErrorRecord } from '../failure.ts';
import { toList } from '../narrow.ts';
import { readWholeAnswer } from '../whole-answer.ts';
import { ChunkReader } from './chunk.ts';

/** Reads the body of a 200. An answer without choices is a failure. */
export function readChatResponse(
  body: string,
  profile: ChatProfile,
  conversation: Conversation = NO_CONVERSATION,
): Answer | UpstreamFailure {
  const readError = (value: JsonObject) => readErrorRecord(value, conversation.wrote);
  return readWholeAnswer(body, readError, (value, onEvent) => {
    // The first choice is the answer, whatever index it bears.
    const choice = toList(value['choices'])[0];
    if (!isObject(choice) || !isObject(choice['message'])) {
      return malformed('an answer without a choice');
    }
    const reader = new ChunkReader(onEvent, profile, conversation);
    return reader.readWhole(value, choice, body) ?? reader.end();
  });
}
