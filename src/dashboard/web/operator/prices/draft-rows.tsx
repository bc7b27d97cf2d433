// The changes of a draft, one per row.

import type { Draft, DraftPeriod } from '../../../records/operator-catalog.ts';
import { t } from '../../text/t.ts';
import { Price } from '../../ui/amount.tsx';
import { Button } from '../../ui/button.tsx';
import { labelOf } from '../../ui/labels.ts';
import { priceUnits, toUsd } from '../../ui/money.ts';
import { TABLE_RATES } from '../../ui/rate-names.ts';
import { Table } from '../../ui/table.tsx';
import { Badge, Time } from '../../ui/text.tsx';
import { dropPeriod, keep } from './draft.ts';

type Row =
  | { readonly kind: 'add'; readonly period: DraftPeriod }
  | { readonly kind: 'withdraw'; readonly model: string; readonly valid_from: string };

export function DraftRows({
  draft,
  usdPerMillion,
}: {
  readonly draft: Draft;
  readonly usdPerMillion: string;
}) {
  const rows: Row[] = [
    ...draft.withdraw.map((each) => ({ kind: 'withdraw', ...each }) as const),
    ...draft.add.map((period) => ({ kind: 'add', period }) as const),
  ];
  const rates = TABLE_RATES.map((field) => ({
    label: labelOf(field),
    end: true,
    show: (row: Row) =>
      row.kind === 'add' && (
        <Price
          usd={
            toUsd(String(row.period[field] ?? row.period.input), priceUnits(usdPerMillion)) ?? null
          }
        />
      ),
  }));
  return (
    <>
      <Table
        caption={t('Changes of the draft')}
        rows={rows}
        rowKey={(row) => `${row.kind} ${namedOf(row).model} ${namedOf(row).valid_from}`}
        columns={[
          { label: t('Model'), show: (row) => namedOf(row).model },
          { label: t('From'), show: (row) => <Time at={namedOf(row).valid_from} /> },
          ...rates,
          { label: t('Change'), show: (row) => <What row={row} /> },
          {
            label: '',
            end: true,
            show: (row) => (
              <Button
                size="small"
                kind="quiet"
                onClick={() =>
                  row.kind === 'add' ? dropPeriod(row.period) : keep(row.model, row.valid_from)
                }
              >
                {t('Remove')}
              </Button>
            ),
          },
        ]}
      />
      <p class="soft small">
        {t('Per 1M tokens. 1M service tokens cost {usdPerMillion} USD.', { usdPerMillion })}
      </p>
    </>
  );
}

function namedOf(row: Row): { readonly model: string; readonly valid_from: string } {
  return row.kind === 'add' ? row.period : row;
}

function What({ row }: { readonly row: Row }) {
  if (row.kind === 'withdraw') return <Badge tone="warning">{t('Withdrawn')}</Badge>;
  const hours = row.period.windows?.length ?? 0;
  const tiers = row.period.tiers?.length ?? 0;
  return (
    <>
      <Badge tone="accent">{hours === 0 ? t('New') : t('New, time-of-day rates')}</Badge>
      {tiers > 0 && (
        <span class="soft small">
          {' '}
          {t('{tiers, plural, one {# tier} other {# tiers}} by prompt length', { tiers })}
        </span>
      )}
    </>
  );
}
