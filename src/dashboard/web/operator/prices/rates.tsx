// The four rates of a price, as decimal strings.

import { TextField } from '../../ui/index.ts';

export type RatesInput = {
  readonly input: string;
  readonly cached_input: string;
  readonly cache_write: string;
  readonly output: string;
};

const FIELDS = [
  { name: 'input', label: 'Input', required: true },
  { name: 'cached_input', label: 'Cached input', required: false },
  { name: 'cache_write', label: 'Cache write', required: false },
  { name: 'output', label: 'Output', required: true },
] as const;

export function RateFields({
  rates,
  onChange,
}: {
  readonly rates: RatesInput;
  readonly onChange: (rates: RatesInput) => void;
}) {
  return (
    <div class="fields">
      {FIELDS.map(({ name, label, required }) => (
        <TextField
          key={name}
          label={label}
          inputMode="decimal"
          pattern="\d{1,7}(\.\d{1,12})?"
          required={required}
          placeholder={required ? '' : 'Same as input'}
          value={rates[name]}
          onInput={(value) => onChange({ ...rates, [name]: value.trim() })}
        />
      ))}
    </div>
  );
}

/** Empty rates default to the input rate, as in the catalog. */
export function toRates({ input, cached_input: cached, cache_write: write, output }: RatesInput) {
  return {
    input,
    ...(cached === '' ? {} : { cached_input: cached }),
    ...(write === '' ? {} : { cache_write: write }),
    output,
  };
}
