// Recalculates the requests of a month at the draft's prices, exactly.

import { useState } from 'preact/hooks';
import type { Draft, PreviewRecord, PreviewSumRecord } from '../../../records/operator-catalog.ts';
import {
  Button,
  Empty,
  ErrorAlert,
  formatCount,
  formatCountOf,
  formatShare,
  formatUsdShort,
  post,
  SelectField,
  Table,
  Tokens,
  useAction,
} from '../../ui/index.ts';

const MONTHS = 6;

export function WhatIf({
  draft,
  usdPerMillion,
}: {
  readonly draft: Draft;
  readonly usdPerMillion: string;
}) {
  const months = lastMonths();
  const [month, setMonth] = useState(months[1]?.value ?? '');
  const [result, setResult] = useState<
    { readonly of: Draft; readonly preview: PreviewRecord } | undefined
  >(undefined);
  const ask = useAction(async () => {
    const preview = await post<PreviewRecord>('/prices/preview', { ...draft, month });
    setResult({ of: draft, preview });
  });
  return (
    <>
      <div class="filters">
        <SelectField label="Month" options={months} value={month} onChange={setMonth} />
        <Button busy={ask.busy.value} onClick={() => void ask.run()}>
          Calculate
        </Button>
      </div>
      <ErrorAlert error={ask.error.value} />
      {result?.of === draft && <Result preview={result.preview} usdPerMillion={usdPerMillion} />}
    </>
  );
}

type Row = PreviewSumRecord & { readonly model: string };

function Result({
  preview: { models, totals, not_priced: left },
  usdPerMillion,
}: {
  readonly preview: PreviewRecord;
  readonly usdPerMillion: string;
}) {
  if (totals.requests === 0) {
    return <Empty title="No requests in this month">Choose another month.</Empty>;
  }
  const rows: Row[] = [...models, { ...totals, model: 'Total' }];
  const difference = Number(totals.difference);
  const usd = formatUsdShort(((Math.abs(difference) / 1e6) * Number(usdPerMillion)).toFixed(6));
  const share = formatShare(Math.abs(difference), Number(totals.booked));
  return (
    <>
      <p>
        Customers would have paid{' '}
        <strong>
          {usd} {difference < 0 ? 'less' : 'more'}
        </strong>
        , {share} of what they paid. Assumes unchanged demand.
      </p>
      <Table
        caption="Past requests at draft prices"
        rows={rows}
        rowKey={({ model }) => model}
        columns={[
          { label: 'Model', show: ({ model }) => model },
          { label: 'Requests', end: true, show: ({ requests }) => formatCount(requests) },
          {
            label: 'Input tokens',
            end: true,
            show: ({ tokens }) =>
              formatCount(tokens.input + tokens.cached_input + tokens.cache_write),
          },
          { label: 'Output tokens', end: true, show: ({ tokens }) => formatCount(tokens.output) },
          {
            label: 'Charged',
            end: true,
            show: ({ booked }) => <Tokens amount={booked} decimals={0} />,
          },
          {
            label: 'At draft prices',
            end: true,
            show: ({ would_be }) => <Tokens amount={would_be} decimals={0} />,
          },
          {
            label: 'Difference',
            end: true,
            show: ({ difference: each }) => <Tokens amount={each} decimals={0} />,
          },
        ]}
      />
      {left.map(({ model, requests }) => (
        <p class="soft small" key={model}>
          Excludes {formatCountOf(requests, 'request')} of {model}, which is not in the catalog.
        </p>
      ))}
    </>
  );
}

/** The current month and some before it, in UTC. */
function lastMonths(): { readonly value: string; readonly label: string }[] {
  const now = new Date();
  return Array.from({ length: MONTHS }, (_, back) => {
    const first = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - back, 1));
    const label = first.toLocaleDateString('en-GB', {
      month: 'long',
      year: 'numeric',
      timeZone: 'UTC',
    });
    return { value: first.toISOString().slice(0, 7), label };
  });
}
