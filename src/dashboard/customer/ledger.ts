// The account's ledger entries, read from its receipts. Read-only.

import { Type } from '@sinclair/typebox';
import { isoTime } from '../../core/calendar.ts';
import { formatTokens, formatUsd, type UsdRate } from '../../core/money.ts';
import { type AccountReceipt, movedBy } from '../../core/receipt.ts';
import type { SignedInCustomer } from '../../identity/signed-in.ts';
import { listReceipts } from '../../ledger/receipt-list.ts';
import { type List, numberedList, PAGE_QUERY } from '../edge/page.ts';
import { type Route, sessionRoute } from '../edge/route.ts';
import type { LedgerEntryRecord } from '../records/customer-ledger.ts';
import { type OwnDependencies, WHILE_INACTIVE } from './account.ts';

export function ledgerRoutes({
  store,
  operator,
}: OwnDependencies): readonly Route<SignedInCustomer>[] {
  return [
    sessionRoute({
      method: 'GET',
      path: '/ledger',
      standings: WHILE_INACTIVE,
      query: {
        ...PAGE_QUERY,
        /** `movements` are entries without a request: top-ups, codes and adjustments. */
        only: Type.Optional(Type.Literal('movements')),
      },
      handle({ who: { accountId }, query }): Promise<List<LedgerEntryRecord>> {
        const { usdPerMillion } = operator().catalog;
        const only = query.only ?? 'everything';
        return numberedList(
          query,
          (page) => listReceipts(store.database.db, accountId, { ...page, only }),
          (receipt) => entryRecord(receipt, usdPerMillion),
          ({ sequence }) => sequence,
        );
      },
    }),
  ];
}

function entryRecord(receipt: AccountReceipt, usdPerMillion: UsdRate): LedgerEntryRecord {
  const amount = movedBy(receipt);
  const isRequest = receipt.kind === 'request';
  return {
    sequence: receipt.sequence,
    kind: receipt.kind,
    id: isRequest ? receipt.requestId : receipt.transferId,
    at: isoTime(isRequest ? receipt.endedAt : receipt.at),
    model: isRequest ? (receipt.modelServed ?? receipt.model) : null,
    amount: formatTokens(amount),
    amount_usd: formatUsd(amount, usdPerMillion),
    balance: formatTokens(receipt.posted),
  };
}
