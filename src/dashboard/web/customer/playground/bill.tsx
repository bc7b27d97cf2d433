// What an answer cost and how fast it was.

import { useEffect } from 'preact/hooks';
import { Link } from 'wouter-preact';
import type { RequestHistoryRecord } from '../../../records/customer-request.ts';
import type { PricingRecord } from '../../../records/model.ts';
import { t } from '../../text/t.ts';
import { formatUsd } from '../../ui/amount-text.ts';
import { formatCount, formatMilliseconds, formatTokens, roundDecimal } from '../../ui/format.ts';
import { useResource } from '../../ui/resource.ts';
import type { Answer } from './answer.ts';
import type { Running } from './conversation.ts';
import { costOf, estimateTokens } from './cost.ts';
import { type Facts, speedOf } from './request.ts';

/** The exact bill, once known. */
export function BillLine({ answer, facts }: { readonly answer: Answer; readonly facts: Facts }) {
  const { bill, usage, finish } = answer;
  const { requestId, firstMs, totalMs, model, end } = facts;
  const speed = speedOf(usage?.output, facts);
  const parts = [
    bill === undefined
      ? undefined
      : chargeWords(bill.svc_cost_usd, bill.svc_tokens_debited, bill.svc_estimated),
    usage === undefined ? undefined : tokensWords(usage),
    firstMs === undefined
      ? undefined
      : t('first token after {time}', { time: formatMilliseconds(firstMs) }),
    t('{time} total', { time: formatMilliseconds(totalMs) }),
    speed === undefined
      ? undefined
      : t('{speed} tokens/s', {
          speed: speed >= 10 ? formatCount(Math.round(speed)) : speed.toFixed(1),
        }),
    bill?.svc_fallback_used === true && model !== undefined
      ? t('answered by {model}', { model })
      : undefined,
    finish === undefined ? undefined : t('finish reason {finish}', { finish }),
  ].filter((part) => part !== undefined);
  return (
    <p class="bill">
      {end === 'stopped' && `${t('Stopped')} · `}
      {end === 'stopped' && bill === undefined && (
        <>
          <StoppedCharge requestId={requestId} />
          {' · '}
        </>
      )}
      {parts.join(' · ')}
      {requestId !== undefined && (
        <>
          {' · '}
          <Link href={`/requests/${requestId}`}>{requestId}</Link>
        </>
      )}
    </p>
  );
}

function chargeWords(usd: string, tokens: string, isEstimate: boolean): string {
  const amounts = { usd: formatUsd(usd), tokens: formatTokens(tokens) };
  const charge = t('Charged {usd} ({tokens} service tokens)', amounts);
  return isEstimate ? t('{charge}, an estimate', { charge }) : charge;
}

const STILL_RUNNING_MS = 1_000;

/** What an answer that was left before its bill has cost, once its request has ended. */
export function StoppedCharge({ requestId }: { readonly requestId: string | undefined }) {
  const { data, reload } = useResource<RequestHistoryRecord>(requestId && `/requests/${requestId}`);
  const { booked, usage } = data.value ?? {};
  useEffect(() => {
    if (booked !== null) return;
    const timer = setTimeout(reload, STILL_RUNNING_MS);
    return () => clearTimeout(timer);
  }, [data.value]);
  const words = booked
    ? chargeWords(booked.debited_usd, booked.debited, usage?.basis !== 'reported')
    : t('The prompt and what the model made are charged, unseen thinking by an estimate');
  return <>{words}</>;
}

function tokensWords(usage: NonNullable<Answer['usage']>): string {
  const input = formatCount(usage.input);
  const cached = formatCount(usage.cached);
  const output = formatCount(usage.output);
  return usage.cached > 0
    ? t('{input} in ({cached} cached), {output} out', { input, cached, output })
    : t('{input} in, {output} out', { input, output });
}

/** Estimated while the answer streams. */
export function RunningBill({
  running: { answer, inputTokens },
  pricing,
}: {
  readonly running: Running;
  readonly pricing: PricingRecord;
}) {
  const calls = answer.calls.map((call) => call.arguments).join('');
  const output = estimateTokens(answer.text + answer.reasoning + calls);
  const { tokens, usd } = costOf(pricing, inputTokens, output);
  return (
    <p class="bill">
      {t('About {usd} ({tokens} service tokens) so far: about {input} in, {output} out', {
        usd: formatUsd(roundDecimal(usd.toFixed(10), 8)),
        tokens: formatTokens(tokens.toFixed(6), 2),
        input: formatCount(inputTokens),
        output: formatCount(output),
      })}
    </p>
  );
}
