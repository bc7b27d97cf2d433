// The chat-completions format: one value with the four codecs.

import type { ClientFormat } from '../format.ts';
import { parseChat } from './request.ts';
import { encodeError, encodeResponse } from './response.ts';
import { ChatStreamEncoder } from './stream.ts';

export const chatFormat: ClientFormat = {
  name: 'chat',
  tellsExhaustion: true,
  parse: parseChat,
  response: encodeResponse,
  stream: (head) => new ChatStreamEncoder(head),
  error: encodeError,
};
