// An account as returned by /v1/account and on the dashboard.

import { type Static, Type } from '@sinclair/typebox';
import type { accountView } from '../../operations/account-view.ts';
import { count, decimal, instant, nullable } from './schema.ts';

export const balance = Type.Object({
  available: decimal,
  reserved: decimal,
  total: decimal,
  available_usd: decimal,
  unit: Type.Literal('svc_token'),
});

const minute = Type.Object({ used: count, remaining: nullable(count), resets_in_s: count });
const period = Type.Object({ tokens: count, remaining: nullable(count), resets_at: instant });

/** The present use of the limits. */
export const limitUsage = Type.Object({
  requests_this_minute: minute,
  tokens_this_minute: minute,
  in_flight: count,
  today: period,
  month: period,
});

export type LimitUsageRecord = Static<typeof limitUsage>;

/** The dashboard, which no API key can reach, adds the e-mail address. */
export type OwnAccountRecord = Awaited<ReturnType<typeof accountView>> & {
  readonly email: string;
  readonly created_at: string;
};
