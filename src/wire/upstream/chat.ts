// The chat-completions dialect: what most servers of language models speak. The upstream client
// picks it by the catalog's `dialect = "chat"`; this file only ties its parts together.

import type { UpstreamDialect } from '../format.ts';
import { chatFailure } from './chat-failure.ts';
import { writeChatRequest } from './chat-request.ts';
import { readChatResponse } from './chat-response.ts';
import { createChatStream } from './chat-stream.ts';

export const chatDialect: UpstreamDialect = {
  path: '/chat/completions',
  headers: (apiKey) => ({
    'content-type': 'application/json',
    // An upstream without a key (a local server) gets no empty credential.
    ...(apiKey === '' ? {} : { authorization: `Bearer ${apiKey}` }),
  }),
  request: writeChatRequest,
  response: readChatResponse,
  stream: createChatStream,
  failure: chatFailure,
};
