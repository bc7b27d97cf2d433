// What a price has beyond the columns of the table, as lines: tiers by prompt length, rates of the
// cache that differ, and factors of service tiers.

import type { PricePeriodRecord } from '../../../records/operator-catalog.ts';
import { t } from '../../text/t.ts';
import { formatCount } from '../../ui/format.ts';
import { formatUsdExact } from '../../ui/format-money.ts';
import { labelOf } from '../../ui/labels.ts';
import { RATE_NAMES, type RateName } from '../../ui/rate-names.ts';

type Terms = Partial<
  Pick<PricePeriodRecord, 'tiers' | 'service_tiers' | 'cached_input_explicit' | 'cache_write_1h'>
>;

export function TermLines({ terms }: { readonly terms: Terms }) {
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
        rates: rates(tier, RATE_NAMES).join(', '),
      }),
    ),
    ...Object.entries(factors).map(([name, factor]) =>
      t('Service tier {name}: × {factor}', { name, factor }),
    ),
  ];
}
