// The Responses dialect. This file only combines its parts for the profile of one upstream; streams
// and whole answers share one reader.

import type { UpstreamFailure } from '../../../core/failure.ts';
import { Fold } from '../../../core/fold.ts';
import type { Answer } from '../../../core/generation.ts';
import type { ResponsesProfile } from '../../../core/responses-profile.ts';
import type { UpstreamDialect } from '../../format.ts';
import { type Conversation, conversationOf, NO_CONVERSATION } from '../call-names.ts';
import { credentialHeader } from '../credential.ts';
import { malformed, statusFailure } from '../failure.ts';
import { parseAnswer } from '../whole-answer.ts';
import { createResponsesReader } from './event.ts';
import { readResponsesError } from './failure.ts';
import { writeResponsesRequest } from './request.ts';
import { createResponsesStream } from './stream.ts';

export function responsesDialect(profile: ResponsesProfile): UpstreamDialect {
  let conversation = NO_CONVERSATION;
  return {
    path: () => '/responses',
    headers: (apiKey) => ({
      'content-type': 'application/json',
      ...credentialHeader(profile.credential, apiKey),
    }),
    request(request, call) {
      conversation = conversationOf(request);
      return writeResponsesRequest(request, call, profile);
    },
    response: (body) => readWhole(body, profile, conversation),
    stream(onEvent) {
      return createResponsesStream(onEvent, profile, conversation);
    },
    failure: (status, body) => statusFailure(status, body, conversation.wrote),
  };
}

function readWhole(
  body: string,
  profile: ResponsesProfile,
  conversation: Conversation,
): Answer | UpstreamFailure {
  const response = parseAnswer(body);
  if (typeof response === 'string') return malformed(response);
  const error = readResponsesError(response, conversation.wrote);
  if (error !== undefined) return error;
  if (!Array.isArray(response['output'])) return malformed('an answer without output');
  const fold = new Fold();
  const reader = createResponsesReader((event) => fold.push(event), profile, conversation);
  return reader.readWhole(response) ?? reader.end() ?? fold.answer();
}
