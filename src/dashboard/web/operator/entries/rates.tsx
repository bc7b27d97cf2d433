// The rates of a price or a cost, typed in either unit; the entry has the catalog's unit.

import { useState } from 'preact/hooks';
import { t } from '../../text/t.ts';
import {
  EntryField,
  preferredUnit,
  readAmount,
  UnitSelect,
  written,
} from '../../ui/amount-field.tsx';
import { TextField } from '../../ui/field.tsx';
import { emptyRate, RATE_NAMES } from '../../ui/rate-names.ts';
import type { FieldProps } from './field-props.ts';
import { fieldText } from './labels.ts';
import { type FormValue, listOf, tableOf, textOf, withMember } from './values.ts';

export function RatesField({
  field,
  value,
  onValue,
  problemAt,
  within = '',
  readOnly,
}: FieldProps) {
  const [unit, setUnit] = useState(preferredUnit);
  /** As typed, while it means the value of the entry. */
  const [typed, setTyped] = useState<Readonly<Record<string, string>>>({});
  const rates = tableOf(value[field.name]);
  const path = `${within}${field.name}`;
  const isEmpty = Object.keys(rates).length === 0;
  const rateOf = (text: string) => readAmount('price', text, unit).tokens ?? text;
  const textFor = (name: string): string => {
    const rate = textOf(rates[name]);
    const text = typed[name];
    if (text !== undefined && rateOf(text) === rate) return text;
    return /^\d+(?:\.\d+)?$/.test(rate) ? written('price', rate, unit) : rate;
  };
  return (
    <div class="stack wide">
      <div class="entry-unit">
        <UnitSelect unit={unit} choose={setUnit} />
      </div>
      <div class="fields">
        {RATE_NAMES.map((name) => {
          const { label } = fieldText(name);
          if (readOnly) {
            return (
              <TextField
                key={name}
                label={label}
                readOnly
                value={textFor(name)}
                onInput={() => {}}
              />
            );
          }
          const isRequired = field.fields?.find((each) => each.name === name)?.required;
          const first = name === 'input' ? problemAt(path) : undefined;
          return (
            <EntryField
              key={name}
              kind="price"
              unit={unit}
              label={label}
              error={problemAt(`${path}.${name}`) ?? first}
              placeholder={isRequired || isEmpty ? '' : emptyRate(name)}
              typed={textFor(name)}
              onInput={(text) => {
                setTyped({ ...typed, [name]: text });
                onValue(withMember(value, field.name, withMember(rates, name, rateOf(text))));
              }}
            />
          );
        })}
      </div>
      <KeptTerms rates={rates} />
    </div>
  );
}

/** Tiers and service tiers, which this form keeps as they are. */
function KeptTerms({ rates }: { readonly rates: FormValue }) {
  const factors = tableOf(rates['service_tiers']);
  const words = (table: object): string =>
    Object.entries(table)
      .map(([name, value]) => `${fieldText(name).label} ${value}`)
      .join(', ');
  const lines = [
    ...listOf(rates['tiers']).map((tier) => words(tableOf(tier))),
    ...(Object.keys(factors).length === 0
      ? []
      : [`${fieldText('service_tiers').label}: ${words(factors)}`]),
  ];
  if (lines.length === 0) return null;
  return (
    <div class="soft small">
      {t('Kept as they are, in service tokens per token. Edit them in the catalog file:')}
      {lines.map((line) => (
        <div key={line}>{line}</div>
      ))}
    </div>
  );
}
