// The chat-completions dialect: what most servers of language models speak. This file only ties its
// parts together for the profile of one upstream.

import type { ChatProfile } from '../../core/profile.ts';
import type { UpstreamDialect } from '../format.ts';
import { chatFailure } from './chat-failure.ts';
import { writeChatRequest } from './chat-request.ts';
import { readChatResponse } from './chat-response.ts';
import { createChatStream } from './chat-stream.ts';

export function chatDialect(profile: ChatProfile): UpstreamDialect {
  return {
    path: '/chat/completions',
    headers: (apiKey) => ({
      'content-type': 'application/json',
      // An upstream without a key (a local server) gets no empty credential.
      ...(apiKey === '' ? {} : credential(profile, apiKey)),
    }),
    request: (request, call) => writeChatRequest(request, call, profile),
    response: (body) => readChatResponse(body, profile),
    stream: (onEvent) => createChatStream(onEvent, profile),
    failure: chatFailure,
  };
}

function credential({ credential: header }: ChatProfile, apiKey: string) {
  return header === 'bearer' ? { authorization: `Bearer ${apiKey}` } : { 'api-key': apiKey };
}
