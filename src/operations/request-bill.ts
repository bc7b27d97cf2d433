// The bill of one request as any API key of its account may read it: what the end of the answer said,
// for clients that left before it, with the receipt.

import { isoTime } from '../core/calendar.ts';
import { formatTokens, formatUsd } from '../core/money.ts';
import { type RequestReceipt, receiptBody } from '../core/receipt.ts';
import { namedDetails } from '../core/usage-details.ts';
import type { Books } from '../ledger/books.ts';

/** `undefined` for an unknown request, an archived one, and one of another account. */
export async function requestBill(
  books: Pick<Books, 'running' | 'receipt'>,
  accountId: string,
  requestId: string,
) {
  const running = await books.running(requestId);
  if (running !== undefined) {
    return running.accountId === accountId ? runningBill(requestId, running) : undefined;
  }
  const { receipt, hash } = (await books.receipt(requestId)) ?? {};
  if (receipt?.kind !== 'request' || receipt.accountId !== accountId) return undefined;
  return { ...endedBill(receipt), receipt: { hash, body: receiptBody(receipt) } };
}

type Running = NonNullable<Awaited<ReturnType<Books['running']>>>;

function runningBill(requestId: string, { model, startedAt }: Running) {
  return {
    object: 'receipt',
    request_id: requestId,
    status: 'in_progress',
    model,
    model_served: null,
    outcome: null,
    started_at: isoTime(startedAt),
    ended_at: null,
    usage: null,
    svc_tokens_debited: null,
    svc_cost_usd: null,
    receipt: null,
  } as const;
}

function endedBill({ usage, debited, usdPerMillion, ...receipt }: RequestReceipt) {
  return {
    object: 'receipt',
    request_id: receipt.requestId,
    status: 'ended',
    model: receipt.model,
    model_served: receipt.modelServed,
    outcome: receipt.outcome,
    started_at: isoTime(receipt.startedAt),
    ended_at: isoTime(receipt.endedAt),
    usage: {
      basis: usage.basis,
      input_tokens: usage.inputTokens,
      cached_input_tokens: usage.cachedInputTokens,
      cache_write_tokens: usage.cacheWriteTokens,
      output_tokens: usage.outputTokens,
      reasoning_tokens: usage.reasoningTokens,
      ...namedDetails(usage),
    },
    svc_tokens_debited: formatTokens(debited),
    svc_cost_usd: formatUsd(debited, usdPerMillion),
    ...(usage.estimate !== undefined && { svc_estimated: true }),
  } as const;
}
