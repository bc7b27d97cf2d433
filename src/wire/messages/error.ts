// The error envelope of the Messages format, for whole answers and for the stream's error event.
// It must never carry anything but the error's own words.

import type { GatewayError } from '../../core/error.ts';
import type { Receipt } from '../../core/generation.ts';
import { bill } from '../bill.ts';

/**
 * The JSON text of an error. `receipt` is there when the error ended a stream that has its bill.
 */
export function encodeError(error: GatewayError, requestId: string, receipt?: Receipt): string {
  const body = {
    type: error.messagesType,
    message: error.message,
    code: error.code,
    request_id: requestId,
    ...(error.param === undefined ? {} : { param: error.param }),
    ...(error.hint === undefined ? {} : { details: { error_code: error.hint } }),
    ...(receipt === undefined ? {} : bill(receipt)),
  };
  return JSON.stringify({ type: 'error', error: body });
}
