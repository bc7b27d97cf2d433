// An account as returned by /v1/account and on the dashboard.

import type { accountView, limitUsage } from '../../operations/account-view.ts';

export type LimitUsageRecord = Awaited<ReturnType<typeof limitUsage>>;

export type CapRecord = LimitUsageRecord['today'];

/** The dashboard, which no API key can reach, adds the e-mail address. */
export type OwnAccountRecord = Awaited<ReturnType<typeof accountView>> & {
  readonly email: string;
  readonly created_at: string;
};
