// Dialogs to block an account, key or network, permanently or for a while, and to unblock it.

import { useState } from 'preact/hooks';
import type { BlockRecord } from '../../../records/operator-lists.ts';
import {
  ConfirmDialog,
  FormDialog,
  fieldError,
  post,
  SelectField,
  TextField,
  toast,
  useAction,
} from '../../ui/index.ts';
import { expiryOf, FOR_GOOD, UntilField } from '../until.tsx';

type Kind = BlockRecord['kind'];

/** The target, if already known; `called` is its display name. */
export type BlockTarget = { readonly kind: Kind; readonly value: string; readonly called: string };

const KINDS: readonly { readonly value: Kind; readonly label: string }[] = [
  { value: 'network', label: 'A network' },
  { value: 'account', label: 'An account' },
  { value: 'key', label: 'A key' },
];

const VALUES: Readonly<Record<Kind, { readonly label: string; readonly hint: string }>> = {
  network: {
    label: 'Address or network',
    hint: 'For example 203.0.113.7, 203.0.113.0/24 or 2001:db8::/32',
  },
  account: { label: 'Account', hint: 'E-mail address or id' },
  key: { label: 'Key', hint: 'Id or full key, not the masked form' },
};

const REFUSED: Readonly<Record<Kind, string>> = {
  network: 'Requests from this network are rejected with 403 ip_blocked, with any key.',
  account: 'All its requests are rejected with 403 account_blocked.',
  key: 'Requests with this key are rejected with 403 api_key_blocked. Other keys of the account keep working.',
};

export function BlockDialog({
  target,
  onDone,
  onClose,
}: {
  readonly target?: BlockTarget;
  readonly onDone: () => unknown;
  readonly onClose: () => void;
}) {
  const [kind, setKind] = useState<Kind>(target?.kind ?? 'network');
  const [value, setValue] = useState(target?.value ?? '');
  const [reason, setReason] = useState('');
  const [until, setUntil] = useState(FOR_GOOD);
  const action = useAction(async () => {
    await post('/blocks', { kind, value, reason, ...expiryOf(until) });
    toast(`Blocked the ${kind}.`);
    await onDone();
    onClose();
  });
  return (
    <FormDialog
      title={target ? `Block this ${kind}?` : 'New block'}
      action={action}
      fields={['value', 'reason', 'expires_at']}
      submit={`Block ${kind}`}
      submitKind="danger"
      onClose={onClose}
    >
      {target ? (
        <p>
          Target: <strong>{target.called}</strong>
        </p>
      ) : (
        <>
          <SelectField
            label="Type"
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
      <UntilField
        label="Expires"
        until={until}
        onChange={setUntil}
        error={fieldError(action, 'expires_at')}
      />
      <TextField
        label="Reason"
        hint="For the list and the audit trail. Not visible to the customer."
        maxLength={500}
        value={reason}
        onInput={setReason}
        error={fieldError(action, 'reason')}
      />
      <ul class="consequences">
        <li>{REFUSED[kind]}</li>
        <li>Requests in progress finish normally.</li>
      </ul>
    </FormDialog>
  );
}

export function UnblockDialog({
  target: { kind, value, called },
  onDone,
  onClose,
}: {
  readonly target: BlockTarget;
  readonly onDone: () => unknown;
  readonly onClose: () => void;
}) {
  return (
    <ConfirmDialog
      title="Remove this block?"
      confirm="Unblock"
      consequences={[
        <>
          Within 1 second, this block no longer rejects requests of <strong>{called}</strong>.
        </>,
        'Other restrictions still apply: account status, key expiry, other blocks.',
      ]}
      act={async () => {
        await post('/blocks/remove', { kind, value });
        toast(`Unblocked the ${kind}.`);
        await onDone();
      }}
      onClose={onClose}
    />
  );
}
