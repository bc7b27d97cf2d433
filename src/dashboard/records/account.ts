// An account as its own keys see it in /v1/account, and as its owner does on the dashboard.

import type { accountView, limitUsage } from '../../operations/account-view.ts';

export type LimitUsageRecord = Awaited<ReturnType<typeof limitUsage>>;

export type CapRecord = LimitUsageRecord['today'];

/** On the dashboard, where no API key reaches, the e-mail address is in it too. */
export type OwnAccountRecord = Awaited<ReturnType<typeof accountView>> & {
  readonly email: string;
  readonly created_at: string;
};
