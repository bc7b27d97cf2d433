// The columns that both lists of requests have.

import { t } from '../text/t.ts';
import { Amount } from './amount.tsx';
import { formatCount, formatMilliseconds } from './format.ts';
import type { Column } from './table-column.ts';
import { Nothing } from './text.tsx';

type Used = {
  readonly outcome: string;
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly duration_ms: number;
  readonly debited: string;
  readonly debited_usd: string;
};

/** The model that served, and the requested one if it is another. */
export function ServedModel({
  requested,
  served,
}: {
  readonly requested: string | null;
  readonly served: string | null;
}) {
  return (
    <span class="nowrap">
      {served ?? requested ?? <Nothing>{t('No model')}</Nothing>}{' '}
      {requested !== null && served !== null && served !== requested && (
        <span class="soft">{t('for {model}', { model: requested })}</span>
      )}
    </span>
  );
}

/** What a request used. A refused one used nothing, so it has no numbers. */
export function usedColumns<Row extends Used>(amountLabel: string): readonly Column<Row>[] {
  const used = (show: (row: Row) => ReturnType<typeof Amount> | string) => (row: Row) =>
    row.outcome === 'refused' ? <Nothing /> : show(row);
  return [
    {
      label: t('Input'),
      end: true,
      card: 'hidden',
      show: used(({ input_tokens }) => formatCount(input_tokens)),
    },
    {
      label: t('Output'),
      end: true,
      card: 'hidden',
      show: used(({ output_tokens }) => formatCount(output_tokens)),
    },
    {
      label: t('Duration'),
      end: true,
      card: 'hidden',
      show: used(({ duration_ms }) => formatMilliseconds(duration_ms)),
    },
    {
      label: amountLabel,
      end: true,
      show: used(({ debited, debited_usd }) => <Amount tokens={debited} usd={debited_usd} />),
    },
  ];
}
