// Exports ledger entries as CSV (RFC 4180), oldest first, reading one page of entries at a time. The
// amounts of a file add up to the difference of the balances before and after it.

import { isoTime } from '../../core/calendar.ts';
import { formatTokens, formatUsd, type UsdRate } from '../../core/money.ts';
import type { LedgerEntry } from '../../ledger/entry-pages.ts';
import type { KeyName } from './key-names.ts';
import { csvCell } from './requests-csv.ts';

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
