// A whole chat-completions answer. It is read as a stream of one chunk and folded, so that what a
// client gets does not depend on whether the upstream was asked to stream.

import type { UpstreamFailure } from '../../../core/failure.ts';
import { createFold } from '../../../core/fold.ts';
import type { Answer } from '../../../core/generation.ts';
import type { ChatProfile } from '../../../core/profile.ts';
import { isObject, parseJson } from '../../json.ts';
import { type Conversation, NO_CONVERSATION } from '../call-names.ts';
import { malformed, readErrorRecord } from '../failure.ts';
import { ANSWER_BYTES_MAX } from '../limits.ts';
import { toList, toText } from '../narrow.ts';
import { createChunkReader } from './chunk.ts';

/** Reads the body of a 200. HTML, an error object and an answer without choices are failures. */
export function readChatResponse(
  body: string,
  profile: ChatProfile,
  conversation: Conversation = NO_CONVERSATION,
): Answer | UpstreamFailure {
  if (body.length > ANSWER_BYTES_MAX) return malformed(`more than ${ANSWER_BYTES_MAX} bytes`);
  const value = parseJson(body);
  if (!isObject(value)) return malformed('a body that is not a JSON object');
  const error = readErrorRecord(value, conversation.wrote);
  if (error !== undefined) return error;
  const choice = toList(value['choices'])[0];
  if (!isObject(choice) || !isObject(choice['message'])) {
    return malformed('an answer without a choice');
  }
  const fold = createFold();
  const reader = createChunkReader(fold.push, profile, conversation);
  // A body that arrived whole is complete, with or without a word that says so. Its first choice is
  // the answer, whatever index it bears.
  const finish = toText(choice['finish_reason']) || 'stop';
  const only = { ...choice, index: 0, finish_reason: finish };
  const failure = reader.read({ ...value, choices: [only] }, body, 'message') ?? reader.end();
  return failure ?? fold.answer();
}
