// Invitations: each lets one person sign up while sign-up is by invitation.

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
      confirm="Revoke invitation"
      consequences={['The link stops working. You can create another one.']}
      act={async () => {
        await post(`/invites/${id}/revoke`);
        toast('Invitation revoked.');
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
      lead="Each invitation lets one person sign up when SIGNUP is set to invite. Its link is shown only when you create it."
      path="/invites"
      empty={{
        title: 'No invitations yet',
        text: 'Create one and share its link with a new customer.',
      }}
      columns={[
        {
          label: 'For',
          show: ({ email }) => email ?? <span class="soft">Anyone with the link</span>,
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
        <ShownOnceDialog title="New invitation" label="the link" lines={[link]} onClose={onClose}>
          {email === null
            ? 'The first person to use this link can sign up with any address.'
            : `Send this link to ${email}. Only this address can use it.`}
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
      submit="Create invitation"
      onClose={onClose}
    >
      <TextField
        label="E-mail address"
        hint="Only this address can use the link. Leave empty to allow any address."
        type="email"
        value={email}
        onInput={setEmail}
        error={fieldError(action, 'email')}
      />
      <UntilField
        label="Expires"
        forGood="In 14 days"
        until={until}
        onChange={setUntil}
        error={fieldError(action, 'expires_at')}
      />
      <Alert title="No mail is sent">
        You get a link to share. Sign-up still verifies the address.
      </Alert>
    </FormDialog>
  );
}
