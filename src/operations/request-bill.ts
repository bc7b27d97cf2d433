// The bill of one request as any API key of its account may read it: what the end of the answer said,
// for clients that left before it, with the receipt.

import { isoTime } from '../core/calendar.ts';
import { parseJson } from '../core/json.ts';
import { formatTokens, formatUsd } from '../core/money.ts';
import { receiptBody } from '../core/receipt.ts';
import type { Books } from '../ledger/books.ts';

/** `undefined` for an unknown request, an archived one, and one of another account. */
export async function requestBill(
  books: Pick<Books, 'explain' | 'receipt'>,
  accountId: string,
  requestId: string,
) {
  const head = { object: 'receipt', request_id: requestId } as const;
  const history = await books.explain(requestId);
  if (history?.hold.accountId !== accountId) return undefined;
  if (history.record === undefined) {
    const { model, startedAt } = history.hold;
    return { ...head, status: 'in_progress', model, started_at: isoTime(startedAt) } as const;
  }
  const { receipt, hash } = (await books.receipt(requestId)) ?? {};
  if (receipt?.kind !== 'request') return undefined;
  const { debited, usdPerMillion } = receipt;
  const body = receiptBody(receipt);
  const stated = parseJson(body) as Readonly<Record<string, unknown>>;
  const { model, model_served, outcome, started_at, ended_at, usage } = stated;
  return {
    ...head,
    status: 'ended',
    model,
    model_served,
    outcome,
    started_at,
    ended_at,
    usage,
    svc_tokens_debited: formatTokens(debited),
    svc_cost_usd: formatUsd(debited, usdPerMillion),
    ...(receipt.usage.estimate !== undefined && { svc_estimated: true }),
    receipt: { hash, body },
  } as const;
}
