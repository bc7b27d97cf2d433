// The words of `tollgate prices preview`.

import { formatTokens, subtract } from '../core/money.ts';
import type { Preview } from '../operations/price-preview.ts';
import { table } from './command.ts';

type Sum = Preview['totals'];

export function previewText({ models, totals, unpriced }: Preview): string {
  const header = [
    ...['MODEL', 'REQUESTS', 'INPUT', 'CACHED', 'CACHE WRITE', 'OUTPUT'],
    ...['BOOKED', 'WOULD BE', 'DIFFERENCE', 'LOSS'],
  ];
  const row = (name: string, sum: Sum): string[] => {
    const { requests, input, cachedInput, cacheWrite, output } = sum;
    const amounts = [sum.booked, sum.wouldBe, subtract(sum.wouldBe, sum.booked), sum.loss];
    return [
      name,
      ...[requests, input, cachedInput, cacheWrite, output].map(String),
      ...amounts.map(formatTokens),
    ];
  };
  const rows = [...models].map(([model, sum]) => row(model, sum));
  const left = [...unpriced].map(
    ([model, { requests, booked }]) =>
      `${model} is not in that catalog: ${requests} requests, booked ${formatTokens(booked)}, are in no sum.`,
  );
  return [table(header, [...rows, row('total', totals)]), ...left].join('\n');
}
