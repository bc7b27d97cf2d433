// The Responses dialect. This file only combines its parts for the profile of one upstream; streams
// and whole answers share one reader. In a stream, ordinary deltas take the fast path, and all other
// events the parser.

import type { UpstreamFailure } from '../../../core/failure.ts';
import { Fold } from '../../../core/fold.ts';
import type { Answer, GenerationEvent } from '../../../core/generation.ts';
import { parseJson } from '../../../core/json.ts';
import type { ResponsesProfile } from '../../../core/responses-profile.ts';
import type { StreamDecoder, UpstreamDialect } from '../../format.ts';
import { type Conversation, conversationOf, NO_CONVERSATION } from '../call-names.ts';
import { credentialHeader } from '../credential.ts';
import { EventStream } from '../event-stream.ts';
import { malformed, statusFailure } from '../failure.ts';
import { type FrameLane, LearningLane } from '../frame.ts';
import { parseAnswer } from '../whole-answer.ts';
import { createResponsesReader, readResponsesError, responsesErrorEvent } from './event.ts';
import { ITEM_LANE, type ItemDelta } from './item.ts';
import { writeResponsesRequest } from './request.ts';

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
    usageSoFar: reader.usageSoFar,
  });
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
