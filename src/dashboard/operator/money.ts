// Totals of all accounts in the console: balances, holds, revenue and loss per model, and the
// accuracy of prompt estimates.

import { isoTime } from '../../core/calendar.ts';
import { formatTokens, formatUsd } from '../../core/money.ts';
import {
  addModelFigures,
  createModelSeriesReader,
  type ModelFigures,
  sumModelFigures,
} from '../../ledger/series/models.ts';
import { type AccountAmount, createTotals } from '../../ledger/totals.ts';
import { amountRecord, figuresRecord, holdRecord } from '../../operations/figure-records.ts';
import type { MachineDependencies } from '../dependencies.ts';
import { wholeList } from '../edge/page.ts';
import { type OperatorRoutes, scopedRoute } from '../edge/route.ts';
import { PERIOD_QUERY, type PeriodQuery, readPeriod } from '../period.ts';
import { moneyAnswer, spendersAnswer } from '../records/operator-money.ts';

const QUERY = { days: PERIOD_QUERY.days };
const LISTED = 10;
const KEPT_MS = 60_000;

const NOTHING = sumModelFigures([]);

export function moneyRoutes(dependencies: MachineDependencies): OperatorRoutes {
  const { catalog, clock } = dependencies;
  const totals = createTotals(dependencies.store.database);
  const read = createMoneyReader(dependencies);
  const asked = new Map<string, { at: number; rows: Promise<readonly AccountAmount[]> }>();
  return [
    scopedRoute({
      method: 'GET',
      path: '/money',
      name: 'get_money',
      scope: 'money:read',
      summary: 'Returns balances, holds, revenue and losses of all accounts, and those by model.',
      query: QUERY,
      answer: moneyAnswer,
      handle: ({ query: { days = '30' } }) => read(days),
    }),
    scopedRoute({
      method: 'GET',
      path: '/money/spenders',
      name: 'list_spenders',
      scope: 'money:read',
      summary: 'Lists the accounts that spent most.',
      query: QUERY,
      answer: spendersAnswer,
      async handle({ query: { days = '30' } }) {
        const { usdPerMillion } = catalog();
        const rows = await spenders(days);
        return wholeList(rows.map((row) => amountRecord(row, usdPerMillion)));
      },
    }),
  ];

  /** Reads every account, so concurrent calls share one run. */
  function spenders(days: NonNullable<PeriodQuery['days']>): Promise<readonly AccountAmount[]> {
    const nowMs = clock();
    const kept = asked.get(days);
    if (kept !== undefined && Math.abs(nowMs - kept.at) < KEPT_MS) return kept.rows;
    const { edges } = readPeriod({ days }, nowMs);
    const rows = totals.spenders(edges[0] ?? 0, edges.at(-1) ?? 0, LISTED);
    asked.set(days, { at: nowMs, rows });
    rows.catch(() => asked.delete(days));
    return rows;
  }
}

/** Totals of the period, and of the one before until as much of it had passed. */
function createMoneyReader({ store, catalog, clock }: MachineDependencies) {
  const totals = createTotals(store.database);
  const readSeries = createModelSeriesReader(store.database);

  return async (days: NonNullable<PeriodQuery['days']>) => {
    const period = readPeriod({ days }, clock());
    const { edges } = period;
    const { cells, behind } = await readSeries(edges);
    const last = await readSeries(period.before);
    const { usdPerMillion } = catalog();
    const byModel = new Map<string, ModelFigures>();
    const byBucket = edges.slice(0, -1).map(() => NOTHING);
    for (const { bucket, group, figures } of cells) {
      byModel.set(group, addModelFigures(byModel.get(group) ?? NOTHING, figures));
      byBucket[bucket] = addModelFigures(byBucket[bucket] ?? NOTHING, figures);
    }
    const balances = await totals.balances();
    return {
      from: isoTime(edges[0] ?? 0),
      to: isoTime(edges.at(-1) ?? 0),
      step: days === '1' ? 'hour' : 'day',
      before: figuresRecord(
        sumModelFigures(last.cells.map(({ figures }) => figures)),
        usdPerMillion,
      ),
      balances: {
        accounts: balances.accounts,
        posted: formatTokens(balances.posted),
        posted_usd: formatUsd(balances.posted, usdPerMillion),
        held: formatTokens(balances.held),
        held_usd: formatUsd(balances.held, usdPerMillion),
      },
      totals: figuresRecord(sumModelFigures([...byModel.values()]), usdPerMillion),
      models: [...byModel]
        .toSorted(([, a], [, b]) => (a.debited > b.debited ? -1 : 1))
        .map(([model, figures]) => ({ model, ...figuresRecord(figures, usdPerMillion) })),
      series: byBucket.map((figures, bucket) => ({
        at: isoTime(edges[bucket] ?? 0),
        ...figuresRecord(figures, usdPerMillion),
      })),
      holds: {
        open: (await store.books.openHolds()).count,
        oldest: (await totals.oldestHolds(LISTED)).map(holdRecord),
      },
      largest_balances: (await totals.largestBalances(LISTED)).map((row) =>
        amountRecord(row, usdPerMillion),
      ),
      /** Requests not yet counted. */
      behind,
    } as const;
  };
}
