// Dialogs to block an account, key or network, permanently or for a while, and to unblock it.

import { useState } from 'preact/hooks';
import type { BlockRecord } from '../../../dashboard/records/operator-lists.ts';
import { rich } from '../../text/rich.ts';
import { t } from '../../text/t.ts';
import { ApiError, post } from '../../ui/api.ts';
import type { ChangeDialogProps } from '../../ui/collection.tsx';
import { ConfirmDialog, FormDialog } from '../../ui/dialog.tsx';
import { fieldError, SelectField, TextField } from '../../ui/field.tsx';
import { useAction } from '../../ui/resource.ts';
import { toast } from '../../ui/toast.tsx';
import { expiryOf, FOR_GOOD, UntilField } from '../../ui/until-field.tsx';

type Kind = BlockRecord['kind'];

/** The target, if already known; `called` is its display name. */
export type BlockTarget = { readonly kind: Kind; readonly value: string; readonly called: string };

const KINDS: readonly { readonly value: Kind; readonly label: string }[] = [
  { value: 'network', label: t('A network') },
  { value: 'account', label: t('An account') },
  { value: 'key', label: t('A key') },
];

const VALUES: Readonly<Record<Kind, { readonly label: string; readonly hint: string }>> = {
  network: {
    label: t('Address or network'),
    hint: t('For example 203.0.113.7, 203.0.113.0/24 or 2001:db8::/32'),
  },
  account: { label: t('Account'), hint: t('E-mail address or id') },
  key: { label: t('Key'), hint: t('Id or full key, not the masked form') },
};

const REFUSED: Readonly<Record<Kind, string>> = {
  network: t('Requests from this network are rejected with 403 ip_blocked, with any key.'),
  account: t('All its requests are rejected with 403 account_blocked.'),
  key: t(
    'Requests with this key are rejected with 403 api_key_blocked. Other keys of the account keep working.',
  ),
};

export function BlockDialog({
  target,
  onDone,
  onClose,
}: ChangeDialogProps & { readonly target?: BlockTarget }) {
  const [kind, setKind] = useState<Kind>(target?.kind ?? 'network');
  const [value, setValue] = useState(target?.value ?? '');
  const [reason, setReason] = useState('');
  const [until, setUntil] = useState(FOR_GOOD);
  const [confirm, setConfirm] = useState('');
  /** The server asks for it where the network is very wide, and says how many addresses it has. */
  const [isWide, setWide] = useState(false);
  const action = useAction(async () => {
    const typed = confirm === '' ? {} : { confirm };
    try {
      await post('/blocks', { kind, value, reason, ...typed, ...expiryOf(until) });
    } catch (error) {
      if (error instanceof ApiError && error.code === 'confirmation_required') setWide(true);
      throw error;
    }
    toast(t('Blocked the {kind}.', { kind }));
    await onDone();
    onClose();
  });
  return (
    <FormDialog
      title={target ? t('Block this {kind}?', { kind }) : t('New block')}
      action={action}
      fields={['value', 'reason', 'expires_at', ...(isWide ? ['confirm'] : [])]}
      submit={t('Block {kind}', { kind })}
      submitKind="danger"
      onClose={onClose}
    >
      {target ? (
        <p>{rich('Target: {called}', { called: <strong>{target.called}</strong> })}</p>
      ) : (
        <>
          <SelectField
            label={t('Type')}
            options={KINDS}
            value={kind}
            onChange={(chosen) => setKind(chosen as Kind)}
          />
          <TextField
            label={VALUES[kind].label}
            hint={VALUES[kind].hint}
            required
            maxLength={300}
            spellcheck={false}
            value={value}
            onInput={setValue}
            error={fieldError(action, 'value')}
          />
        </>
      )}
      <UntilField until={until} onChange={setUntil} action={action} />
      <TextField
        label={t('Reason')}
        hint={t('For the list and the audit trail. Not visible to the customer.')}
        maxLength={500}
        value={reason}
        onInput={setReason}
        error={fieldError(action, 'reason')}
      />
      {isWide && (
        <TextField
          label={rich('Type {typed} to confirm', { typed: <strong>{value.trim()}</strong> })}
          maxLength={300}
          spellcheck={false}
          value={confirm}
          onInput={setConfirm}
          error={fieldError(action, 'confirm')}
        />
      )}
      <ul class="consequences">
        <li>{REFUSED[kind]}</li>
        <li>{t('Requests in progress finish normally.')}</li>
      </ul>
    </FormDialog>
  );
}

export function UnblockDialog({
  target: { kind, value, called },
  ...dialog
}: ChangeDialogProps & { readonly target: BlockTarget }) {
  return (
    <ConfirmDialog
      title={t('Remove this block?')}
      confirm={t('Unblock')}
      consequences={[
        rich('Within 1 second, this block no longer rejects requests of {called}.', {
          called: <strong>{called}</strong>,
        }),
        t('Other restrictions still apply: account status, key expiry, other blocks.'),
      ]}
      act={() => post('/blocks/remove', { kind, value })}
      done={t('Unblocked the {kind}.', { kind })}
      {...dialog}
    />
  );
}
