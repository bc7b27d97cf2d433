// The cost of a failed stream, for the error events of all formats.

import type { Receipt } from '../core/generation.ts';

/** Named where the charge contains an estimate of what was not seen. */
export function estimateMember({ usage }: Receipt): { readonly svc_estimated?: true } {
  return usage.estimate === undefined ? {} : { svc_estimated: true };
}

export function bill(receipt: Receipt) {
  return {
    svc_tokens_debited: receipt.tokensDebited,
    svc_cost_usd: receipt.costUsd,
    svc_balance_tokens: receipt.balanceTokens,
    svc_outcome: receipt.outcome,
    ...estimateMember(receipt),
  };
}
