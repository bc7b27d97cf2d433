// The prices of a model by time: one row for each period, and one for each window, which has other
// rates at some hours of its days.

import type { PriceWindowRecord, PricingRecord } from '../../dashboard/records/model.ts';
import { listed, t } from '../text/t.ts';
import { Price } from '../ui/amount.tsx';
import { formatCount, weekdays } from '../ui/format.ts';
import { formatUsdExact } from '../ui/format-money.ts';
import { labelOf } from '../ui/labels.ts';
import { RATE_NAMES, type RateName, TABLE_RATES } from '../ui/rate-names.ts';
import type { Column } from '../ui/table.tsx';
import { Time } from '../ui/text.tsx';

type Period = PricingRecord['schedule'][number];

export type PriceRow<Shown extends Period> = {
  readonly key: string;
  readonly period: Shown;
  /** Absent for the period's own price. */
  readonly window: Shown['windows'][number] | undefined;
};

export function priceRows<Shown extends Period>(periods: readonly Shown[]): PriceRow<Shown>[] {
  return periods.flatMap((period, at) =>
    [undefined, ...period.windows].map((window, place) => ({
      key: `${at} ${place}`,
      period,
      window,
    })),
  );
}

export const PRICE_COLUMNS: readonly [Column<PriceRow<Period>>, ...Column<PriceRow<Period>>[]] = [
  {
    label: t('From'),
    wrap: true,
    show: ({ period: { valid_from: from, ...price }, window }) => (
      <>
        {window === undefined ? (
          from === null ? (
            t('The beginning')
          ) : (
            <Time at={from} />
          )
        ) : (
          <span class="soft">{windowName(window)}</span>
        )}
        <TermLines terms={window ?? price} />
      </>
    ),
  },
  ...TABLE_RATES.map((name) => ({
    label: labelOf(name),
    end: true,
    show: ({ period, window }: PriceRow<Period>) => <Price usd={(window ?? period)[name]} />,
  })),
];

function windowName({ from, to, days }: PriceWindowRecord): string {
  const on = days.length === 7 ? '' : `, ${weekdays(days)}`;
  return t('{from} to {to} UTC{days}', { from, to, days: on });
}

type Terms = Partial<
  Pick<Period, 'tiers' | 'service_tiers' | 'cached_input_explicit' | 'cache_write_1h'>
>;

/** What a price has beyond the columns: tiers, rates of the cache, and factors of service tiers. */
function TermLines({ terms }: { readonly terms: Terms }) {
  const lines = linesOf(terms);
  if (lines.length === 0) return null;
  return (
    <div class="soft small">
      {lines.map((line) => (
        <div key={line}>{line}</div>
      ))}
    </div>
  );
}

/** The columns of a table show the other rates of a price. */
const CACHE_RATES = ['cached_input_explicit', 'cache_write_1h'] as const;

function linesOf(terms: Terms): string[] {
  const { tiers = [], service_tiers: factors = {} } = terms;
  const rates = (of: Partial<Record<RateName, string>>, names: readonly RateName[]) =>
    names.flatMap((name) => {
      const rate = of[name];
      return rate === undefined ? [] : `${labelOf(name)} ${formatUsdExact(rate)}`;
    });
  return [
    ...rates(terms, CACHE_RATES),
    ...tiers.map((tier) =>
      t('Prompts above {tokens} tokens: {rates}', {
        tokens: formatCount(tier.above_tokens),
        rates: listed(rates(tier, RATE_NAMES)),
      }),
    ),
    ...Object.entries(factors).map(([name, factor]) =>
      t('Service tier {name}: × {factor}', { name, factor }),
    ),
  ];
}
