// A field for an amount or a price in USD or in service tokens, with the other unit beside it. Both
// conversions are exact: what the books cannot hold is rejected with the nearest amount.

import type { ComponentChildren, ComponentProps } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { t } from '../text/t.ts';
import { moneyUnit } from './amount-text.ts';
import { Field, fieldError } from './field.tsx';
import { groupDigits, POINT } from './format.ts';
import { formatUsdExact } from './format-money.ts';
import { amountUnits, fitsPlaces, fromUsd, plainAmount, priceUnits, toUsd } from './money.ts';
import { moneyTerms } from './money-terms.ts';
import type { Action } from './resource.ts';

type FieldTexts = Pick<ComponentProps<typeof Field>, 'label' | 'hint' | 'error'>;

export type EntryUnit = 'usd' | 'tokens';

type EntryKind = 'amount' | 'price';

export type AmountInput = {
  readonly typed: string;
  readonly unit: EntryUnit;
  /** In service tokens, for the server; undefined while empty or not valid. */
  readonly tokens: string | undefined;
  readonly type: (typed: string) => void;
  readonly choose: (unit: EntryUnit) => void;
};

/** The unit that the user prefers. */
export const preferredUnit = (): EntryUnit => (moneyUnit.value === 'tokens' ? 'tokens' : 'usd');

/** The state of one `AmountField`. */
export function useAmountInput(): AmountInput {
  const [unit, setUnit] = useState(preferredUnit);
  const [typed, type] = useState('');
  const { tokens } = readAmount('amount', typed, unit);
  return {
    typed,
    unit,
    tokens,
    type,
    choose(next) {
      type(inUnit('amount', typed, unit, next));
      setUnit(next);
    },
  };
}

/** What was typed in one unit, in the other; it stays as it is where it is not valid. */
export function inUnit(kind: EntryKind, typed: string, unit: EntryUnit, next: EntryUnit): string {
  const { tokens } = readAmount(kind, typed, unit);
  return tokens === undefined ? typed : written(kind, tokens, next);
}

const unitsOf = (kind: EntryKind) => {
  const { usdPerMillion } = moneyTerms.value;
  return kind === 'amount' ? amountUnits(usdPerMillion) : priceUnits(usdPerMillion);
};

/** What a person would have typed for this amount. */
export function written(kind: EntryKind, tokens: string, unit: EntryUnit): string {
  const plain = unit === 'usd' ? (toUsd(tokens, unitsOf(kind)) ?? '') : tokens;
  return plain.replace('.', POINT);
}

/** Reads what was typed in a unit. */
export function readAmount(
  kind: EntryKind,
  typed: string,
  unit: EntryUnit,
): { readonly tokens: string | undefined; readonly problem: string | undefined } {
  const plain = plainAmount(typed.replace(/[.,]\s*$/, ''), POINT === ',' ? ',' : '.').replace(
    /^\+/,
    '',
  );
  const invalid = (problem: string | undefined) => ({ tokens: undefined, problem });
  if (plain === '') return invalid(undefined);
  const units = unitsOf(kind);
  if (!/^-?\d{1,18}(\.\d{1,18})?$/.test(plain)) {
    return invalid(t('Enter a number such as {example}.', { example: groupDigits('1250.5') }));
  }
  if (unit === 'tokens') {
    if (fitsPlaces(plain, units)) return { tokens: plain, problem: undefined };
    return invalid(t('Enter at most {places} decimal places.', { places: units.places }));
  }
  const found = fromUsd(plain, units);
  if (found?.isExact) return { tokens: found.base, problem: undefined };
  return invalid(
    t('{amount} is not a whole number of the smallest unit. The nearest is {nearest}.', {
      amount: formatUsdExact(plain),
      nearest: formatUsdExact(found?.nearest ?? '0'),
    }),
  );
}

/** The amount in the unit that was not typed. */
function otherUnit(kind: EntryKind, unit: EntryUnit, tokens: string): string {
  if (unit === 'tokens') {
    const usd = formatUsdExact(toUsd(tokens, unitsOf(kind)) ?? '0');
    return kind === 'amount' ? t('= {usd}', { usd }) : t('= {usd} per 1M tokens', { usd });
  }
  const amount = groupDigits(tokens);
  return kind === 'amount'
    ? t('= {amount} service tokens', { amount })
    : t('= {amount} service tokens per token', { amount });
}

function unitHint(kind: EntryKind, unit: EntryUnit): string {
  if (kind === 'amount') return unit === 'usd' ? t('In USD') : t('In service tokens');
  return unit === 'usd' ? t('USD per 1M tokens') : t('Service tokens per token');
}

/** The field of one amount whose unit is chosen elsewhere, or in `children`. */
export function EntryField({
  kind,
  unit,
  typed,
  onInput,
  label,
  hint,
  error,
  required = false,
  placeholder = '',
  children,
}: FieldTexts & {
  readonly kind: EntryKind;
  readonly unit: EntryUnit;
  readonly typed: string;
  readonly onInput: (typed: string) => void;
  readonly required?: boolean;
  readonly placeholder?: string;
  readonly children?: ComponentChildren;
}) {
  const input = useRef<HTMLInputElement>(null);
  const { tokens, problem } = readAmount(kind, typed, unit);
  useEffect(() => input.current?.setCustomValidity(problem ?? ''), [problem]);
  return (
    <Field
      label={label}
      hint={
        <>
          {tokens === undefined ? unitHint(kind, unit) : otherUnit(kind, unit, tokens)}
          {hint && <> · {hint}</>}
        </>
      }
      error={problem ?? error}
    >
      {(described) => (
        <div class="amount-input">
          <input
            {...described}
            ref={input}
            class="input"
            inputMode="decimal"
            autocomplete="off"
            maxLength={60}
            required={required}
            placeholder={placeholder}
            value={typed}
            onInput={(event) => onInput(event.currentTarget.value)}
          />
          {children}
        </div>
      )}
    </Field>
  );
}

type UnitProps = { readonly unit: EntryUnit; readonly choose: (unit: EntryUnit) => void };

/** The unit of all amounts of a form. */
export function UnitField(props: UnitProps) {
  return <Field label={t('Unit')}>{({ id }) => <UnitSelect id={id} {...props} />}</Field>;
}

export function UnitSelect({ unit, choose, id }: UnitProps & { readonly id?: string }) {
  return (
    <select
      class="input"
      id={id}
      aria-label={id === undefined ? t('Unit') : undefined}
      value={unit}
      onChange={(event) => choose(event.currentTarget.value === 'tokens' ? 'tokens' : 'usd')}
    >
      <option value="usd">{t('USD')}</option>
      <option value="tokens">{t('Service tokens')}</option>
    </select>
  );
}

export function AmountField<Args extends readonly unknown[]>({
  label,
  hint,
  amount: { unit, typed, type, choose },
  action,
}: Pick<FieldTexts, 'label' | 'hint'> & {
  readonly amount: AmountInput;
  /** Its error for `amount` is shown until the amount changes. */
  readonly action: Action<Args>;
}) {
  const error = fieldError(action, 'amount');
  const changed = () => {
    if (error !== undefined) action.error.value = undefined;
  };
  return (
    <EntryField
      kind="amount"
      {...{ label, hint, unit, typed, error }}
      required
      onInput={(text) => {
        changed();
        type(text);
      }}
    >
      <UnitSelect
        unit={unit}
        choose={(next) => {
          changed();
          choose(next);
        }}
      />
    </EntryField>
  );
}
