// The rates of a price, as typed in one unit.

import type { DraftPeriod } from '../../../records/operator-catalog.ts';
import { EntryField, type EntryUnit, inUnit, readAmount } from '../../ui/amount-field.tsx';
import { labelOf } from '../../ui/labels.ts';
import { emptyRate, RATE_NAMES, type RateName } from '../../ui/rate-names.ts';

export type RatesInput = Readonly<Record<RateName, string>>;

export function eachRate(text: (name: RateName) => string): RatesInput {
  return Object.fromEntries(RATE_NAMES.map((name) => [name, text(name)])) as RatesInput;
}

export function RateFields({
  rates,
  unit,
  onChange,
}: {
  readonly rates: RatesInput;
  readonly unit: EntryUnit;
  readonly onChange: (rates: RatesInput) => void;
}) {
  return (
    <div class="fields">
      {RATE_NAMES.map((name) => (
        <EntryField
          key={name}
          kind="price"
          unit={unit}
          label={labelOf(name)}
          required={emptyRate(name) === ''}
          placeholder={emptyRate(name)}
          typed={rates[name]}
          onInput={(typed) => onChange({ ...rates, [name]: typed })}
        />
      ))}
    </div>
  );
}

/** In service tokens per model token. Empty rates are left out, so the catalog's defaults apply. */
export function toRates(rates: RatesInput, unit: EntryUnit): Pick<DraftPeriod, RateName> {
  const typed = RATE_NAMES.flatMap((name) => {
    const { tokens } = readAmount('price', rates[name], unit);
    return tokens === undefined ? [] : [[name, tokens]];
  });
  return { input: '', output: '', ...Object.fromEntries(typed) };
}

/** The same rates in another unit. */
export function ratesIn(rates: RatesInput, unit: EntryUnit, next: EntryUnit): RatesInput {
  return eachRate((name) => inUnit('price', rates[name], unit, next));
}
