// The limits of the account as meters with their current usage.

import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { CapRecord, LimitUsageRecord, OwnAccountRecord } from '../../../records/account.ts';
import { rich } from '../../text/rich.ts';
import { t } from '../../text/t.ts';
import { formatCompact, formatCount } from '../../ui/format.ts';
import { Meter } from '../../ui/parts.tsx';
import { Time } from '../../ui/text.tsx';

export function LimitMeters({
  account: { limits, plan, api_keys },
  usage,
}: {
  readonly account: OwnAccountRecord;
  readonly usage: LimitUsageRecord;
}) {
  const { requests_this_minute: requests, tokens_this_minute: tokens, in_flight } = usage;
  const seconds = useCountdown(usage);
  return (
    <>
      {meter(t('Requests this minute'), requests.used, limits.requests_per_minute)}
      {meter(t('Tokens this minute'), tokens.used, limits.tokens_per_minute)}
      {meter(t('Concurrent requests'), in_flight, limits.concurrent_requests)}
      {cap(t('Tokens today'), usage.today, limits.daily_tokens)}
      {cap(t('Tokens this month'), usage.month, limits.monthly_tokens)}
      {meter(t('Active API keys'), api_keys.active, api_keys.limit)}
      <p class="soft small">
        {requests.used > 0
          ? t('Plan {name}. Window resets in {seconds} s.', { name: plan.name, seconds })
          : t('Plan {name}. Window starts with your next request.', { name: plan.name })}
      </p>
    </>
  );
}

function meter(label: string, used: number, limit: number, text?: ComponentChildren) {
  return <Meter label={label} used={used} limit={limit} text={text ?? of(used, limit)} />;
}

function cap(label: string, { tokens, resets_at }: CapRecord, limit: number | null) {
  if (limit === null) return null;
  const resetsAt = <Time relative at={resets_at} />;
  const text = rich('{tokens}, resets {resetsAt}', { tokens: of(tokens, limit), resetsAt });
  return meter(label, tokens, limit, text);
}

function of(used: number, limit: number): string {
  return t('{part} of {whole}', {
    part: formatCount(used),
    whole: limit >= 100_000 ? formatCompact(limit) : formatCount(limit),
  });
}

/**
 * The feed sends the time left in the window only when something changes; this counts down between.
 */
function useCountdown(usage: LimitUsageRecord): number {
  const given = usage.requests_this_minute.resets_in_s;
  const [seconds, setSeconds] = useState(given);
  useEffect(() => {
    setSeconds(given);
    const timer = setInterval(() => setSeconds((left) => Math.max(1, left - 1)), 1_000);
    return () => clearInterval(timer);
  }, [usage]);
  return seconds;
}
