// Invitations: each lets one person sign up while sign-up is by invitation.

import { useState } from 'preact/hooks';
import type { CreatedInviteRecord, InviteRecord } from '../../dashboard/records/operator-people.ts';
import { t } from '../text/t.ts';
import { post } from '../ui/api.ts';
import { Collection, type DialogProps } from '../ui/collection.tsx';
import { stateColumn, timeColumn } from '../ui/common-columns.tsx';
import { FormDialog } from '../ui/dialog.tsx';
import { fieldError, TextField } from '../ui/field.tsx';
import { Alert } from '../ui/parts.tsx';
import { useAction } from '../ui/resource.ts';
import { ShownOnceDialog } from '../ui/shown-once.tsx';
import { expiryOf, FOR_GOOD, UntilField } from '../ui/until-field.tsx';
import { revokeAction } from './revoke.tsx';

const REVOKE = revokeAction<InviteRecord, CreatedInviteRecord>({
  path: '/invites',
  needs: 'accounts.manage',
  called: ({ id, email }) => t('the invitation {email}', { email: email ?? id }),
  isOffered: ({ status }) => status === 'open',
  title: () => t('Revoke this invitation?'),
  confirm: t('Revoke invitation'),
  consequences: () => [t('The link stops working. You can create another one.')],
  done: t('Invitation revoked.'),
});

export function View() {
  return (
    <Collection<InviteRecord, CreatedInviteRecord>
      title={t('Invitations')}
      lead={t(
        'Each invitation lets one person sign up when SIGNUP is set to invite. Its link is shown only when you create it.',
      )}
      path="/invites"
      name="invites"
      empty={{
        title: t('No invitations yet'),
        text: t('Create one and share its link with a new customer.'),
      }}
      columns={[
        {
          label: t('For'),
          show: ({ email }) => email ?? <span class="soft">{t('Anyone with the link')}</span>,
        },
        stateColumn(t('Status'), 'status'),
        timeColumn(t('Created'), 'created_at'),
        timeColumn(t('Expires'), 'expires_at'),
      ]}
      actions={[REVOKE]}
      create={{
        label: t('New invitation'),
        needs: 'accounts.manage',
        dialog: (dialog) => <CreateInviteDialog {...dialog} />,
      }}
      shown={({ email, link }, onClose) => (
        <ShownOnceDialog
          title={t('New invitation')}
          label={t('the link')}
          lines={[link]}
          onClose={onClose}
        >
          {email === null
            ? t('The first person to use this link can sign up with any address.')
            : t('Send this link to {email}. Only this address can use it.', { email })}
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
      title={t('New invitation')}
      action={action}
      fields={['email', 'expires_at']}
      submit={t('Create invitation')}
      onClose={onClose}
    >
      <TextField
        label={t('E-mail address')}
        hint={t('Only this address can use the link. Leave empty to allow any address.')}
        type="email"
        value={email}
        onInput={setEmail}
        error={fieldError(action, 'email')}
      />
      <UntilField forGood={t('In 14 days')} until={until} onChange={setUntil} action={action} />
      <Alert title={t('No mail is sent')}>
        {t('You get a link to share. Sign-up still verifies the address.')}
      </Alert>
    </FormDialog>
  );
}
