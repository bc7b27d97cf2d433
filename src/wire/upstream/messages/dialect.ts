// The Messages dialect: what the servers of that format speak. This file only ties its parts
// together for the profile of one upstream.

import type { MessagesProfile } from '../../../core/profile.ts';
import type { UpstreamDialect } from '../../format.ts';
import { conversationOf, NO_CONVERSATION } from '../call-names.ts';
import { credentialHeader } from '../credential.ts';
import { messagesFailure } from './failure.ts';
import { writeMessagesRequest } from './request.ts';
import { readMessagesResponse } from './response.ts';
import { createMessagesStream } from './stream.ts';

export function messagesDialect(profile: MessagesProfile): UpstreamDialect {
  let conversation = NO_CONVERSATION;
  return {
    path: '/v1/messages',
    headers: (apiKey) => ({
      'content-type': 'application/json',
      'anthropic-version': profile.version,
      ...credentialHeader(profile.credential, apiKey),
    }),
    request(request, call) {
      conversation = conversationOf(request);
      return writeMessagesRequest(request, call, profile);
    },
    response: (body) => readMessagesResponse(body, conversation),
    stream: (onEvent) => createMessagesStream(onEvent, conversation),
    failure: (status, body) => messagesFailure(status, body, conversation.wrote),
  };
}
