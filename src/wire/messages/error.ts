// The error envelope of the Messages format, for whole answers and for the stream's error event.
// It must never carry anything but the error's own words.

import type { GatewayError } from '../../core/error.ts';
import type { Receipt } from '../../core/generation.ts';

/**
 * The JSON text of an error. `receipt` is there when the error ended a stream that has its bill
 * (design section 8, "Errors after the start").
 */
export function encodeError(
  error: GatewayError,
  requestId: string,
  receipt?: Receipt | undefined,
): string {
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

function bill(receipt: Receipt): Record<string, string> {
  return {
    svc_tokens_debited: receipt.tokensDebited,
    svc_cost_usd: receipt.costUsd,
    svc_balance_tokens: receipt.balanceTokens,
    svc_outcome: receipt.outcome,
  };
}
