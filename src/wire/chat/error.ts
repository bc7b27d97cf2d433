// The error envelope of the chat-completions format, for whole answers and for the stream's error
// event. It must never carry anything but the error's own words.

import type { GatewayError } from '../../core/error.ts';
import type { Receipt } from '../../core/generation.ts';
import { bill } from '../bill.ts';

/**
 * The JSON text of an error. `receipt` is there when the error ended a stream that has its bill.
 */
export function encodeError(error: GatewayError, requestId: string, receipt?: Receipt): string {
  return JSON.stringify({
    error: {
      message: error.message,
      type: error.chatType,
      code: error.code,
      request_id: requestId,
      ...(error.param === undefined ? {} : { param: error.param }),
      ...(receipt === undefined ? {} : bill(receipt)),
    },
  });
}
