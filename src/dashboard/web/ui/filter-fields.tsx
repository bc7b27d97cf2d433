// The fields of a filter bar. Each keeps its value in the page's address by its name.

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
    <div class="filters">
      {children}
      {clear && (
        <Button kind="quiet" onClick={clear}>
          {t('Clear filters')}
        </Button>
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
  return <SelectField label={label} value={value} options={choices} onChange={choose} />;
}

/** A choice from a long list, found by typing. */
export function ComboboxFilter({ name, label, options }: ChoiceProps) {
  const [value, choose] = useFilter(name);
  const choices = withOwn(value, options);
  return <ComboboxField label={label} value={value} options={choices} onChange={choose} />;
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
  wide = false,
}: {
  readonly name: string;
  readonly label: string;
  readonly placeholder: string;
  readonly maxLength: number;
  readonly wide?: boolean;
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
    <TextField
      type="search"
      label={label}
      placeholder={placeholder}
      maxLength={maxLength}
      wide={wide}
      value={typed}
      onInput={setTyped}
    />
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
  );
}
