// The data of the customer's start page: balance, spend, runway and next steps. Read-only; the feed
// updates the live part.

import { DAY_MS, isoTime, nextUtcDay, utcMonth } from '../../core/calendar.ts';
import type { Micro, UsdRate } from '../../core/money.ts';
import type { ServiceState } from '../../core/service-state.ts';
import type { Account } from '../../identity/accounts.ts';
import { keyRecord } from '../../identity/key-record.ts';
import { createSpend, type DaySpend } from '../../ledger/spend.ts';
import type { CustomerRoutes } from '../edge/route.ts';
import type { NoticeRecord, OverviewRecord, SpendDayRecord } from '../records/customer-overview.ts';
import { connectionOf, type OwnDependencies, ownAccount, readRoute } from './account.ts';
import { liveReader } from './live.ts';
import { spendRecord } from './spend-records.ts';

const DAYS_SHOWN = 30;
/** The runway uses the average spend of these days. */
const PACE_DAYS = 7;
/** Warns about a balance that lasts no longer, and about keys that expire within it. */
const LOW_DAYS = 3;
const KEY_ENDS_WITHIN_DAYS = 7;

export function overviewRoutes(dependencies: OwnDependencies): CustomerRoutes {
  const { store, serviceState, clock } = dependencies;
  const spend = createSpend(store.database);

  return [
    readRoute({
      path: '/overview',
      async handle({ who: { accountId } }): Promise<OverviewRecord> {
        const nowMs = clock();
        const today = nextUtcDay(nowMs) - DAY_MS;
        const shownFrom = today - (DAYS_SHOWN - 1) * DAY_MS;
        const monthFrom = utcMonth(nowMs).fromMs;
        const fromMs = Math.min(shownFrom, monthFrom);
        const days = await spend.byDay(accountId, { fromMs, untilMs: today + DAY_MS });
        const { data: live } = await liveReader(dependencies, spend, accountId)();
        const account = await store.accounts.get(accountId);
        const state = serviceState();
        const { usdPerMillion, minimumHold } = state.catalog;
        const since = (ms: number) => days.filter(({ dayMs }) => dayMs >= ms);
        const { available } = await store.books.balance(accountId);
        const lastsDays = daysLeft(available, since(today - (PACE_DAYS - 1) * DAY_MS), today);
        const hasBalance = available >= minimumHold;
        return {
          account: await ownAccount(dependencies, account),
          live,
          spend: {
            today: spendRecord(since(today), usdPerMillion),
            this_month: spendRecord(since(monthFrom), usdPerMillion),
            last_30_days: spendRecord(since(shownFrom), usdPerMillion),
          },
          days: everyDay(shownFrom, days, usdPerMillion),
          lasts_days: lastsDays,
          first_steps: {
            has_key: (await store.keys.countActive(accountId)) > 0,
            has_balance: hasBalance,
            has_request: days.length > 0 || (await spend.isAny(accountId)),
          },
          connection: connectionOf(dependencies, account),
          notices: [
            ...standingNotices(account, dependencies),
            ...operatorNotices(state),
            ...balanceNotices(hasBalance, lastsDays),
            ...(await keyNotices(dependencies, accountId, nowMs)),
          ],
        };
      },
    }),
  ];
}

function everyDay(
  fromMs: number,
  days: readonly DaySpend[],
  usdPerMillion: UsdRate,
): readonly SpendDayRecord[] {
  return Array.from({ length: DAYS_SHOWN }, (_, index) => {
    const dayMs = fromMs + index * DAY_MS;
    const ofDay = days.filter((day) => day.dayMs === dayMs);
    return { day: isoTime(dayMs).slice(0, 10), ...spendRecord(ofDay, usdPerMillion) };
  });
}

/** Whole days, by the average since the first of these days with spend. */
function daysLeft(available: Micro, recent: readonly DaySpend[], today: number): number | null {
  const first = recent.find(({ debited }) => debited > 0n);
  if (first === undefined) return null;
  const spent = recent.reduce((sum, { debited }) => sum + debited, 0n);
  const days = BigInt((today - first.dayMs) / DAY_MS + 1);
  return Number((available * days) / spent);
}

function standingNotices(
  { standing, emailVerified }: Account,
  { mailMode }: OwnDependencies,
): NoticeRecord[] {
  const mail_in_log = mailMode === 'log';
  return [
    ...(standing === 'active' ? [] : [{ kind: 'inactive', standing } as const]),
    ...(emailVerified ? [] : [{ kind: 'email_unverified', mail_in_log } as const]),
  ];
}

function operatorNotices({ catalog, incidentOf, maintenance }: ServiceState): NoticeRecord[] {
  const models = catalog.models
    .filter(({ slug, incidentLimits }) => (incidentLimits ?? incidentOf(slug)) !== undefined)
    .map(({ slug }) => slug);
  return [
    ...(maintenance.on
      ? [{ kind: 'maintenance', message: maintenance.message ?? null } as const]
      : []),
    ...(models.length === 0 ? [] : [{ kind: 'incident_limits', models } as const]),
  ];
}

function balanceNotices(hasBalance: boolean, lastsDays: number | null): NoticeRecord[] {
  if (!hasBalance) return [{ kind: 'balance_empty' }];
  if (lastsDays === null || lastsDays >= LOW_DAYS) return [];
  return [{ kind: 'balance_low', lasts_days: lastsDays }];
}

async function keyNotices(
  { store }: OwnDependencies,
  accountId: string,
  nowMs: number,
): Promise<NoticeRecord[]> {
  const expiring = (await store.keys.endingBefore(accountId, nowMs + KEY_ENDS_WITHIN_DAYS * DAY_MS))
    .map((row) => keyRecord(row, nowMs))
    .map(({ id, name, masked, expires_at }) => ({
      id,
      name,
      masked,
      expires_at: expires_at ?? '',
    }));
  const paused = (await store.keys.runaway(accountId))
    .map((row) => keyRecord(row, nowMs))
    .map(({ id, name, masked, paused_at }) => ({ id, name, masked, paused_at: paused_at ?? '' }));
  return [
    ...(paused.length === 0 ? [] : [{ kind: 'keys_paused', keys: paused } as const]),
    ...(expiring.length === 0 ? [] : [{ kind: 'keys_expiring', keys: expiring } as const]),
  ];
}
