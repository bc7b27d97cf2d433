// The figures of a period, each with its course and its change since the period before.

import type {
  UsageFiguresRecord,
  UsagePointRecord,
  UsageRecord,
} from '../../../records/customer-usage.ts';
import { t } from '../../text/t.ts';
import { Amount, OtherAmount } from '../../ui/amount.tsx';
import { formatCompact, formatCount, formatShare } from '../../ui/format.ts';
import { Stat, Stats } from '../../ui/parts.tsx';
import { Change, Sparkline } from '../../ui/sparkline.tsx';
import { valuesOf } from '../../ui/usage-chart.ts';

export function UsageFigures({ usage }: { readonly usage: UsageRecord }) {
  const { total, before, series } = usage;
  const course = (read: (point: UsagePointRecord) => number) => {
    const all = series.map(({ points }) => valuesOf(usage, points, read));
    const sums = usage.buckets.map((_, index) =>
      all.reduce((sum, values) => sum + (values[index] ?? 0), 0),
    );
    return <Sparkline values={sums} />;
  };
  const change = (read: (figures: UsageFiguresRecord) => number) => (
    <Change now={read(total)} before={read(before.total)} />
  );
  return (
    <Stats>
      <Stat
        label={t('Spend')}
        value={<Amount tokens={total.spent} usd={total.spent_usd} detail="hero" />}
        change={change(({ spent }) => Number(spent))}
        hint={<OtherAmount tokens={total.spent} usd={total.spent_usd} />}
        trend={course(({ spent }) => Number(spent))}
      />
      <Stat
        label={t('Requests')}
        value={formatCount(total.requests)}
        change={change(({ requests }) => requests)}
        hint={t('{failed} failed', { failed: formatCount(total.failed) })}
        trend={course(({ requests }) => requests)}
      />
      <Stat
        label={t('Input tokens')}
        value={formatCompact(total.input_tokens)}
        change={change(({ input_tokens }) => input_tokens)}
        hint={t('{amount} cached', {
          amount: formatShare(total.cached_input_tokens, total.input_tokens),
        })}
        trend={course(({ input_tokens }) => input_tokens)}
      />
      <Stat
        label={t('Output tokens')}
        value={formatCompact(total.output_tokens)}
        change={change(({ output_tokens }) => output_tokens)}
        hint={t('{amount} reasoning', {
          amount: formatShare(total.reasoning_tokens, total.output_tokens),
        })}
        trend={course(({ output_tokens }) => output_tokens)}
      />
    </Stats>
  );
}
