// What an account has spent and reserved, as records of its start page.

import { isoTime } from '../../core/calendar.ts';
import { add, formatTokens, formatUsd, type UsdRate, ZERO } from '../../core/money.ts';
import type { DaySpend, OpenRequest } from '../../ledger/spend.ts';

/** The total of several days. */
export function spendRecord(days: readonly DaySpend[], usdPerMillion: UsdRate) {
  let requests = 0;
  let inputTokens = 0;
  let outputTokens = 0;
  let debited = ZERO;
  for (const day of days) {
    requests += day.requests;
    inputTokens += day.inputTokens;
    outputTokens += day.outputTokens;
    debited = add(debited, day.debited);
  }
  return {
    requests,
    input_tokens: inputTokens,
    output_tokens: outputTokens,
    spent: formatTokens(debited),
    spent_usd: formatUsd(debited, usdPerMillion),
  };
}

export function openRecord(open: OpenRequest) {
  return {
    request_id: open.requestId,
    model: open.model,
    key_id: open.keyId,
    format: open.format,
    stream: open.stream,
    started_at: isoTime(open.startedAt),
    reserved: formatTokens(open.reserved),
  };
}
