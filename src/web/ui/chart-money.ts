// Amounts in a chart: numbers in the unit that the user prefers, which its heading and axis name.

import { locale, t } from '../text/t.ts';
import { moneyUnit } from './amount-text.ts';
import type { ChartProps } from './chart-data.ts';
import { type Detail, formatCurrency, formatServiceTokens } from './format-money.ts';
import { moneyTerms } from './money-terms.ts';

type MoneyChart = Required<Pick<ChartProps, 'unit' | 'format' | 'formatAxis'>> & {
  /** An amount in USD as a number of the unit: rounded, since lists have the exact amount. */
  readonly value: (usd: string) => number;
};

export function moneyChart(): MoneyChart {
  const { usdPerMillion, currency } = moneyTerms.value;
  if (moneyUnit.value === 'tokens') {
    const format = (detail: Detail) => (tokens: number) =>
      formatServiceTokens(tokens.toFixed(6), detail);
    return {
      unit: t('service tokens'),
      format: format('figure'),
      formatAxis: format('axis'),
      value: (usd) => (Number(usd) / Number(usdPerMillion)) * 1_000_000,
    };
  }
  const format = (detail: Detail) => (amount: number) =>
    formatCurrency(amount.toFixed(10), detail, { code: currency.code, perUsd: '1', locale });
  return {
    unit: currency.code,
    format: format('figure'),
    formatAxis: format('axis'),
    value: (usd) => Number(usd) * Number(currency.perUsd),
  };
}
