// The four rates of a price, as typed in one unit.

import { t } from '../../text/t.ts';
import { EntryField, type EntryUnit, inUnit, readAmount } from '../../ui/index.ts';

export type RatesInput = {
  readonly input: string;
  readonly cached_input: string;
  readonly cache_write: string;
  readonly output: string;
};

const FIELDS = [
  { name: 'input', label: t('Input'), required: true },
  { name: 'cached_input', label: t('Cached input'), required: false },
  { name: 'cache_write', label: t('Cache write'), required: false },
  { name: 'output', label: t('Output'), required: true },
] as const;

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
      {FIELDS.map(({ name, label, required }) => (
        <EntryField
          key={name}
          kind="price"
          unit={unit}
          label={label}
          required={required}
          placeholder={required ? '' : t('Same as input')}
          typed={rates[name]}
          onInput={(typed) => onChange({ ...rates, [name]: typed })}
        />
      ))}
    </div>
  );
}

/** In service tokens per model token. Empty rates default to the input rate, as in the catalog. */
export function toRates(rates: RatesInput, unit: EntryUnit) {
  const rate = (name: keyof RatesInput) => readAmount('price', rates[name], unit).tokens;
  const cached = rate('cached_input');
  const write = rate('cache_write');
  return {
    input: rate('input') ?? '',
    ...(cached === undefined ? {} : { cached_input: cached }),
    ...(write === undefined ? {} : { cache_write: write }),
    output: rate('output') ?? '',
  };
}

/** The same rates in another unit. */
export function ratesIn(rates: RatesInput, unit: EntryUnit, next: EntryUnit): RatesInput {
  const rate = (name: keyof RatesInput) => inUnit('price', rates[name], unit, next);
  return {
    input: rate('input'),
    cached_input: rate('cached_input'),
    cache_write: rate('cache_write'),
    output: rate('output'),
  };
}
