// A whole chat-completions answer, read as a stream of one chunk.

import type { UpstreamFailure } from '../../../core/failure.ts';
import type { Answer, JsonObject } from '../../../core/generation.ts';
import { isObject } from '../../../core/json.ts';
import type { ChatProfile } from '../../../core/profile.ts';
import { type Conversation, NO_CONVERSATION } from '../call-names.ts';
import { malformed, readErrorRecord } from '../failure.ts';
import { toList, toText } from '../narrow.ts';
import { readWholeAnswer } from '../whole-answer.ts';
import { createChunkReader } from './chunk.ts';

/** Reads the body of a 200. An answer without choices is a failure. */
export function readChatResponse(
  body: string,
  profile: ChatProfile,
  conversation: Conversation = NO_CONVERSATION,
): Answer | UpstreamFailure {
  const readError = (value: JsonObject) => readErrorRecord(value, conversation.wrote);
  return readWholeAnswer(body, readError, (value, onEvent) => {
    const choice = toList(value['choices'])[0];
    if (!isObject(choice) || !isObject(choice['message'])) {
      return malformed('an answer without a choice');
    }
    const reader = createChunkReader(onEvent, profile, conversation);
    // A body that arrived whole is complete, with or without a word that says so. Its first choice is
    // the answer, whatever index it bears.
    const finish = toText(choice['finish_reason']) || 'stop';
    const only = { ...choice, index: 0, finish_reason: finish };
    return reader.read({ ...value, choices: [only] }, body, 'message') ?? reader.end();
  });
}
