// The chips of a filter bar. Each keeps its value in the page's address by its name.

import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { t } from '../text/t.ts';
import { Button } from './button.tsx';
import { ComboboxField } from './combobox.tsx';
import { SelectField, type SelectOption, TextField } from './field.tsx';
import { useFilter } from './filters.ts';

const ANY: SelectOption = { value: '', label: t('Any') };

/** A row of filters. `clear` is absent without a filter. */
export function FilterBar({
  clear,
  children,
}: {
  readonly clear: (() => void) | undefined;
  readonly children: ComponentChildren;
}) {
  return (
    <div class="chips">
      {children}
      {clear && (
        <Button kind="quiet" onClick={clear}>
          {t('Clear filters')}
        </Button>
      )}
    </div>
  );
}

/** A filter: its label until it is set or has the focus, then its value as well. */
export function Chip({
  label,
  clear,
  children,
}: {
  readonly label: string;
  /** Absent while it is not set. */
  readonly clear: (() => void) | undefined;
  readonly children: ComponentChildren;
}) {
  return (
    <div class={clear ? 'chip set' : 'chip'}>
      {children}
      {clear && (
        <button type="button" aria-label={t('Remove filter: {label}', { label })} onClick={clear}>
          ×
        </button>
      )}
    </div>
  );
}

type ChoiceProps = {
  readonly name: string;
  readonly label: string;
  readonly options: readonly SelectOption[];
};

/** A choice from a list. */
export function SelectFilter({ name, label, options }: ChoiceProps) {
  const [value, choose] = useFilter(name);
  const choices = withOwn(value, options);
  return (
    <Chip label={label} clear={value === '' ? undefined : () => choose('')}>
      <SelectField label={label} value={value} options={choices} onChange={choose} />
    </Chip>
  );
}

/** A choice from a long list, found by typing. */
export function ComboboxFilter({
  name,
  label,
  options,
  onType,
}: ChoiceProps & Pick<Parameters<typeof ComboboxField>[0], 'onType'>) {
  const [value, choose] = useFilter(name);
  const choices = withOwn(value, options);
  return (
    <Chip label={label} clear={value === '' ? undefined : () => choose('')}>
      <ComboboxField
        label={label}
        value={value}
        options={choices}
        onChange={choose}
        onType={onType}
      />
    </Chip>
  );
}

/** Keeps a value from the address as an option even if the server no longer knows it. */
function withOwn(value: string, options: readonly SelectOption[]): readonly SelectOption[] {
  const known = value === '' || options.some((option) => option.value === value);
  return [ANY, ...options, ...(known ? [] : [{ value, label: value }])];
}

const TYPING_MS = 250;

/** A text filter: shows input at once, applies it after a pause, and follows the address. */
export function TypedFilter({
  name,
  label,
  placeholder,
  maxLength,
}: {
  readonly name: string;
  readonly label: string;
  readonly placeholder: string;
  readonly maxLength: number;
}) {
  const [value, set] = useFilter(name);
  const [typed, setTyped] = useState(value);
  /** The last value of the address that this field knows. */
  const applied = useRef(value);
  useEffect(() => {
    if (value === applied.current) return;
    applied.current = value;
    setTyped(value);
  }, [value]);
  useEffect(() => {
    const next = typed.trim();
    if (next === applied.current) return;
    const timer = setTimeout(() => {
      applied.current = next;
      set(next);
    }, TYPING_MS);
    return () => clearTimeout(timer);
  }, [typed]);
  return (
    <Chip label={label} clear={value === '' ? undefined : () => set('')}>
      <TextField
        type="search"
        label={label}
        placeholder={placeholder}
        maxLength={maxLength}
        value={typed}
        onInput={setTyped}
      />
    </Chip>
  );
}

/** A text filter that applies on Enter. */
export function SentFilter({
  name,
  ...field
}: Pick<Parameters<typeof SentField>[0], 'label' | 'placeholder'> & { readonly name: string }) {
  const [value, send] = useFilter(name);
  return <SentField {...field} value={value} onSend={send} />;
}

/** A text field that applies on Enter or once it is empty, and follows the value that is applied. */
export function SentField({
  label,
  placeholder,
  value,
  onSend,
}: {
  readonly label: string;
  readonly placeholder: string;
  readonly value: string;
  readonly onSend: (text: string) => unknown;
}) {
  const [text, setText] = useState(value);
  useEffect(() => setText(value), [value]);
  return (
    <Chip label={label} clear={value === '' ? undefined : () => onSend('')}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          onSend(text.trim());
        }}
      >
        <TextField
          type="search"
          label={label}
          placeholder={placeholder}
          value={text}
          onInput={(next) => {
            setText(next);
            if (next === '' && value !== '') onSend('');
          }}
          maxLength={256}
          spellcheck={false}
        />
      </form>
    </Chip>
  );
}
