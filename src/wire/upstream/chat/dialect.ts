// The chat-completions dialect: what most servers of language models speak. This file only ties its
// parts together for the profile of one upstream.

import type { GenerationRequest } from '../../../core/generation.ts';
import type { ChatProfile } from '../../../core/profile.ts';
import type { UpstreamCall, UpstreamDialect } from '../../format.ts';
import { conversationOf, NO_CONVERSATION } from '../call-names.ts';
import { credentialHeader } from '../credential.ts';
import { statusFailure } from '../failure.ts';
import { isThinking, settleReasoning } from './reasoning.ts';
import { writeChatRequest } from './request.ts';
import { readChatResponse } from './response.ts';
import { createChatStream } from './stream.ts';
import { arrangeTurns } from './turns.ts';

export function chatDialect(profile: ChatProfile): UpstreamDialect {
  /** A codec serves one attempt: how its answer is read may depend on what was asked. */
  let answerProfile = profile;
  let conversation = NO_CONVERSATION;
  return {
    path: '/chat/completions',
    headers: (apiKey) => ({
      'content-type': 'application/json',
      ...credentialHeader(profile.credential, apiKey),
    }),
    request(request, call) {
      answerProfile = profileOfAnswer(request, call, profile);
      conversation = conversationOf(request);
      return writeChatRequest(request, call, profile);
    },
    response: (body) => readChatResponse(body, answerProfile, conversation),
    stream: (onEvent) => createChatStream(onEvent, answerProfile, conversation),
    failure: (status, body) => statusFailure(status, body, conversation.wrote),
  };
}

/** A template opens the thinking only where there is to be some; else all of the text is answer. */
function profileOfAnswer(
  request: GenerationRequest,
  call: UpstreamCall,
  profile: ChatProfile,
): ChatProfile {
  if (profile.thinkTags !== 'opened') return profile;
  const asked = settleReasoning(request, arrangeTurns(request.turns, profile), call, profile);
  return isThinking(asked, call) ? profile : { ...profile, thinkTags: 'split' };
}
