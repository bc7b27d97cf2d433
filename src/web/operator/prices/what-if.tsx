// Recalculates the requests of a month at the draft's prices, exactly.

import { useState } from 'preact/hooks';
import type {
  PreviewRecord,
  PreviewSumRecord,
} from '../../../dashboard/records/operator-catalog.ts';
import { rich } from '../../text/rich.ts';
import { t } from '../../text/t.ts';
import { Amount } from '../../ui/amount.tsx';
import { amountText } from '../../ui/amount-text.ts';
import { post } from '../../ui/api.ts';
import { Button } from '../../ui/button.tsx';
import { amountColumn, countColumn } from '../../ui/common-columns.tsx';
import { SelectField } from '../../ui/field.tsx';
import { formatInstant, formatShare } from '../../ui/format.ts';
import { Empty, ErrorAlert } from '../../ui/parts.tsx';
import { lastMonths } from '../../ui/period.ts';
import { useAction } from '../../ui/resource.ts';
import { Table } from '../../ui/table.tsx';
import { Nothing } from '../../ui/text.tsx';
import { draft, type TextDraft } from '../catalog/draft.ts';

const MONTHS = 6;

export function WhatIf() {
  const months = lastMonths(MONTHS);
  const [month, setMonth] = useState(months[1]?.value ?? '');
  const [result, setResult] = useState<
    { readonly of: TextDraft | undefined; readonly preview: PreviewRecord } | undefined
  >(undefined);
  const ask = useAction(async () => {
    const of = draft.value;
    const preview = await post<PreviewRecord>('/prices/preview', { text: of?.text, month });
    setResult({ of, preview });
  });
  return (
    <>
      <div class="filters">
        <SelectField label={t('Month')} options={months} value={month} onChange={setMonth} />
        <Button needs="prices.preview" busy={ask.busy.value} onClick={() => void ask.run()}>
          {t('Calculate')}
        </Button>
      </div>
      <ErrorAlert error={ask.error.value} />
      {result && result.of === draft.value && <Result preview={result.preview} />}
    </>
  );
}

type Row = PreviewSumRecord & { readonly model: string };

function margin(label: string, field: 'margin' | 'margin_without_draft') {
  return {
    label,
    end: true,
    show: ({ [field]: tokens }: Row) =>
      tokens === null ? <Nothing>{t('Unknown cost')}</Nothing> : <Amount tokens={tokens} />,
  };
}

function Result({
  preview: { prices_at: at, models, totals, not_priced: left },
}: {
  readonly preview: PreviewRecord;
}) {
  if (totals.requests === 0) {
    return <Empty title={t('No requests in this month')}>{t('Choose another month.')}</Empty>;
  }
  const rows: Row[] = [...models, { ...totals, model: t('Total') }];
  const difference = Number(totals.difference);
  const amount = amountText({ tokens: totals.difference.replace(/^-/, '') }, 'figure');
  const share = formatShare(Math.abs(difference), Number(totals.without_draft));
  return (
    <>
      <p>
        {rich(
          'With the draft, customers would have paid <strong>{amount} {direction, select, less {less} other {more}}</strong> ({share}) than without it, at the prices of {date}. Assumes unchanged demand.',
          {
            strong: (text) => <strong>{text}</strong>,
            amount,
            direction: difference < 0 ? 'less' : 'more',
            share,
            date: at === null ? t('that month') : formatInstant(at, 'day'),
          },
        )}
      </p>
      <Table
        caption={t('Past requests at draft prices')}
        rows={rows}
        rowKey={({ model }) => model}
        columns={[
          { label: t('Model'), show: ({ model }) => model },
          countColumn(t('Requests'), 'requests'),
          amountColumn(t('Without the draft'), 'without_draft'),
          amountColumn(t('At draft prices'), 'would_be'),
          amountColumn(t('Difference'), 'difference'),
          margin(t('Margin without the draft'), 'margin_without_draft'),
          margin(t('Margin with the draft'), 'margin'),
        ]}
      />
      {left.map(({ model, requests }) => (
        <p class="soft small" key={model}>
          {t(
            'Excludes {requests, plural, one {# request} other {# requests}} of {model}, which is not in the catalog.',
            { requests, model },
          )}
        </p>
      ))}
    </>
  );
}
