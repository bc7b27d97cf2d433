// The usage of an account for operators: as its owner sees it, and by UTC day for billing systems.

import { Type } from '@sinclair/typebox';
import { DAY_MS, isoTime, utcDay } from '../../core/calendar.ts';
import { parseInstant } from '../../core/instant.ts';
import { formatTokens, formatUsd } from '../../core/money.ts';
import { createSpend } from '../../ledger/spend.ts';
import { createUsageReader, USAGE_QUERY } from '../customer/usage.ts';
import { invalidRequest } from '../edge/error.ts';
import { type OperatorRoutes, scopedRoute, viewRoute } from '../edge/route.ts';
import type { UsageRecord } from '../records/customer-usage.ts';
import { dailyUsageAnswer } from '../records/operator-account.ts';
import { type PeopleDependencies, partsOf } from './dependencies.ts';

const DAYS_MAX = 366;

const day = (description: string) => Type.Optional(Type.String({ maxLength: 40, description }));

export function usageRoutes(dependencies: PeopleDependencies): OperatorRoutes {
  const { accounts, catalog, clock } = partsOf(dependencies);
  const spend = createSpend(dependencies.store.database);
  const readUsage = createUsageReader(dependencies);
  return [
    viewRoute({
      path: '/accounts/:id/usage/series',
      query: USAGE_QUERY,
      async handle({ param, query }): Promise<UsageRecord> {
        const { id } = await accounts.find(param('id'));
        return readUsage(id, query);
      },
    }),
    scopedRoute({
      method: 'GET',
      path: '/accounts/:id/usage',
      name: 'get_usage',
      scope: 'usage:read',
      summary: `Returns usage per UTC day, at most ${DAYS_MAX} days.`,
      query: {
        from: day('The first day, such as 2026-11-01. Default: 30 days before `until`.'),
        until: day('The day behind the last one. Default: tomorrow.'),
      },
      answer: dailyUsageAnswer,
      async handle({ param, query }) {
        const { id } = await accounts.find(param('id'));
        const days = await spend.byDay(id, readSpan(query, clock()));
        const { usdPerMillion } = catalog();
        return {
          object: 'list' as const,
          account: id,
          data: days.map(({ dayMs, requests, inputTokens, outputTokens, debited }) => ({
            day: isoTime(dayMs).slice(0, 10),
            requests,
            input_tokens: inputTokens,
            output_tokens: outputTokens,
            debited: formatTokens(debited),
            debited_usd: formatUsd(debited, usdPerMillion),
          })),
        };
      },
    }),
  ];
}

/** Whole UTC days; by default the last 30. */
function readSpan(query: { readonly from?: string; readonly until?: string }, nowMs: number) {
  const dayOf = (name: 'from' | 'until', otherwise: number): number => {
    const text = query[name];
    if (text === undefined) return otherwise;
    const time = parseInstant(`${text}T00:00:00Z`);
    if (time !== undefined) return time;
    throw invalidRequest(`${name} is a day such as 2026-11-23.`, name);
  };
  const untilMs = dayOf('until', utcDay(nowMs).untilMs);
  const fromMs = dayOf('from', untilMs - 30 * DAY_MS);
  if (fromMs < untilMs && untilMs - fromMs <= DAYS_MAX * DAY_MS) return { fromMs, untilMs };
  throw invalidRequest(`Ask for 1 to ${DAYS_MAX} days.`, 'from');
}
