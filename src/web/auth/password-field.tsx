// A password field that works with password managers and can show its text.

import { useState } from 'preact/hooks';
import { t } from '../text/t.ts';
import { Field } from '../ui/field.tsx';
import { session } from '../ui/session.ts';

const LENGTH_MIN = 12;

export function PasswordField({
  label = t('Password'),
  isNew = false,
  value,
  onInput,
}: {
  readonly label?: string;
  /** For a password that the user is choosing. */
  readonly isNew?: boolean;
  readonly value: string;
  readonly onInput: (value: string) => void;
}) {
  const [isShown, setShown] = useState(false);
  const [isCapital, setCapital] = useState(false);
  const look = (event: KeyboardEvent) => setCapital(event.getModifierState('CapsLock'));
  const input = {
    class: 'input',
    name: isNew ? 'new-password' : 'password',
    autocomplete: isNew ? 'new-password' : 'current-password',
    autocapitalize: 'off',
    spellcheck: false,
    required: true,
    value,
    onInput: (event: { readonly currentTarget: HTMLInputElement }) =>
      onInput(event.currentTarget.value),
    onKeyDown: look,
    onKeyUp: look,
    ...(isNew ? { minLength: LENGTH_MIN } : {}),
  } as const;
  const hints = [
    isNew
      ? t('At least {minimum} characters. A few words are easy to remember.', {
          minimum: LENGTH_MIN,
        })
      : '',
    isCapital ? t('Caps Lock is on.') : '',
  ];
  return (
    <Field label={label} hint={hints.filter(Boolean).join(' ')}>
      {(described) => (
        <div class="password">
          {isShown ? (
            <input {...described} {...input} type="text" />
          ) : (
            <input {...described} {...input} type="password" />
          )}
          <button
            type="button"
            class="button quiet small"
            aria-pressed={isShown}
            aria-label={t('Show: {label}', { label })}
            onClick={() => setShown(!isShown)}
          >
            {isShown ? t('Hide') : t('Show')}
          </button>
        </div>
      )}
    </Field>
  );
}

/** Gives password managers the user name on pages without a field for it. */
export function HiddenUsername() {
  return (
    <input
      class="sr-only"
      type="email"
      name="email"
      autocomplete="username"
      value={session.value?.email ?? ''}
      readOnly
      tabIndex={-1}
      aria-hidden="true"
    />
  );
}
