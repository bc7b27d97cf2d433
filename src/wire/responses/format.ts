// The Responses format: one value with the four codecs.

import type { ClientFormat } from '../format.ts';
import { parseResponses } from './request.ts';
import { encodeError, encodeResponse } from './response.ts';
import { encodeStream } from './stream.ts';

export const responsesFormat: ClientFormat = {
  name: 'responses',
  tellsExhaustion: false,
  parse: parseResponses,
  response: encodeResponse,
  stream: encodeStream,
  error: (error, requestId) => encodeError(error, requestId),
};
