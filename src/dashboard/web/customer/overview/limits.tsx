// The limits of the account as meters with their current usage.

import { useEffect, useState } from 'preact/hooks';
import type { CapRecord, LimitUsageRecord, OwnAccountRecord } from '../../../records/account.ts';
import { rich } from '../../text/rich.ts';
import { t } from '../../text/t.ts';
import { formatCompact, formatCount, Meter, Time } from '../../ui/index.ts';

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
      <Meter
        label={t('Requests this minute')}
        used={requests.used}
        limit={limits.requests_per_minute}
        text={of(requests.used, limits.requests_per_minute)}
      />
      <Meter
        label={t('Tokens this minute')}
        used={tokens.used}
        limit={limits.tokens_per_minute}
        text={of(tokens.used, limits.tokens_per_minute)}
      />
      <Meter
        label={t('Concurrent requests')}
        used={in_flight}
        limit={limits.concurrent_requests}
        text={of(in_flight, limits.concurrent_requests)}
      />
      {limits.daily_tokens !== null && (
        <Cap label={t('Tokens today')} cap={usage.today} limit={limits.daily_tokens} />
      )}
      {limits.monthly_tokens !== null && (
        <Cap label={t('Tokens this month')} cap={usage.month} limit={limits.monthly_tokens} />
      )}
      <Meter
        label={t('Active API keys')}
        used={api_keys.active}
        limit={api_keys.limit}
        text={of(api_keys.active, api_keys.limit)}
      />
      <p class="soft small">
        {requests.used > 0
          ? t('Plan {name}. Window resets in {seconds} s.', { name: plan.name, seconds })
          : t('Plan {name}. Window starts with your next request.', { name: plan.name })}
      </p>
    </>
  );
}

function Cap({
  label,
  cap,
  limit,
}: {
  readonly label: string;
  readonly cap: CapRecord;
  readonly limit: number;
}) {
  return (
    <Meter
      label={label}
      used={cap.tokens}
      limit={limit}
      text={rich('{tokens}, resets {resetsAt}', {
        tokens: of(cap.tokens, limit),
        resetsAt: <Time relative at={cap.resets_at} />,
      })}
    />
  );
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
