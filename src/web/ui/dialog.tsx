// Dialogs on the native element, which traps focus, closes on Escape and restores focus.

import type { ComponentChildren, ComponentProps } from 'preact';
import { useEffect, useId, useRef, useState } from 'preact/hooks';
import { HiddenUsername } from '../auth/password-field.tsx';
import { rich } from '../text/rich.ts';
import { t } from '../text/t.ts';
import { post, stepUp } from './api.ts';
import { Button } from './button.tsx';
import { Form, TextField } from './field.tsx';
import { useAction } from './resource.ts';
import { toast } from './toast.tsx';

/** Mount it only while open: `{open && <Dialog … onClose={() => setOpen(false)} />}`. */
export function Dialog({
  title,
  wide,
  onClose,
  children,
}: {
  readonly title: ComponentChildren;
  readonly wide?: boolean;
  readonly onClose: () => void;
  readonly children: ComponentChildren;
}) {
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  useEffect(() => {
    const element = dialog.current;
    const before = document.activeElement;
    element?.showModal();
    const first = (tags: string) =>
      element?.querySelector<HTMLElement>(`.dialog-body :is(${tags}):not([tabindex="-1"])`);
    (first('input, select, textarea') ?? first('button'))?.focus();
    return () => {
      element?.close();
      if (before instanceof HTMLElement) before.focus();
    };
  }, []);
  return (
    <dialog
      ref={dialog}
      class={wide ? 'wide' : ''}
      aria-labelledby={id}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
    >
      <div class="dialog-head">
        <h2 id={id}>{title}</h2>
        <button type="button" class="button quiet icon" aria-label={t('Close')} onClick={onClose}>
          ×
        </button>
      </div>
      <div class="dialog-body">{children}</div>
    </dialog>
  );
}

/** A dialog with one form. `onSubmit` replaces running the action. */
export function FormDialog({
  title,
  wide = false,
  action,
  onSubmit = action.run,
  onClose,
  ...form
}: Omit<ComponentProps<typeof Form<[]>>, 'cancel' | 'onSubmit'> & {
  readonly title: string;
  readonly wide?: boolean;
  readonly onSubmit?: () => unknown;
  readonly onClose: () => void;
}) {
  return (
    <Dialog title={title} wide={wide} onClose={onClose}>
      <Form {...form} action={action} cancel={onClose} onSubmit={() => void onSubmit()} />
    </Dialog>
  );
}

/**
 * Confirms an action. `consequences` says what will happen, one sentence each. `typed` is a word to
 * type before an action that cannot be undone. If `act` or `onDone` rejects, the dialog stays open
 * and shows the error.
 */
export function ConfirmDialog({
  title,
  consequences,
  confirm,
  danger,
  typed,
  act,
  done,
  onDone,
  onClose,
  children,
}: {
  readonly title: string;
  readonly consequences: readonly ComponentChildren[];
  readonly confirm: string;
  readonly danger?: boolean;
  readonly typed?: string;
  readonly act: () => Promise<unknown>;
  /** Said after `act`. */
  readonly done?: string;
  /** Called after `act`: reloads what the page shows. */
  readonly onDone?: () => unknown;
  readonly onClose: () => void;
  /** Fields, such as a reason. */
  readonly children?: ComponentChildren;
}) {
  const [word, setWord] = useState('');
  const action = useAction(async () => {
    await act();
    if (done !== undefined) toast(done);
    await onDone?.();
  });
  const submit = async () => {
    if (typed !== undefined && word.trim() !== typed) return;
    if (await action.run()) onClose();
  };
  return (
    <FormDialog
      title={title}
      action={action}
      submit={confirm}
      submitKind={danger ? 'danger' : 'primary'}
      onSubmit={submit}
      onClose={onClose}
    >
      <ul class="consequences">
        {consequences.map((consequence, index) => (
          <li key={index}>{consequence}</li>
        ))}
      </ul>
      {children}
      {typed !== undefined && (
        <TextField
          label={rich('Type {typed} to confirm', { typed: <strong>{typed}</strong> })}
          value={word}
          onInput={setWord}
          required
          pattern={typed.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&')}
        />
      )}
    </FormDialog>
  );
}

/** Prompts for the password when a call needs it, then resumes the call. Mounted in the shell. */
export function StepUpDialog() {
  return stepUp.value === undefined ? null : <StepUp done={stepUp.value.done} />;
}

function StepUp({ done }: { readonly done: (proven: boolean) => void }) {
  const [password, setPassword] = useState('');
  const action = useAction(() => post('/auth/step-up', { password }));
  const submit = async () => {
    if (await action.run()) done(true);
  };
  return (
    <FormDialog
      title={t('Confirm your password')}
      action={action}
      submit={t('Continue')}
      onSubmit={submit}
      onClose={() => done(false)}
    >
      <p>{t('Enter your password to continue. It stays confirmed for 10 minutes.')}</p>
      <HiddenUsername />
      <TextField
        label={t('Password')}
        type="password"
        autocomplete="current-password"
        required
        value={password}
        onInput={setPassword}
      />
    </FormDialog>
  );
}

/** The single button of a dialog that only closes. */
export function DialogClose({ onClose }: { readonly onClose: () => void }) {
  return (
    <div class="actions">
      <Button kind="primary" onClick={onClose}>
        {t('Done')}
      </Button>
    </div>
  );
}
