// The Responses dialect. This file only combines its parts for the profile of one upstream.

import type { ResponsesProfile } from '../../../core/profile.ts';
import type { UpstreamDialect } from '../../format.ts';
import { conversationOf, NO_CONVERSATION } from '../call-names.ts';
import { credentialHeader } from '../credential.ts';
import { statusFailure, unsupported } from '../failure.ts';

export function responsesDialect(profile: ResponsesProfile): UpstreamDialect {
  let conversation = NO_CONVERSATION;
  return {
    path: '/responses',
    headers: (apiKey) => ({
      'content-type': 'application/json',
      ...credentialHeader(profile.credential, apiKey),
    }),
    request(request) {
      conversation = conversationOf(request);
      return unsupported('Responses');
    },
    response: () => unsupported('Responses'),
    stream: () => ({
      feed: () => unsupported('Responses'),
      end: () => unsupported('Responses'),
      isFinishing: () => false,
    }),
    failure: (status, body) => statusFailure(status, body, conversation.wrote),
  };
}
