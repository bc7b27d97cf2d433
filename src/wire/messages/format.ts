// The Messages format: one value with the four codecs.

import type { ClientFormat } from '../format.ts';
import { parseMessages } from './request.ts';
import { encodeError, encodeResponse } from './response.ts';
import { encodeStream } from './stream.ts';

export const messagesFormat: ClientFormat = {
  name: 'messages',
  tellsExhaustion: false,
  parse: parseMessages,
  response: encodeResponse,
  stream: encodeStream,
  error: encodeError,
};
