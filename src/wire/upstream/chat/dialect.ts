// The chat-completions dialect, which most model servers speak. This file only combines its parts
// for the profile of one upstream.

import type { UpstreamFailure } from '../../../core/failure.ts';
import type { Answer, GenerationEvent, GenerationRequest } from '../../../core/generation.ts';
import type { ChatProfile } from '../../../core/profile.ts';
import type { StreamDecoder, UpstreamCall, UpstreamDialect } from '../../format.ts';
import { conversationOf, NO_CONVERSATION } from '../call-names.ts';
import { credentialHeader } from '../credential.ts';
import { statusFailure } from '../failure.ts';
import { isThinking, settleReasoning } from './reasoning.ts';
import { writeChatRequest } from './request.ts';
import { readChatResponse } from './response.ts';
import { createChatStream } from './stream.ts';
import { arrangeTurns } from './turns.ts';

export function chatDialect(profile: ChatProfile): UpstreamDialect {
  return new ChatDialect(profile);
}

class ChatDialect implements UpstreamDialect {
  readonly #profile: ChatProfile;
  /** A codec serves one attempt, because how its answer is read may depend on the request. */
  #answerProfile: ChatProfile;
  #conversation = NO_CONVERSATION;

  constructor(profile: ChatProfile) {
    this.#profile = profile;
    this.#answerProfile = profile;
  }

  path(): string {
    return '/chat/completions';
  }

  headers(apiKey: string): Readonly<Record<string, string>> {
    return {
      'content-type': 'application/json',
      ...credentialHeader(this.#profile.credential, apiKey),
    };
  }

  request(request: GenerationRequest, call: UpstreamCall): string | UpstreamFailure {
    this.#answerProfile = profileOfAnswer(request, call, this.#profile);
    this.#conversation = conversationOf(request);
    return writeChatRequest(request, call, this.#profile);
  }

  response(body: string): Answer | UpstreamFailure {
    return readChatResponse(body, this.#answerProfile, this.#conversation);
  }

  stream(onEvent: (event: GenerationEvent) => void): StreamDecoder {
    return createChatStream(onEvent, this.#answerProfile, this.#conversation);
  }

  failure(status: number, body: string): UpstreamFailure {
    return statusFailure(status, body, this.#conversation.wrote);
  }
}

/** A template opens the thinking only if thinking is on; otherwise the whole text is the answer. */
function profileOfAnswer(
  request: GenerationRequest,
  call: UpstreamCall,
  profile: ChatProfile,
): ChatProfile {
  if (profile.thinkTags !== 'opened') return profile;
  const asked = settleReasoning(request, arrangeTurns(request.turns, profile), call, profile);
  return isThinking(asked, call) ? profile : { ...profile, thinkTags: 'split' };
}
