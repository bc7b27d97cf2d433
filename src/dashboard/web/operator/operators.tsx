// The operators, who may sign in to this console. Each one sets a password by a link that is made
// here; the first operator, and the last resort, is made on the command line.

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
        title={`Reset the sign-in of ${email}?`}
        danger
        confirm="Reset the sign-in"
        consequences={[
          'Their password and their second factor are gone at once, and their sessions end.',
          'You get a link with which they choose a new password.',
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
        confirm="Remove the operator"
        consequences={['Their sessions end at once, and they cannot sign in any more.']}
        act={async () => {
          await remove(`/operators/${id}`);
          toast('The operator is removed.');
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
      lead="All of them may do everything here. Each is named in the audit trail with what they did."
      path="/operators"
      empty={{ title: 'No operators', text: 'Make one on the command line.' }}
      columns={[
        {
          label: 'E-mail address',
          show: (operator) => (
            <>
              {operator.email} {!isOther(operator) && <Badge tone="neutral">you</Badge>}
            </>
          ),
        },
        {
          label: 'Second factor',
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
          title={`The link for ${email}`}
          label="the link"
          lines={[link]}
          onClose={onClose}
        >
          It opens the page on which {email} chooses a password, once and within 30 minutes. They
          have to reach the console's address.
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
      submit="Make the link"
      onClose={onClose}
    >
      <TextField
        label="E-mail address"
        hint="They choose a password by a link that you pass on."
        type="email"
        required
        value={email}
        onInput={setEmail}
        error={fieldError(action, 'email')}
      />
    </FormDialog>
  );
}
