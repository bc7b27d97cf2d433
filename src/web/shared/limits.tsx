// What an account uses of its limits now.

import type { LimitUsageRecord } from '../../dashboard/records/account.ts';
import { rich } from '../text/rich.ts';
import { t } from '../text/t.ts';
import { formatCompact, formatCount } from '../ui/format.ts';
import { Meter } from '../ui/parts.tsx';
import { Time } from '../ui/text.tsx';

type Limits = {
  readonly requests_per_minute: number;
  readonly tokens_per_minute: number;
  readonly concurrent_requests: number;
  /** Null without a cap. */
  readonly daily_tokens: number | null;
  readonly monthly_tokens: number | null;
};

export function LimitMeters({
  limits,
  usage: { requests_this_minute: requests, tokens_this_minute: tokens, in_flight, today, month },
}: {
  readonly limits: Limits;
  readonly usage: LimitUsageRecord;
}) {
  return (
    <>
      {meter(t('Requests per minute'), requests.used, limits.requests_per_minute)}
      {meter(t('Tokens per minute'), tokens.used, limits.tokens_per_minute)}
      {meter(t('Concurrent requests'), in_flight, limits.concurrent_requests)}
      {meter(t('Tokens today'), today.tokens, limits.daily_tokens, today.resets_at)}
      {meter(t('Tokens this month'), month.tokens, limits.monthly_tokens, month.resets_at)}
    </>
  );
}

export function meter(label: string, used: number, limit: number | null, resetsAt?: string) {
  if (limit === null) {
    return (
      <div class="row apart">
        <span>{label}</span>
        <span class="soft">{t('{used}, no limit', { used: formatCount(used) })}</span>
      </div>
    );
  }
  const part = t('{part} of {whole}', {
    part: formatCount(used),
    whole: limit >= 100_000 ? formatCompact(limit) : formatCount(limit),
  });
  const text =
    resetsAt === undefined
      ? part
      : rich('{tokens}, resets {resetsAt}', {
          tokens: part,
          resetsAt: <Time relative at={resetsAt} />,
        });
  return <Meter label={label} used={used} limit={limit} text={text} />;
}
