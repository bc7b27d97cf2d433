// The Responses format: one value with the four codecs.

import type { ClientFormat } from '../format.ts';
import { parseResponses } from './request.ts';
import { encodeError, encodeResponse } from './response.ts';
import { ResponsesStreamEncoder } from './stream.ts';

export const responsesFormat: ClientFormat = {
  name: 'responses',
  tellsExhaustion: false,
  parse: parseResponses,
  response: encodeResponse,
  stream: (head) => new ResponsesStreamEncoder(head),
  error: encodeError,
};
