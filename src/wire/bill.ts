// The cost of a failed stream, for the error events of both formats.

import type { Receipt } from '../core/generation.ts';

export function bill(receipt: Receipt) {
  return {
    svc_tokens_debited: receipt.tokensDebited,
    svc_cost_usd: receipt.costUsd,
    svc_balance_tokens: receipt.balanceTokens,
    svc_outcome: receipt.outcome,
  };
}
