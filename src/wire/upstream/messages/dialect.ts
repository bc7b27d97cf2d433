// The Messages dialect. This file only combines its parts for the profile of one upstream; streams
// and whole answers share one reader.

import type { UpstreamFailure } from '../../../core/failure.ts';
import { Fold } from '../../../core/fold.ts';
import type { Answer } from '../../../core/generation.ts';
import { parseJson } from '../../../core/json.ts';
import type { MessagesProfile } from '../../../core/profile.ts';
import type { UpstreamCall, UpstreamDialect } from '../../format.ts';
import { type Conversation, conversationOf, NO_CONVERSATION } from '../call-names.ts';
import { credentialHeader } from '../credential.ts';
import { EventStream } from '../event-stream.ts';
import { malformed } from '../failure.ts';
import { parseAnswer } from '../whole-answer.ts';
import { createMessagesReader } from './event.ts';
import { messagesErrorEvent, messagesFailure, readMessagesError } from './failure.ts';
import { writeMessagesRequest } from './request.ts';
import { BINDING_BETA } from './thinking.ts';

export function messagesDialect(profile: MessagesProfile): UpstreamDialect {
  let conversation = NO_CONVERSATION;
  return {
    path: (call) => (profile.address === 'vertex' ? vertexPath(call) : '/v1/messages'),
    headers: (apiKey) => ({
      'content-type': 'application/json',
      ...(profile.address === 'vertex' ? {} : { 'anthropic-version': profile.version }),
      ...(profile.thinkingBinding === 'drop_block' && { 'anthropic-beta': BINDING_BETA }),
      ...credentialHeader(profile.credential, apiKey),
    }),
    request(request, call) {
      conversation = conversationOf(request);
      return writeMessagesRequest(request, call, profile);
    },
    response: (body) => readMessagesResponse(body, conversation),
    stream(onEvent) {
      const reader = createMessagesReader(onEvent, conversation);
      const { read, end, isFinishing, serviceTier, usageSoFar } = reader;
      return new EventStream({
        read(text, event) {
          const value = parseJson(text);
          return value === undefined ? 'not JSON' : read(value, text, event);
        },
        error: (text) => messagesErrorEvent(text, conversation.wrote),
        end,
        hasFinish: isFinishing,
        isFinishing,
        serviceTier,
        usageSoFar,
      });
    },
    failure: (status, body) => messagesFailure(status, body, conversation.wrote),
  };
}

/** Google names a version of a model after "@", and the method after ":". */
function vertexPath({ model, stream }: UpstreamCall): string {
  const name = encodeURIComponent(model).replaceAll('%40', '@');
  return `/${name}:${stream ? 'streamRawPredict' : 'rawPredict'}`;
}

function readMessagesResponse(body: string, conversation: Conversation): Answer | UpstreamFailure {
  const message = parseAnswer(body);
  if (typeof message === 'string') return malformed(message);
  const error = readMessagesError(message, conversation.wrote);
  if (error !== undefined) return error;
  if (!Array.isArray(message['content'])) return malformed('an answer without content');
  const fold = new Fold();
  const reader = createMessagesReader((event) => fold.push(event), conversation);
  return reader.readMessage(message, body) ?? reader.end() ?? fold.answer();
}
