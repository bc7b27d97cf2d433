// What a price has beyond the columns of the table, as lines: tiers by prompt length, rates of the
// cache that differ, and factors of service tiers.

import type { PricePeriodRecord } from '../../../records/operator-catalog.ts';
import { t } from '../../text/t.ts';
import { formatCount } from '../../ui/format.ts';
import { formatUsdExact } from '../../ui/format-money.ts';

type Terms = Partial<
  Pick<PricePeriodRecord, 'tiers' | 'service_tiers' | 'cached_input_explicit' | 'cache_write_1h'>
>;

export function TermLines({
  terms,
  note,
}: {
  readonly terms: Terms | undefined;
  readonly note?: string;
}) {
  const lines = linesOf(terms ?? {}, note === undefined);
  if (lines.length === 0) return null;
  return (
    <div class="soft small">
      {note}
      {lines.map((line) => (
        <div key={line}>{line}</div>
      ))}
    </div>
  );
}

function linesOf(terms: Terms, withCache: boolean): string[] {
  const { tiers = [], service_tiers: factors = {} } = terms;
  return [
    ...(withCache ? cacheLines(terms) : []),
    ...tiers.flatMap((tier) => [
      t(
        'Prompts above {tokens} tokens: input {input}, cached {cached}, cache write {write}, output {output}',
        {
          tokens: formatCount(tier.above_tokens),
          input: formatUsdExact(tier.input),
          cached: formatUsdExact(tier.cached_input),
          write: formatUsdExact(tier.cache_write),
          output: formatUsdExact(tier.output),
        },
      ),
      ...cacheLines(tier),
    ]),
    ...Object.entries(factors).map(([name, factor]) =>
      t('Service tier {name}: × {factor}', { name, factor }),
    ),
  ];
}

function cacheLines({ cached_input_explicit: explicit, cache_write_1h: long }: Terms): string[] {
  return [
    ...(explicit === undefined
      ? []
      : [t('Explicitly cached input: {price}', { price: formatUsdExact(explicit) })]),
    ...(long === undefined
      ? []
      : [t('Cache write, 1 hour: {price}', { price: formatUsdExact(long) })]),
  ];
}
