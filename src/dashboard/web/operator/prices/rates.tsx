// The rates of a price, as typed in one unit.

import { t } from '../../text/t.ts';
import { EntryField, type EntryUnit, inUnit, readAmount } from '../../ui/amount-field.tsx';

export type RatesInput = {
  readonly input: string;
  readonly cached_input: string;
  readonly cached_input_explicit: string;
  readonly cache_write: string;
  readonly cache_write_1h: string;
  readonly output: string;
};

const FIELDS = [
  { name: 'input', label: t('Input'), empty: '' },
  { name: 'cached_input', label: t('Cached input'), empty: t('Same as input') },
  {
    name: 'cached_input_explicit',
    label: t('Explicitly cached input'),
    empty: t('Same as cached input'),
  },
  { name: 'cache_write', label: t('Cache write'), empty: t('Same as input') },
  { name: 'cache_write_1h', label: t('Cache write, 1 hour'), empty: t('Same as cache write') },
  { name: 'output', label: t('Output'), empty: '' },
] as const;

export const NO_RATES: RatesInput = {
  input: '',
  cached_input: '',
  cached_input_explicit: '',
  cache_write: '',
  cache_write_1h: '',
  output: '',
};

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
      {FIELDS.map(({ name, label, empty }) => (
        <EntryField
          key={name}
          kind="price"
          unit={unit}
          label={label}
          required={empty === ''}
          placeholder={empty}
          typed={rates[name]}
          onInput={(typed) => onChange({ ...rates, [name]: typed })}
        />
      ))}
    </div>
  );
}

/** In service tokens per model token. Empty rates are left out, so the catalog's defaults apply. */
export function toRates(rates: RatesInput, unit: EntryUnit) {
  const rate = (name: keyof RatesInput) => readAmount('price', rates[name], unit).tokens;
  const optional = <Name extends keyof RatesInput>(name: Name) => {
    const value = rate(name);
    return value === undefined ? {} : ({ [name]: value } as { readonly [Key in Name]: string });
  };
  return {
    input: rate('input') ?? '',
    ...optional('cached_input'),
    ...optional('cached_input_explicit'),
    ...optional('cache_write'),
    ...optional('cache_write_1h'),
    output: rate('output') ?? '',
  };
}

/** The same rates in another unit. */
export function ratesIn(rates: RatesInput, unit: EntryUnit, next: EntryUnit): RatesInput {
  const rate = (name: keyof RatesInput) => inUnit('price', rates[name], unit, next);
  return {
    input: rate('input'),
    cached_input: rate('cached_input'),
    cached_input_explicit: rate('cached_input_explicit'),
    cache_write: rate('cache_write'),
    cache_write_1h: rate('cache_write_1h'),
    output: rate('output'),
  };
}
