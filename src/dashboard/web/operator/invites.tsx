// Invitations: who may sign up where sign-up is not open to everybody.

import { useState } from 'preact/hooks';
import type { CreatedInviteRecord, InviteRecord } from '../../records/operator-people.ts';
import {
  Alert,
  Button,
  Card,
  ConfirmDialog,
  Dialog,
  Empty,
  Form,
  fieldError,
  ListTable,
  Page,
  post,
  StateBadge,
  TextField,
  Time,
  type Tone,
  toast,
  useAction,
  useList,
} from '../ui/index.ts';
import { ShownOnceDialog } from './shown-once.tsx';
import { expiryOf, FOR_GOOD, UntilField } from './until.tsx';

const TONES: Readonly<Record<InviteRecord['status'], Tone>> = {
  open: 'accent',
  used: 'good',
  revoked: 'neutral',
  expired: 'neutral',
};

export function InvitesPage() {
  const list = useList<InviteRecord>('/invites');
  const [creating, setCreating] = useState(false);
  const [created, setCreated] = useState<CreatedInviteRecord | undefined>(undefined);
  const [revoking, setRevoking] = useState<InviteRecord | undefined>(undefined);
  const create = (
    <Button kind="primary" onClick={() => setCreating(true)}>
      New invitation
    </Button>
  );
  return (
    <Page
      title="Invitations"
      lead="Each lets one person sign up, where SIGNUP is set to invite. Its link is shown when it is made and never again."
      actions={create}
    >
      <Card flush>
        <ListTable
          caption="Invitations"
          list={list}
          rowKey={({ id }) => id}
          empty={
            <Empty title="No invitations yet" action={create}>
              Make one and send its link to whom you want as a customer.
            </Empty>
          }
          columns={[
            {
              label: 'For',
              show: ({ email }) => email ?? <span class="soft">whoever has it</span>,
            },
            {
              label: 'Status',
              show: ({ status }) => <StateBadge state={status} tone={TONES[status]} />,
            },
            { label: 'Created', show: ({ created_at }) => <Time at={created_at} /> },
            { label: 'Expires', show: ({ expires_at }) => <Time at={expires_at} /> },
            {
              label: '',
              end: true,
              show: (invite) =>
                invite.status === 'open' && (
                  <Button
                    kind="quiet-danger"
                    size="small"
                    aria-label={`Revoke the invitation ${invite.email ?? invite.id}`}
                    onClick={() => setRevoking(invite)}
                  >
                    Revoke
                  </Button>
                ),
            },
          ]}
        />
      </Card>
      {creating && (
        <CreateInviteDialog
          onCreated={(made) => {
            setCreating(false);
            setCreated(made);
            void list.reload();
          }}
          onClose={() => setCreating(false)}
        />
      )}
      {created && (
        <ShownOnceDialog
          title="The invitation"
          label="the link"
          lines={[created.link]}
          onClose={() => setCreated(undefined)}
        >
          {created.email === null
            ? 'Whoever opens this link first may sign up with any address.'
            : `Send this link to ${created.email}; no other address can use it.`}
        </ShownOnceDialog>
      )}
      {revoking && (
        <ConfirmDialog
          title="Revoke this invitation?"
          danger
          confirm="Revoke the invitation"
          consequences={['Its link lets nobody sign up any more. You can make another one.']}
          act={async () => {
            await post(`/invites/${revoking.id}/revoke`);
            toast('The invitation is revoked.');
            await list.reload();
          }}
          onClose={() => setRevoking(undefined)}
        />
      )}
    </Page>
  );
}

function CreateInviteDialog({
  onCreated,
  onClose,
}: {
  readonly onCreated: (created: CreatedInviteRecord) => void;
  readonly onClose: () => void;
}) {
  const [email, setEmail] = useState('');
  const [until, setUntil] = useState(FOR_GOOD);
  const action = useAction(async () => {
    const whom = email.trim() === '' ? {} : { email: email.trim() };
    onCreated(await post<CreatedInviteRecord>('/invites', { ...whom, ...expiryOf(until) }));
  });
  return (
    <Dialog title="New invitation" onClose={onClose}>
      <Form
        action={action}
        fields={['email', 'expires_at']}
        submit="Make the invitation"
        cancel={onClose}
        onSubmit={() => void action.run()}
      >
        <TextField
          label="E-mail address"
          hint="The only one that may use it. Empty: whoever has the link."
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
      </Form>
    </Dialog>
  );
}
