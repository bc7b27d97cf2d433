// What an answer cost and how fast it was.

import { useEffect } from 'preact/hooks';
import type { RequestHistoryRecord } from '../../../dashboard/records/customer-request.ts';
import { t } from '../../text/t.ts';
import { amountText } from '../../ui/amount-text.ts';
import { formatCount, formatMilliseconds } from '../../ui/format.ts';
import { Link } from '../../ui/link.tsx';
import { useResource } from '../../ui/resource.ts';
import type { Answer, Usage } from './answer.ts';
import { type Facts, speedOf } from './request.ts';

export function BillLine({ answer, facts }: { readonly answer: Answer; readonly facts: Facts }) {
  const { bill, usage, finish } = answer;
  const { requestId, firstMs, totalMs, model, end } = facts;
  const speed = speedOf(usage?.output, facts);
  const isStopped = end === 'stopped';
  const parts = [
    isStopped && t('Stopped'),
    isStopped && !bill && <StoppedCharge requestId={requestId} />,
    bill && chargeWords(bill.svc_cost_usd, bill.svc_tokens_debited, bill.svc_estimated),
    usage && tokensWords(usage),
    firstMs !== undefined && t('first token after {time}', { time: formatMilliseconds(firstMs) }),
    t('{time} total', { time: formatMilliseconds(totalMs) }),
    speed !== undefined &&
      t('{speed} tokens/s', { speed: speed >= 10 ? formatCount(speed) : speed.toFixed(1) }),
    bill?.svc_fallback_used && model && t('answered by {model}', { model }),
    finish && t('finish reason {finish}', { finish }),
    requestId && <Link href={`/requests/${requestId}`}>{requestId}</Link>,
  ].filter((part) => part);
  return <p class="bill">{parts.flatMap((part, index) => (index === 0 ? part : [' · ', part]))}</p>;
}

function chargeWords(usd: string, tokens: string, isEstimate: boolean): string {
  const charge = t('Charged {amount}', { amount: amountText({ tokens, usd }) });
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

function tokensWords(usage: Usage): string {
  const input = formatCount(usage.input);
  const cached = formatCount(usage.cached);
  const output = formatCount(usage.output);
  return usage.cached > 0
    ? t('{input} in ({cached} cached), {output} out', { input, cached, output })
    : t('{input} in, {output} out', { input, output });
}
