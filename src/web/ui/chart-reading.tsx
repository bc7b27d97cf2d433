// What a chart says about one point: its time, each series with its colour, the total, and the
// change since the period before.

import { t } from '../text/t.ts';
import { type ChartProps, pointName, type Series, shown, totalAt } from './chart-data.ts';
import { formatChange, formatCount } from './format.ts';

export function Reading({
  chart,
  index,
  colours,
  current,
  children,
}: {
  /** With the series that are shown. */
  readonly chart: ChartProps;
  readonly index: number;
  readonly colours: (series: Series) => string;
  /** The place of the series under the pointer. */
  readonly current: number | undefined;
  readonly children?: preact.ComponentChildren;
}) {
  const { series, times, step, kind = 'bars', format = formatCount, before } = chart;
  const total = totalAt(series, index);
  const last = before?.[index] ?? null;
  return (
    <>
      <div class="soft">{pointName(times[index] ?? '', step)}</div>
      <table>
        <tbody>
          {series.map((one, nth) => (
            <tr key={one.label} class={nth === current ? 'current' : undefined}>
              <th scope="row">
                <Swatch colour={colours(one)} />
                {one.label}
              </th>
              <td>{shown(one.values[index], format)}</td>
            </tr>
          ))}
          {kind === 'bars' && series.length > 1 && (
            <tr class="total">
              <th scope="row">{t('Total')}</th>
              <td>{shown(total, format)}</td>
            </tr>
          )}
          {last !== null && (
            <tr class="soft">
              <th scope="row">{t('Previous period')}</th>
              <td>
                {format(last)} {total !== null && last !== 0 && formatChange(total, last)}
              </td>
            </tr>
          )}
        </tbody>
      </table>
      {children}
    </>
  );
}

export function Swatch({ colour }: { readonly colour: string }) {
  return (
    <svg class="swatch" viewBox="0 0 12 12" aria-hidden="true">
      <rect width="12" height="12" rx="3" fill={colour} />
    </svg>
  );
}
