// The live numbers of a server. Read once for the overview and once per second for the feed; totals
// over all accounts are read at most every 10 seconds.

import { isoTime, utcDay } from '../../core/calendar.ts';
import { countUpstreams } from '../../core/health.ts';
import { formatTokens, formatUsd } from '../../core/money.ts';
import { say } from '../../core/sentence.ts';
import {
  createModelSeriesReader,
  type ModelFigures,
  sumModelFigures,
} from '../../ledger/series/models.ts';
import { type BalanceTotals, createTotals } from '../../ledger/totals.ts';
import { alertRecord, countOpenAlerts, listAlerts } from '../../operations/alerts.ts';
import { dayTotals, minuteRecord } from '../../operations/figure-records.ts';
import type { MachineDependencies } from '../dependencies.ts';
import type { Reading } from '../edge/feed.ts';

const MINUTES = 60;
const ALERTS = 5;
const RAISED = 100;
const SUMS_MS = 10_000;

type Sums = { readonly balances: BalanceTotals; readonly today: ModelFigures };

/** Shared by all viewers. */
export function machineReader(dependencies: MachineDependencies) {
  const { store, clock } = dependencies;
  const totals = createTotals(store.database);
  const readModels = createModelSeriesReader(store.database);
  let sums: { readonly until: number; readonly read: Sums } | undefined;

  async function readSums(): Promise<Sums> {
    const nowMs = clock();
    if (sums !== undefined && nowMs < sums.until && nowMs >= sums.until - SUMS_MS) return sums.read;
    const { fromMs, untilMs } = utcDay(nowMs);
    const { cells } = await readModels([fromMs, untilMs]);
    const today = sumModelFigures(cells.map(({ figures }) => figures));
    const read = { balances: await totals.balances(), today };
    sums = { until: nowMs + SUMS_MS, read };
    return read;
  }

  return async () => {
    const read = await readSums();
    const data = await machineRecord(dependencies, read);
    // The lag changes constantly and must not trigger a message alone.
    return { data, changes: JSON.stringify({ ...data, loop_lag_ms: 0 }) } satisfies Reading;
  };
}

/**
 * What is wrong now: what `/readyz` lists, and unacknowledged alerts unless their cause is listed
 * already. An acknowledged alert leaves its cause in the list.
 */
export async function openRecord({
  store,
  machine,
  draining,
  problems,
  warnings,
}: MachineDependencies) {
  await machine.storeAlerts();
  const isLeaving = draining();
  const found = isLeaving ? [say('the server is shutting down')] : await problems();
  const listed = [...found, ...warnings()];
  const causes = new Set(listed.map(({ about }) => about));
  const raised = await listAlerts(store.database, 'open', RAISED);
  return {
    status: found.length === 0 ? 'ready' : 'not_ready',
    problems: [
      ...listed,
      ...raised
        .map((row) => alertRecord(row).sentence)
        .filter(({ about }) => about === undefined || !causes.has(about)),
    ],
  } as const;
}

export async function machineRecord(dependencies: MachineDependencies, { balances, today }: Sums) {
  const { store, machine, serviceState, catalogStatus } = dependencies;
  const { maintenance, catalog } = serviceState();
  const { usdPerMillion } = catalog;
  const status = catalogStatus();
  const open = await openRecord(dependencies);
  const holds = await store.books.openHolds();
  return {
    open,
    maintenance: { on: maintenance.on, message: maintenance.message ?? null },
    in_flight: dependencies.inFlight(),
    streams_open: machine.streamsOpen(),
    ledger_pending: machine.ledgerPending(),
    loop_lag_ms: Math.round(machine.activity.loopLagMs() * 10) / 10,
    holds: {
      open: holds.count,
      reserved: formatTokens(holds.amount),
      reserved_usd: formatUsd(holds.amount, usdPerMillion),
    },
    balances: {
      accounts: balances.accounts,
      posted: formatTokens(balances.posted),
      posted_usd: formatUsd(balances.posted, usdPerMillion),
      held: formatTokens(balances.held),
    },
    today: dayTotals(today, usdPerMillion),
    /** The last hour. */
    minutes: machine.activity.minutes(MINUTES).map(minuteRecord),
    upstreams: countUpstreams(dependencies.upstreams()),
    catalog: {
      version: status.version,
      origin: status.origin,
      loaded_at: isoTime(status.loadedAt),
      refused: status.refused !== undefined,
    },
    /** The open ones: how many, and the latest of them. */
    alerts: {
      open: await countOpenAlerts(store.database),
      latest: (await listAlerts(store.database, 'open', ALERTS)).map(alertRecord),
    },
  } as const;
}
