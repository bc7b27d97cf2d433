// The record of a balance in /v1/account and on the command line. Pure; amounts are decimal strings
// of service tokens, printed from the booked integers.

import { formatTokens, formatUsd, type UsdRate } from '../core/money.ts';
import type { Balance } from './contract.ts';

export function balanceRecord({ posted, held, available }: Balance, usdPerMillion: UsdRate) {
  return {
    available: formatTokens(available),
    reserved: formatTokens(held),
    total: formatTokens(posted),
    available_usd: formatUsd(available, usdPerMillion),
    unit: 'svc_token',
  } as const;
}
