// An amount of money in the unit that the user prefers; the title has both units with every digit.

import { t } from '../text/t.ts';
import {
  type AmountValue,
  chooseMoneyUnit,
  currencyText,
  moneyUnit,
  movementText,
  otherAmountText,
  tokensOf,
  tokensText,
} from './amount-text.ts';
import { type Detail, formatServiceTokens } from './format-money.ts';
import { moneyTerms } from './money-terms.ts';
import { Segments } from './tabs.tsx';
import { Nothing } from './text.tsx';

/** One amount. */
export function Amount({
  tokens,
  usd,
  after,
  detail = after === undefined ? 'figure' : 'ledger',
}: {
  readonly tokens?: string | null;
  readonly usd?: string | null | undefined;
  /** The balance after a movement, in service tokens: the amount leads to it as shown. */
  readonly after?: string | undefined;
  readonly detail?: Detail | undefined;
}) {
  const amount = asAmount(tokens, usd);
  if (amount === undefined) return <Nothing />;
  const exact = t('{amount} = {other}', {
    amount: currencyText(amount, 'exact'),
    other: tokensText(amount, 'exact'),
  });
  return (
    <span class="nowrap" title={exact}>
      {moneyUnit.value === 'currency' ? (
        after === undefined ? (
          currencyText(amount, detail)
        ) : (
          movementText(amount, { tokens: after })
        )
      ) : (
        <>
          {formatServiceTokens(tokensOf(amount), detail)}{' '}
          <abbr class="soft small" title={t('service tokens')}>
            {t('ST')}
          </abbr>
        </>
      )}
    </span>
  );
}

/** A price per million model tokens, which is an amount of its own, in USD or in service tokens. */
export function Price(price: { readonly usd: string | null } | { readonly tokens: string }) {
  return <Amount {...price} detail="exact" />;
}

/** The amount in the unit that the user did not choose, for the line below a figure. */
export function OtherAmount({
  detail = 'figure',
  ...amount
}: AmountValue & { readonly detail?: Detail }) {
  return <span>{otherAmountText(amount, detail)}</span>;
}

function asAmount(
  tokens: string | null | undefined,
  usd: string | null | undefined,
): AmountValue | undefined {
  if (typeof tokens === 'string') return typeof usd === 'string' ? { tokens, usd } : { tokens };
  return typeof usd === 'string' ? { usd } : undefined;
}

/** The switch in the frame of the pages. */
export function MoneyUnitSwitch() {
  return (
    <Segments
      label={t('Unit of money')}
      choices={[
        { id: 'currency', label: moneyTerms.value.currency.code },
        { id: 'tokens', label: t('Service tokens') },
      ]}
      active={moneyUnit.value}
      onChange={chooseMoneyUnit}
    />
  );
}
