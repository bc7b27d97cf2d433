// Amounts as text: in the currency of the service first, or in service tokens if the user prefers
// them. The choice is stored in this browser.

import { signal } from '@preact/signals';
import { locale, t } from '../text/t.ts';
import {
  type Detail,
  formatCurrency,
  formatMovement,
  formatServiceTokens,
} from './format-money.ts';
import { amountUnits, fromUsd, toUsd } from './money.ts';
import { moneyTerms } from './money-terms.ts';
import { readStored, store } from './stored.ts';

type MoneyUnit = 'currency' | 'tokens';

const STORED_AS = 'tollgate-money-unit';

export const moneyUnit = signal<MoneyUnit>(
  readStored(STORED_AS) === 'tokens' ? 'tokens' : 'currency',
);

/** In service tokens, in USD, or both; a missing one is computed. */
export type AmountValue =
  | { readonly tokens: string; readonly usd?: string }
  | { readonly usd: string; readonly tokens?: undefined };

/** The amount in the unit that the user prefers, with the unit. */
export function amountText(amount: AmountValue, detail: Detail = 'exact'): string {
  return moneyUnit.value === 'currency' ? currencyText(amount, detail) : tokensText(amount, detail);
}

/** The amount in the other unit. */
export function otherAmountText(amount: AmountValue, detail: Detail = 'figure'): string {
  return moneyUnit.value === 'currency' ? tokensText(amount, detail) : currencyText(amount, detail);
}

export function currencyText(amount: AmountValue, detail: Detail): string {
  return formatCurrency(usdOf(amount), detail, { ...moneyTerms.value.currency, locale });
}

/** An amount of a ledger, with the balance after it. */
export function movementText(amount: AmountValue, after: AmountValue): string {
  const format = { ...moneyTerms.value.currency, locale };
  return formatMovement(usdOf(amount), usdOf(after), format);
}

function usdOf({ tokens, usd }: AmountValue): string {
  return usd ?? toUsd(tokens ?? '0', amountUnits(moneyTerms.value.usdPerMillion)) ?? '';
}

export function tokensText(amount: AmountValue, detail: Detail): string {
  return t('{amount} service tokens', { amount: formatServiceTokens(tokensOf(amount), detail) });
}

export function tokensOf({ tokens, usd }: AmountValue): string {
  return tokens ?? fromUsd(usd ?? '', amountUnits(moneyTerms.value.usdPerMillion))?.base ?? '';
}

/** USD with every digit. */
export const formatUsd = (usd: string) => amountText({ usd });

export function chooseMoneyUnit(unit: MoneyUnit): void {
  moneyUnit.value = unit;
  store(STORED_AS, unit);
}
