// A whole answer of a Messages upstream, read by the same reader as a stream and folded, so that
// what a client gets does not depend on whether the upstream was asked to stream.

import type { UpstreamFailure } from '../../../core/failure.ts';
import { createFold } from '../../../core/fold.ts';
import type { Answer } from '../../../core/generation.ts';
import { isObject, parseJson } from '../../json.ts';
import { type Conversation, NO_CONVERSATION } from '../call-names.ts';
import { malformed } from '../failure.ts';
import { ANSWER_BYTES_MAX } from '../limits.ts';
import { createMessagesReader } from './event.ts';
import { readMessagesError } from './failure.ts';

/** Reads the body of a 200. HTML, an error object and an answer without content are failures. */
export function readMessagesResponse(
  body: string,
  conversation: Conversation = NO_CONVERSATION,
): Answer | UpstreamFailure {
  if (body.length > ANSWER_BYTES_MAX) return malformed(`more than ${ANSWER_BYTES_MAX} bytes`);
  const value = parseJson(body);
  if (!isObject(value)) return malformed('a body that is not a JSON object');
  const error = readMessagesError(value, conversation.wrote);
  if (error !== undefined) return error;
  if (!Array.isArray(value['content'])) return malformed('an answer without content');
  const fold = createFold();
  const reader = createMessagesReader(fold.push, conversation);
  const failure = reader.readMessage(value, body) ?? reader.end();
  return failure ?? fold.answer();
}
