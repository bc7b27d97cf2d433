// Invitations: each lets one person sign up on a server that is not open to everyone.

import { useState } from 'preact/hooks';
import type { CreatedInviteRecord, InviteRecord } from '../../records/operator-people.ts';
import {
  Alert,
  Collection,
  ConfirmDialog,
  type DialogProps,
  FormDialog,
  fieldError,
  post,
  type RowAction,
  StateBadge,
  TextField,
  Time,
  type Tone,
  toast,
  useAction,
} from '../ui/index.ts';
import { ShownOnceDialog } from './shown-once.tsx';
import { expiryOf, FOR_GOOD, UntilField } from './until.tsx';

const TONES: Readonly<Record<InviteRecord['status'], Tone>> = {
  open: 'accent',
  used: 'good',
  revoked: 'neutral',
  expired: 'neutral',
};

const REVOKE: RowAction<InviteRecord, CreatedInviteRecord> = {
  label: 'Revoke',
  called: ({ id, email }) => `the invitation ${email ?? id}`,
  danger: true,
  isOffered: ({ status }) => status === 'open',
  dialog: ({ id }, { onDone, onClose }) => (
    <ConfirmDialog
      title="Revoke this invitation?"
      danger
      confirm="Revoke the invitation"
      consequences={['The link stops working. You can make another one.']}
      act={async () => {
        await post(`/invites/${id}/revoke`);
        toast('The invitation is revoked.');
        await onDone();
      }}
      onClose={onClose}
    />
  ),
};

export function InvitesPage() {
  return (
    <Collection<InviteRecord, CreatedInviteRecord>
      title="Invitations"
      lead="Each lets one person sign up, where SIGNUP is set to invite. Its link is shown when it is made and never again."
      path="/invites"
      empty={{
        title: 'No invitations yet',
        text: 'Make one and share its link with a new customer.',
      }}
      columns={[
        {
          label: 'For',
          show: ({ email }) => email ?? <span class="soft">anyone with the link</span>,
        },
        {
          label: 'Status',
          show: ({ status }) => <StateBadge state={status} tone={TONES[status]} />,
        },
        { label: 'Created', show: ({ created_at }) => <Time at={created_at} /> },
        { label: 'Expires', show: ({ expires_at }) => <Time at={expires_at} /> },
      ]}
      actions={[REVOKE]}
      create={{ label: 'New invitation', dialog: (dialog) => <CreateInviteDialog {...dialog} /> }}
      shown={({ email, link }, onClose) => (
        <ShownOnceDialog title="The invitation" label="the link" lines={[link]} onClose={onClose}>
          {email === null
            ? 'The first person who opens this link may sign up, with any address.'
            : `Send this link to ${email}; no other address can use it.`}
        </ShownOnceDialog>
      )}
    />
  );
}

function CreateInviteDialog({ onShown, onClose }: DialogProps<CreatedInviteRecord>) {
  const [email, setEmail] = useState('');
  const [until, setUntil] = useState(FOR_GOOD);
  const action = useAction(async () => {
    const whom = email.trim() === '' ? {} : { email: email.trim() };
    onShown(await post<CreatedInviteRecord>('/invites', { ...whom, ...expiryOf(until) }));
  });
  return (
    <FormDialog
      title="New invitation"
      action={action}
      fields={['email', 'expires_at']}
      submit="Make the invitation"
      onClose={onClose}
    >
      <TextField
        label="E-mail address"
        hint="The only address that may use it. Empty: anyone with the link."
        type="email"
        value={email}
        onInput={setEmail}
        error={fieldError(action, 'email')}
      />
      <UntilField
        label="Expire"
        forGood="After two weeks"
        until={until}
        onChange={setUntil}
        error={fieldError(action, 'expires_at')}
      />
      <Alert title="Nothing is mailed.">
        You get a link to pass on. Signing up still verifies the address.
      </Alert>
    </FormDialog>
  );
}
