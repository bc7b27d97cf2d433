// A small line of the course of a figure, and its change since the period before.

import { t } from '../text/t.ts';
import { formatChange } from './format.ts';

const WIDTH = 120;
const HEIGHT = 28;

/** Decoration: the chart below has the same values. */
export function Sparkline({ values }: { readonly values: readonly number[] }) {
  const [least, most] = [Math.min(0, ...values), Math.max(0, ...values)];
  if (least === most || values.length < 2) return null;
  const x = (index: number) => (index / (values.length - 1)) * WIDTH;
  const y = (value: number) => 1 + ((most - value) / (most - least)) * (HEIGHT - 2);
  const points = values.map((value, index) => `${x(index).toFixed(1)} ${y(value).toFixed(1)}`);
  return (
    <svg
      class="sparkline"
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      preserveAspectRatio="none"
      aria-hidden="true"
    >
      <path class="area" d={`M0 ${y(0)}L${points.join('L')}L${WIDTH} ${y(0)}z`} />
      <path class="line" d={`M${points.join('L')}`} />
    </svg>
  );
}

/** Nothing where the period before has nothing to compare with. */
export function Change({ now, before }: { readonly now: number; readonly before: number }) {
  if (before === 0) return null;
  return (
    <span class="change" title={t('Compared with the previous period')}>
      {formatChange(now, before)}
      <span class="sr-only"> {t('compared with the previous period')}</span>
    </span>
  );
}
