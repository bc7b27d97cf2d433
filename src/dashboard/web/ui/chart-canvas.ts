// Draws a chart with uPlot, in the colours of the tokens. Loaded with the first chart of a visit.

import uPlot from 'uplot';
import { type ChartProps, pointName } from './chart-data.ts';

type Drawn = ChartProps & Required<Pick<ChartProps, 'format' | 'formatAxis'>>;

const HEIGHT = 220;

/** Draws into `place` until the returned function is called. Follows its width and the theme. */
export function drawChart(place: HTMLElement, props: Drawn): () => void {
  const reading = document.createElement('div');
  reading.className = 'chart-reading';
  let plot = draw();
  const resize = new ResizeObserver(() => {
    if (place.clientWidth > 0) plot.setSize({ width: place.clientWidth, height: HEIGHT });
  });
  resize.observe(place);
  const dark = window.matchMedia('(prefers-color-scheme: dark)');
  const redraw = () => {
    plot.destroy();
    plot = draw();
  };
  dark.addEventListener('change', redraw);
  const theme = new MutationObserver(redraw);
  theme.observe(document.documentElement, { attributeFilter: ['data-theme'] });

  function draw(): uPlot {
    const drawn = new uPlot(options(place, props, reading), stacked(props), place);
    drawn.over.append(reading);
    return drawn;
  }

  return () => {
    resize.disconnect();
    theme.disconnect();
    dark.removeEventListener('change', redraw);
    plot.destroy();
  };
}

/** Seconds, and the values of each series; those of bars are added to the series before. */
function stacked({ times, series, kind }: Drawn): uPlot.AlignedData {
  const seconds = times.map((iso) => Date.parse(iso) / 1_000);
  if (kind !== 'bars') return [seconds, ...series.map(({ values }) => [...values])];
  const sums = times.map(() => 0);
  const layers = series.map(({ values }) =>
    sums.map((sum, index) => {
      const total = sum + (values[index] ?? 0);
      sums[index] = total;
      return total;
    }),
  );
  // The largest sum is drawn first, so that the layers below it stay in sight.
  return [seconds, ...layers.reverse()];
}

function options(place: HTMLElement, props: Drawn, reading: HTMLElement): uPlot.Options {
  const { series, kind, step, formatAxis } = props;
  const colour = colours(place);
  const axis: uPlot.Axis = {
    stroke: colour('--ink-soft'),
    font: `12px ${getComputedStyle(document.body).fontFamily}`,
    grid: { stroke: colour('--line'), width: 1 },
    ticks: { show: false },
  };
  const layers = series.map(({ label }, index) => layer(label, index));
  function layer(label: string, index: number): uPlot.Series {
    const stroke = colour(`--chart-${(index % 6) + 1}`);
    if (kind !== 'bars') return { label, stroke, width: 2, points: { show: false } };
    const paths = uPlot.paths.bars?.({ size: [0.7, 40], gap: 1 });
    return {
      label,
      stroke,
      fill: stroke,
      width: 0,
      points: { show: false },
      ...(paths ? { paths } : {}),
    };
  }
  return {
    width: place.clientWidth || 600,
    height: HEIGHT,
    ...(step === 'day'
      ? { tzDate: (at: number) => uPlot.tzDate(new Date(at * 1_000), 'UTC') }
      : {}),
    legend: { show: false },
    cursor: { y: false, drag: { setScale: false }, points: { show: kind !== 'bars' } },
    scales: { y: { range: (_, __, most) => [0, most > 0 ? most * 1.08 : 1] } },
    axes: [
      { ...axis, grid: { show: false } },
      { ...axis, size: 56, values: (_, splits) => splits.map(formatAxis) },
    ],
    series: [{}, ...(kind === 'bars' ? layers.reverse() : layers)],
    hooks: { setCursor: [(plot) => showReading(plot, props, reading)] },
  };
}

/** The values at the pointer. */
function showReading(plot: uPlot, { times, series, step, format }: Drawn, reading: HTMLElement) {
  const { idx, left = -1 } = plot.cursor;
  const at = idx === null || idx === undefined ? undefined : times[idx];
  reading.hidden = at === undefined || left < 0;
  if (reading.hidden || at === undefined || typeof idx !== 'number') return;
  const lines = series.map(({ label, values }) => {
    const value = values[idx] ?? null;
    return `${label}: ${value === null ? '–' : format(value)}`;
  });
  reading.replaceChildren(
    ...[pointName(at, step), ...lines].map((line) => {
      const row = document.createElement('div');
      row.textContent = line;
      return row;
    }),
  );
  const width = plot.over.clientWidth;
  const shift = left > width / 2 ? left - reading.offsetWidth - 12 : left + 12;
  reading.style.transform = `translate(${Math.max(0, shift)}px, 4px)`;
}

/** The canvas knows no tokens, so they are read as the colours that they are at the moment. */
function colours(place: HTMLElement): (token: string) => string {
  const probe = document.createElement('span');
  place.append(probe);
  const read = (token: string) => {
    probe.style.color = `var(${token})`;
    return getComputedStyle(probe).color;
  };
  queueMicrotask(() => probe.remove());
  return read;
}
