// Blocks an account, a key or a network, for good or for a while, and lets it in again.

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

/** What is to be blocked where that is known already; `called` is how people know it. */
export type BlockTarget = { readonly kind: Kind; readonly value: string; readonly called: string };

const KINDS: readonly { readonly value: Kind; readonly label: string }[] = [
  { value: 'network', label: 'A network' },
  { value: 'account', label: 'An account' },
  { value: 'key', label: 'A key' },
];

const VALUES: Readonly<Record<Kind, { readonly label: string; readonly hint: string }>> = {
  network: {
    label: 'Address or network',
    hint: 'Such as 203.0.113.7, 203.0.113.0/24 or 2001:db8::/32.',
  },
  account: { label: 'Account', hint: 'Its e-mail address or its id.' },
  key: { label: 'Key', hint: 'Its id, or the whole key; the masked form is not enough.' },
};

const REFUSED: Readonly<Record<Kind, string>> = {
  network: 'Requests from there are refused with 403 ip_blocked, whatever key they carry.',
  account: 'All of its requests are refused with 403 account_blocked, whatever its standing is.',
  key: 'Requests with this key are refused with 403 api_key_blocked; other keys of its account go on.',
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
    toast(`The ${kind} is blocked.`);
    await onDone();
    onClose();
  });
  return (
    <FormDialog
      title={target ? `Block this ${kind}?` : 'New block'}
      action={action}
      fields={['value', 'reason', 'expires_at']}
      submit={`Block the ${kind}`}
      submitKind="danger"
      onClose={onClose}
    >
      {target ? (
        <p>
          This is about <strong>{target.called}</strong>.
        </p>
      ) : (
        <>
          <SelectField
            label="What"
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
        label="For how long"
        until={until}
        onChange={setUntil}
        error={fieldError(action, 'expires_at')}
      />
      <TextField
        label="Reason"
        hint="For the list and the audit trail; who is refused is not shown it."
        maxLength={500}
        value={reason}
        onInput={setReason}
        error={fieldError(action, 'reason')}
      />
      <ul class="consequences">
        <li>{REFUSED[kind]}</li>
        <li>Answers that are under way go on to their end.</li>
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
      title="Take the block back?"
      confirm="Let it in again"
      consequences={[
        <>
          Requests of <strong>{called}</strong> are no longer refused for this block, within a
          second.
        </>,
        'Whatever else holds them back stays: standing, expiry, other blocks.',
      ]}
      act={async () => {
        await post('/blocks/remove', { kind, value });
        toast(`The ${kind} is no longer blocked.`);
        await onDone();
      }}
      onClose={onClose}
    />
  );
}
