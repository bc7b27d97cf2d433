// Forms: labels, hints and errors tied to their field for assistive technology, and a submit that
// cannot run twice.

import type { ComponentChildren, ComponentProps, PartialInputHTMLAttributes } from 'preact';
import { useEffect, useId, useRef } from 'preact/hooks';
import { t } from '../text/t.ts';
import { Button, type ButtonProps } from './button.tsx';
import { ErrorAlert } from './parts.tsx';
import type { Action } from './resource.ts';

/**
 * A form around an action. List in `fields` the fields that show their own errors
 * (`error={fieldError(action, 'name')}`); all other errors appear on top.
 */
export function Form<Args extends readonly unknown[]>({
  action,
  fields = [],
  submit,
  submitKind = 'primary',
  onSubmit,
  cancel,
  children,
}: {
  readonly action: Action<Args>;
  readonly fields?: readonly string[];
  /** The button text; without it the form has no buttons. */
  readonly submit?: string;
  readonly submitKind?: ButtonProps['kind'];
  readonly onSubmit: () => unknown;
  readonly cancel?: () => void;
  readonly children: ComponentChildren;
}) {
  const form = useRef<HTMLFormElement>(null);
  const error = action.error.value;
  const atField = error?.param !== undefined && fields.includes(error.param);
  useEffect(() => {
    if (atField) form.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus();
  }, [error]);
  return (
    <form
      ref={form}
      class="form"
      onSubmit={(event) => {
        event.preventDefault();
        if (!action.busy.value) onSubmit();
      }}
    >
      {!atField && <ErrorAlert error={error} />}
      {children}
      {submit && (
        <div class="actions">
          {cancel && <Button onClick={cancel}>{t('Cancel')}</Button>}
          <Button type="submit" kind={submitKind ?? 'primary'} busy={action.busy.value}>
            {submit}
          </Button>
        </div>
      )}
    </form>
  );
}

/** The error message of an action for the field `param`. */
export function fieldError<Args extends readonly unknown[]>(
  action: Action<Args>,
  param: string,
): string | undefined {
  const error = action.error.value;
  return error?.param === param ? error.message : undefined;
}

type FieldProps = {
  readonly label: ComponentChildren;
  readonly hint?: ComponentChildren;
  readonly error?: string | undefined;
};

type Described = {
  readonly id: string;
  readonly 'aria-describedby': string | undefined;
  readonly 'aria-invalid': 'true' | undefined;
};

/** The frame of a control. `children` receives the attributes that link label, hint and error. */
export function Field({
  label,
  hint,
  error,
  wide,
  children,
}: FieldProps & {
  readonly wide?: boolean;
  readonly children: (described: Described) => ComponentChildren;
}) {
  const id = useId();
  const parts = [hint ? `${id}-hint` : '', error ? `${id}-error` : ''].filter(Boolean);
  return (
    <div class={`field${wide ? ' wide' : ''}`}>
      <label for={id}>{label}</label>
      {children({
        id,
        'aria-describedby': parts.length > 0 ? parts.join(' ') : undefined,
        'aria-invalid': error ? 'true' : undefined,
      })}
      {hint && (
        <div class="hint" id={`${id}-hint`}>
          {hint}
        </div>
      )}
      {error && (
        <div class="error" id={`${id}-error`} role="alert">
          {error}
        </div>
      )}
    </div>
  );
}

type InputAttributes = Pick<
  PartialInputHTMLAttributes<HTMLInputElement>,
  | 'autocomplete'
  | 'disabled'
  | 'inputMode'
  | 'max'
  | 'maxLength'
  | 'min'
  | 'minLength'
  | 'name'
  | 'pattern'
  | 'placeholder'
  | 'readOnly'
  | 'required'
  | 'spellcheck'
  | 'step'
>;

type TextProps = FieldProps &
  InputAttributes & {
    readonly type?:
      | ('text' | 'email' | 'password' | 'number' | 'search' | 'url')
      | ('date' | 'datetime-local' | 'time');
    readonly value: string;
    readonly onInput: (value: string) => void;
    readonly wide?: boolean;
  };

/** One line of text, or a time. */
export function TextField({ label, hint, error, wide, onInput, type, ...input }: TextProps) {
  return (
    <Field label={label} hint={hint} error={error} wide={wide ?? false}>
      {(described) => (
        <input
          // TypeScript needs one branch per type, though all take the same attributes.
          type={(type ?? 'text') as 'text'}
          autocomplete="off"
          {...input}
          {...described}
          class="input"
          onInput={(event) => onInput(event.currentTarget.value)}
        />
      )}
    </Field>
  );
}

export function TextArea({
  label,
  hint,
  error,
  onInput,
  ...area
}: FieldProps &
  Omit<ComponentProps<'textarea'>, 'label' | 'value' | 'onInput' | 'class' | 'className'> & {
    readonly value: string;
    readonly onInput: (value: string) => void;
  }) {
  return (
    <Field label={label} hint={hint} error={error}>
      {(described) => (
        <textarea
          {...area}
          {...described}
          class="input"
          onInput={(event) => onInput(event.currentTarget.value)}
        />
      )}
    </Field>
  );
}

export type SelectOption = { readonly value: string; readonly label: string };

export function SelectField({
  label,
  hint,
  error,
  value,
  options,
  onChange,
  disabled,
}: FieldProps & {
  readonly value: string;
  readonly options: readonly SelectOption[];
  readonly onChange: (value: string) => void;
  readonly disabled?: boolean;
}) {
  return (
    <Field label={label} hint={hint} error={error}>
      {(described) => (
        <select
          {...described}
          class="input"
          value={value}
          disabled={disabled ?? false}
          onChange={(event) => onChange(event.currentTarget.value)}
        >
          {options.map((option) => (
            <option key={option.value} value={option.value}>
              {option.label}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}

export function CheckField({
  label,
  hint,
  checked,
  disabled,
  onChange,
}: {
  readonly label: ComponentChildren;
  readonly hint?: ComponentChildren;
  readonly checked: boolean;
  readonly disabled?: boolean;
  readonly onChange: (checked: boolean) => void;
}) {
  const id = useId();
  return (
    <div class="field">
      <div class="check">
        <input
          id={id}
          type="checkbox"
          checked={checked}
          disabled={disabled ?? false}
          aria-describedby={hint ? `${id}-hint` : undefined}
          onChange={(event) => onChange(event.currentTarget.checked)}
        />
        <label for={id}>{label}</label>
      </div>
      {hint && (
        <div class="hint" id={`${id}-hint`}>
          {hint}
        </div>
      )}
    </div>
  );
}
