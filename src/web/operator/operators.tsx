// The operators who can sign in to this console. Each sets a password by a link created here. The
// first operator, and recovery, need the command line.

import { useState } from 'preact/hooks';
import type {
  OperatorLinkRecord,
  OperatorRecord,
} from '../../dashboard/records/operator-people.ts';
import { t } from '../text/t.ts';
import { post, remove } from '../ui/api.ts';
import { Collection, type DialogProps, type RowAction } from '../ui/collection.tsx';
import { timeColumn } from '../ui/common-columns.tsx';
import { ConfirmDialog, FormDialog } from '../ui/dialog.tsx';
import { fieldError, SelectField, TextField } from '../ui/field.tsx';
import { useAction } from '../ui/resource.ts';
import { session } from '../ui/session.ts';
import { ShownOnceDialog } from '../ui/shown-once.tsx';
import { Badge } from '../ui/text.tsx';
import { toast } from '../ui/toast.tsx';

const isOther = ({ email }: OperatorRecord) => email !== session.value?.email;

type OperatorRole = NonNullable<OperatorRecord['role']>;

const ROLE_LABELS: Readonly<Record<OperatorRole, string>> = {
  viewer: t('Viewer'),
  support: t('Support'),
  finance: t('Finance'),
  admin: t('Admin'),
};

/** What each role may do, in short; the documentation has the whole table. */
const ROLE_HINTS: Readonly<Record<OperatorRole, string>> = {
  viewer: t('Read-only access to all pages.'),
  support: t('Manages accounts, keys, blocks and invitations.'),
  finance: t('Moves money, creates codes, decides on approvals, exports accounts.'),
  admin: t('Full access, including upstreams, prices and operators.'),
};

const ROLE_OPTIONS = (Object.keys(ROLE_LABELS) as OperatorRole[]).map((value) => ({
  value,
  label: ROLE_LABELS[value],
}));

const ACTIONS: readonly RowAction<OperatorRecord, OperatorLinkRecord>[] = [
  {
    label: t('Change role'),
    needs: 'operators.manage',
    called: ({ email }) => t('of {email}', { email }),
    isOffered: isOther,
    dialog: (operator, dialog) => <RoleDialog operator={operator} {...dialog} />,
  },
  {
    label: t('Reset'),
    needs: 'operators.manage',
    called: ({ email }) => t('the sign-in of {email}', { email }),
    isOffered: isOther,
    dialog: ({ id, email }, { onShown, onClose }) => (
      <ConfirmDialog
        title={t('Reset sign-in for {email}?', { email })}
        danger
        confirm={t('Reset sign-in')}
        consequences={[
          t(
            'Their password and two-factor authentication are removed, and their sessions end at once.',
          ),
          t('You get a link for them to set a new password.'),
        ]}
        act={async () => onShown(await post<OperatorLinkRecord>(`/operators/${id}/reset`))}
        onClose={onClose}
      />
    ),
  },
  {
    label: t('Remove'),
    needs: 'operators.manage',
    called: ({ email }) => email,
    danger: true,
    isOffered: isOther,
    dialog: ({ id, email }, dialog) => (
      <ConfirmDialog
        title={t('Remove {email}?', { email })}
        danger
        confirm={t('Remove operator')}
        consequences={[
          t('Their sessions end at once, and they can no longer sign in.'),
          t('API tokens that act for them are revoked.'),
        ]}
        act={() => remove(`/operators/${id}`)}
        done={t('Operator removed.')}
        {...dialog}
      />
    ),
  },
];

export function View() {
  return (
    <Collection<OperatorRecord, OperatorLinkRecord>
      title={t('Operators')}
      lead={t('A role limits what an operator can do. The audit trail records who did what.')}
      path="/operators"
      empty={{ title: t('No operators'), text: t('Create one on the command line.') }}
      columns={[
        {
          label: t('E-mail address'),
          show: (operator) => (
            <>
              {operator.email} {!isOther(operator) && <Badge tone="neutral">{t('You')}</Badge>}
            </>
          ),
        },
        { label: t('Role'), show: ({ role }) => ROLE_LABELS[role ?? 'viewer'] },
        {
          label: t('Two-factor'),
          card: 'labelled',
          show: ({ two_factor }) => (
            <Badge tone={two_factor ? 'good' : 'warning'}>{two_factor ? t('on') : t('off')}</Badge>
          ),
        },
        timeColumn(t('Created'), 'created_at'),
      ]}
      actions={ACTIONS}
      create={{
        label: t('New operator'),
        needs: 'operators.manage',
        dialog: (dialog) => <AddDialog {...dialog} />,
      }}
      shown={({ email, link }, onClose) => (
        <ShownOnceDialog
          title={t('Link for {email}', { email })}
          label={t('the link')}
          lines={[link]}
          onClose={onClose}
        >
          {t(
            'Lets {email} set a password. It works once and expires after 30 minutes. They need network access to this console.',
            { email },
          )}
        </ShownOnceDialog>
      )}
    />
  );
}

function AddDialog({ onShown, onClose }: DialogProps<OperatorLinkRecord>) {
  const [email, setEmail] = useState('');
  const [role, setRole] = useState<OperatorRole>('viewer');
  const action = useAction(async () => {
    onShown(await post<OperatorLinkRecord>('/operators', { email: email.trim(), role }));
  });
  return (
    <FormDialog
      title={t('New operator')}
      action={action}
      fields={['email']}
      submit={t('Create link')}
      onClose={onClose}
    >
      <TextField
        label={t('E-mail address')}
        hint={t('You get a link to send them. They set the password.')}
        type="email"
        required
        value={email}
        onInput={setEmail}
        error={fieldError(action, 'email')}
      />
      <RoleField role={role} onChange={setRole} />
    </FormDialog>
  );
}

function RoleDialog({
  operator: { id, email, role: before },
  onDone,
  onClose,
}: DialogProps<OperatorLinkRecord> & { readonly operator: OperatorRecord }) {
  const [role, setRole] = useState<OperatorRole>(before ?? 'viewer');
  const action = useAction(async () => {
    await post(`/operators/${id}/role`, { role });
    toast(t('Role changed.'));
    await onDone();
    onClose();
  });
  return (
    <FormDialog
      title={t('Change the role of {email}', { email })}
      action={action}
      submit={t('Change role')}
      onClose={onClose}
    >
      <RoleField role={role} onChange={setRole} />
      <p class="soft small">{t('Applies at once, also to open pages. Their sessions continue.')}</p>
    </FormDialog>
  );
}

function RoleField({
  role,
  onChange,
}: {
  readonly role: OperatorRole;
  readonly onChange: (role: OperatorRole) => void;
}) {
  return (
    <SelectField
      label={t('Role')}
      options={ROLE_OPTIONS}
      hint={ROLE_HINTS[role]}
      value={role}
      onChange={(chosen) => onChange(chosen as OperatorRole)}
    />
  );
}
