// The operators who can sign in to this console. Each sets a password by a link created here. The
// first operator, and recovery, need the command line.

import { useState } from 'preact/hooks';
import type { OperatorLinkRecord, OperatorRecord } from '../../records/operator-people.ts';
import {
  Badge,
  Collection,
  ConfirmDialog,
  type DialogProps,
  FormDialog,
  fieldError,
  post,
  type RowAction,
  remove,
  session,
  TextField,
  Time,
  toast,
  useAction,
} from '../ui/index.ts';
import { ShownOnceDialog } from './shown-once.tsx';

const isOther = ({ email }: OperatorRecord) => email !== session.value?.email;

const ACTIONS: readonly RowAction<OperatorRecord, OperatorLinkRecord>[] = [
  {
    label: 'Reset',
    called: ({ email }) => `the sign-in of ${email}`,
    isOffered: isOther,
    dialog: ({ id, email }, { onShown, onClose }) => (
      <ConfirmDialog
        title={`Reset sign-in for ${email}?`}
        danger
        confirm="Reset sign-in"
        consequences={[
          'Their password and two-factor authentication are removed, and their sessions end at once.',
          'You get a link for them to set a new password.',
        ]}
        act={async () => onShown(await post<OperatorLinkRecord>(`/operators/${id}/reset`))}
        onClose={onClose}
      />
    ),
  },
  {
    label: 'Remove',
    called: ({ email }) => email,
    danger: true,
    isOffered: isOther,
    dialog: ({ id, email }, { onDone, onClose }) => (
      <ConfirmDialog
        title={`Remove ${email}?`}
        danger
        confirm="Remove operator"
        consequences={['Their sessions end at once, and they can no longer sign in.']}
        act={async () => {
          await remove(`/operators/${id}`);
          toast('Operator removed.');
          await onDone();
        }}
        onClose={onClose}
      />
    ),
  },
];

export function OperatorsPage() {
  return (
    <Collection<OperatorRecord, OperatorLinkRecord>
      title="Operators"
      lead="All operators have full access. The audit trail records who did what."
      path="/operators"
      empty={{ title: 'No operators', text: 'Create one on the command line.' }}
      columns={[
        {
          label: 'E-mail address',
          show: (operator) => (
            <>
              {operator.email} {!isOther(operator) && <Badge tone="neutral">You</Badge>}
            </>
          ),
        },
        {
          label: 'Two-factor',
          show: ({ two_factor }) => (
            <Badge tone={two_factor ? 'good' : 'warning'}>{two_factor ? 'on' : 'off'}</Badge>
          ),
        },
        { label: 'Created', show: ({ created_at }) => <Time at={created_at} /> },
      ]}
      actions={ACTIONS}
      create={{ label: 'New operator', dialog: (dialog) => <AddDialog {...dialog} /> }}
      shown={({ email, link }, onClose) => (
        <ShownOnceDialog
          title={`Link for ${email}`}
          label="the link"
          lines={[link]}
          onClose={onClose}
        >
          Lets {email} set a password. It works once and expires after 30 minutes. They need network
          access to this console.
        </ShownOnceDialog>
      )}
    />
  );
}

function AddDialog({ onShown, onClose }: DialogProps<OperatorLinkRecord>) {
  const [email, setEmail] = useState('');
  const action = useAction(async () => {
    onShown(await post<OperatorLinkRecord>('/operators', { email: email.trim() }));
  });
  return (
    <FormDialog
      title="New operator"
      action={action}
      fields={['email']}
      submit="Create link"
      onClose={onClose}
    >
      <TextField
        label="E-mail address"
        hint="You get a link to send them. They set the password."
        type="email"
        required
        value={email}
        onInput={setEmail}
        error={fieldError(action, 'email')}
      />
    </FormDialog>
  );
}
