// Branches that no test takes, each with the reason. coverage.ts compares them with a run.

type Gap = { readonly file: string; readonly code: string; readonly reason: string };

const NO_INDEX =
  'an index that is in range; the type of an element of an array has undefined in it';
const ONE_ROW = 'a query of a sum or a maximum alone, which always has one row';

export const GAPS: readonly Gap[] = [
  { file: 'src/core/failover.ts', code: 'default:', reason: 'a word that the table has none of' },
  { file: 'src/core/fold.ts', code: 'default:', reason: 'a kind of event that there is none of' },
  { file: 'src/core/money.ts', code: "match[2] ?? ''", reason: 'a group that the pattern demands' },
  {
    file: 'src/core/nearest.ts',
    code: 'row[column] ?? Number.POSITIVE_INFINITY',
    reason: NO_INDEX,
  },
  { file: 'src/core/rolling.ts', code: 'counts[offset] ?? 0', reason: NO_INDEX },
  { file: 'src/core/rolling.ts', code: 'counts[offset + 1] ?? 0', reason: NO_INDEX },
  { file: 'src/core/rolling.ts', code: 'counts[place] ?? 0', reason: NO_INDEX },
  { file: 'src/core/route.ts', code: 'left[index]?.weight ?? 0', reason: NO_INDEX },
  { file: 'src/core/stop.ts', code: 'borders[matched - 1] ?? 0', reason: NO_INDEX },
  { file: 'src/core/stop.ts', code: 'borders[border - 1] ?? 0', reason: NO_INDEX },
  { file: 'src/core/throughput.ts', code: '#made[step] ?? 0', reason: NO_INDEX },
  { file: 'src/core/throughput.ts', code: '#made[oldest] ?? 0', reason: NO_INDEX },
  { file: 'src/ledger/audit/accounts.ts', code: "accountIds[0] ?? ''", reason: NO_INDEX },
  { file: 'src/ledger/audit/accounts.ts', code: "accountIds.at(-1) ?? ''", reason: NO_INDEX },
  { file: 'src/ledger/audit/pages.ts', code: 'page.at(-1) ?? after', reason: NO_INDEX },
  { file: 'src/ledger/books.ts', code: 'openHolds.get() ?? {', reason: ONE_ROW },
  { file: 'src/ledger/explain.ts', code: 'row?.total ?? 0n', reason: ONE_ROW },
  { file: 'src/ledger/history.ts', code: 'latest.get()?.mark ?? 0', reason: ONE_ROW },
  { file: 'src/ledger/history.ts', code: '?.tokens ?? 0', reason: ONE_ROW },
  { file: 'src/ledger/queue.ts', code: 'if (answer === undefined) return;', reason: NO_INDEX },
  {
    file: 'src/ledger/recover.ts',
    code: 'if (hold === undefined) return undefined;',
    reason: 'a hold that the same transaction has just listed',
  },
  {
    file: 'src/ledger/remote.ts',
    code: '?.[0] ?? message',
    reason:
      'the runtime has such a line in every message so far; a message without one is reported whole',
  },
];
