// The account's ledger entries: a list, read from its receipts, and a CSV export. Read-only.

import { Type } from '@sinclair/typebox';
import { isoTime } from '../../core/calendar.ts';
import { formatTokens, formatUsd, subtract, type UsdRate } from '../../core/money.ts';
import { type AccountReceipt, movedBy } from '../../core/receipt.ts';
import { type ArchivedMonth, archivedWithin, monthSpan } from '../../ledger/archive/anchors.ts';
import { entryPages, type LedgerEntry } from '../../ledger/entry-pages.ts';
import { listReceipts } from '../../ledger/receipt-list.ts';
import { findSlice } from '../../ledger/receipt-slices.ts';
import { watchCut } from '../../operations/archive/cut.ts';
import { numberedList, PAGE_QUERY } from '../edge/page.ts';
import type { CustomerRoutes } from '../edge/route.ts';
import { readSpan, SPAN_QUERY } from '../period.ts';
import { type OwnDependencies, readRoute } from './account.ts';
import { behind, type createExports } from './exports.ts';
import { type KeyName, keyNames } from './key-names.ts';
import { CSV_TYPE, csvCell } from './requests-csv.ts';

/** `movements` are entries without a request: top-ups, codes and adjustments. */
const ONLY = { only: Type.Optional(Type.Literal('movements')) };

export function ledgerRoutes(
  { store, serviceState, clock }: OwnDependencies,
  exports: ReturnType<typeof createExports>,
): CustomerRoutes {
  const { database } = store;
  return [
    readRoute({
      path: '/ledger',
      query: { ...PAGE_QUERY, ...ONLY },
      handle({ who: { accountId }, query }) {
        const { usdPerMillion } = serviceState().catalog;
        const only = query.only ?? 'everything';
        return numberedList(
          query,
          (page) => listReceipts(database.db, accountId, { ...page, only }),
          (receipt) => entryRecord(receipt, usdPerMillion),
          ({ sequence }) => sequence,
        );
      },
    }),
    readRoute({
      path: '/ledger/export',
      query: { ...SPAN_QUERY, ...ONLY },
      handle(call): Promise<Response> {
        const { accountId } = call.who;
        const span = readSpan(call.query);
        const { only } = call.query;
        return exports.serve(call, accountId, async () => {
          const { usdPerMillion } = serviceState().catalog;
          const { whole } = await watchCut(database, accountId);
          const slice = (await findSlice(database.db, accountId, span, { only })) ?? {
            first: 1,
            last: 0,
          };
          const archived =
            only === undefined ? await archivedWithin(database.db, accountId, span) : [];
          const pages = entryPages(database.db, accountId, slice, only);
          return {
            pieces: ledgerCsv(withArchived(archived, only === undefined ? whole(pages) : pages), {
              readNames: (ids) => keyNames(store, accountId, ids),
              usdPerMillion,
            }),
            type: CSV_TYPE,
            filename: `ledger-${isoTime(clock()).slice(0, 10)}${behind(archived)}.csv`,
          };
        });
      },
    }),
  ];
}

/** Archived months are one entry each, so the amounts still add up. */
async function* withArchived(
  archived: readonly ArchivedMonth[],
  pages: AsyncIterable<readonly LedgerEntry[]>,
): AsyncGenerator<readonly LedgerEntry[], void, undefined> {
  yield archived.map((archive) => ({
    sequence: archive.lastSequence,
    kind: 'archived',
    id: archive.month,
    at: monthSpan(archive.month).untilMs - 1,
    keyId: null,
    model: null,
    amount: subtract(archive.closing, archive.opening),
    posted: archive.closing,
  }));
  yield* pages;
}

export function entryRecord(receipt: AccountReceipt, usdPerMillion: UsdRate) {
  const amount = movedBy(receipt);
  const isRequest = receipt.kind === 'request';
  return {
    /** Its number in the chain of receipts. */
    sequence: receipt.sequence,
    kind: receipt.kind,
    /** Of the request or movement; it finds the receipt. */
    id: isRequest ? receipt.requestId : receipt.transferId,
    at: isoTime(isRequest ? receipt.endedAt : receipt.at),
    /** The request's model; null for a movement. */
    model: isRequest ? (receipt.modelServed ?? receipt.model) : null,
    /** The change of the balance. */
    amount: formatTokens(amount),
    amount_usd: formatUsd(amount, usdPerMillion),
    /** Behind it, including reserved amounts. */
    balance: formatTokens(receipt.posted),
  };
}

type Facts = { readonly nameOf: KeyName; readonly usdPerMillion: UsdRate };

type Column = readonly [name: string, value: (entry: LedgerEntry, facts: Facts) => string];

/** Amounts are plain decimals, which never start a formula: a minus is followed by digits only. */
const COLUMNS: readonly Column[] = [
  ['sequence', ({ sequence }) => String(sequence)],
  ['at', ({ at }) => csvCell(isoTime(at))],
  ['kind', ({ kind }) => csvCell(kind)],
  ['id', ({ id }) => csvCell(id)],
  ['key_id', ({ keyId }) => csvCell(keyId ?? '')],
  ['key_name', ({ keyId }, { nameOf }) => csvCell(keyId === null ? '' : nameOf(keyId))],
  ['model', ({ model }) => csvCell(model ?? '')],
  ['svc_tokens', ({ amount }) => formatTokens(amount)],
  ['usd', ({ amount }, { usdPerMillion }) => formatUsd(amount, usdPerMillion)],
  ['svc_tokens_balance', ({ posted }) => formatTokens(posted)],
  ['usd_balance', ({ posted }, { usdPerMillion }) => formatUsd(posted, usdPerMillion)],
];

/** The header, then one page of entries at a time, which may be empty. */
export async function* ledgerCsv(
  pages: AsyncIterable<readonly LedgerEntry[]>,
  {
    readNames,
    usdPerMillion,
  }: {
    readonly readNames: (keyIds: Iterable<string>) => Promise<KeyName>;
    readonly usdPerMillion: UsdRate;
  },
): AsyncGenerator<string, void, undefined> {
  yield `${COLUMNS.map(([name]) => csvCell(name)).join(',')}\r\n`;
  for await (const entries of pages) {
    const nameOf = await readNames(entries.flatMap(({ keyId }) => keyId ?? []));
    const facts = { nameOf, usdPerMillion };
    const lines = entries.map((entry) => COLUMNS.map(([, value]) => value(entry, facts)).join(','));
    yield lines.map((line) => `${line}\r\n`).join('');
  }
}
