// Tokens of the operators' API: what each may do, for whom it acts, and when it was last used. A new
// token is shown once.

import { useState } from 'preact/hooks';
import type {
  CreatedOperatorTokenRecord,
  OperatorTokenRecord,
} from '../../dashboard/records/operator-people.ts';
import { t } from '../text/t.ts';
import { post } from '../ui/api.ts';
import { Collection, type DialogProps } from '../ui/collection.tsx';
import { stateColumn, timeColumn } from '../ui/common-columns.tsx';
import { FormDialog } from '../ui/dialog.tsx';
import { CheckField, fieldError, TextField } from '../ui/field.tsx';
import { useAction } from '../ui/resource.ts';
import { ShownOnceDialog } from '../ui/shown-once.tsx';
import { expiryOf, FOR_GOOD, UntilField } from '../ui/until-field.tsx';
import { revokeAction } from './revoke.tsx';

type Scope = OperatorTokenRecord['scopes'][number];

const SCOPE_LABELS: Readonly<Record<Scope, string>> = {
  'accounts:read': t('Read accounts and balances'),
  'accounts:write': t('Create accounts'),
  'accounts:manage': t('Change plans, verify, suspend and close accounts'),
  'invites:read': t('List invitations'),
  'invites:write': t('Create and revoke invitations'),
  'keys:read': t('List and find keys'),
  'keys:write': t('Create, change, rotate, pause and revoke keys'),
  'blocks:read': t('List blocks'),
  'blocks:write': t('Block and unblock accounts, keys and networks'),
  'credits:write': t('Credit accounts'),
  'codes:read': t('List redemption codes'),
  'codes:write': t('Create and revoke redemption codes'),
  'money:read': t('Read movements, revenue and losses'),
  'usage:read': t('Read usage'),
  'requests:read': t('Read requests'),
  'prices:read': t('Read prices'),
  'service:read': t('Read models, upstreams, speeds and maintenance'),
  'service:write': t('Switch upstreams, incidents and maintenance'),
  'alerts:read': t('List alerts'),
  'alerts:write': t('Acknowledge alerts'),
  'audit:read': t('Read the audit trail and ledger audits'),
  'audit:run': t('Start an audit of the ledger'),
};

const SCOPES = Object.keys(SCOPE_LABELS) as Scope[];

const REVOKE = revokeAction<OperatorTokenRecord, CreatedOperatorTokenRecord>({
  path: '/tokens',
  needs: 'tokens.manage',
  called: ({ name }) => t('the token {name}', { name }),
  isOffered: ({ status }) => status === 'active',
  title: ({ name }) => t('Revoke {name}?', { name }),
  confirm: t('Revoke token'),
  consequences: () => [
    t('Programs that use it are rejected at once, with 401 invalid_operator_token.'),
    t('A revoked token cannot be restored. You can create another one.'),
  ],
  done: t('Token revoked.'),
});

export function View() {
  return (
    <Collection<OperatorTokenRecord, CreatedOperatorTokenRecord>
      title={t('API tokens')}
      lead={t(
        'Programs use a token to create accounts and keys, book credits and read usage. It acts for its owner, and ends when its owner is removed.',
      )}
      path="/tokens"
      name="tokens"
      empty={{
        title: t('No tokens yet'),
        text: t('Create one for each program that calls the operators’ API.'),
      }}
      columns={[
        {
          label: t('Name'),
          wrap: true,
          show: ({ name }) => name,
        },
        {
          label: t('Token'),
          wrap: true,
          card: 'labelled',
          show: ({ masked }) => <code class="small nowrap">{masked}</code>,
        },
        stateColumn(t('Status'), 'status'),
        {
          label: t('Scopes'),
          wrap: true,
          card: 'labelled',
          show: ({ scopes }) => <span class="small">{scopes.join(', ')}</span>,
        },
        {
          label: t('Owner'),
          wrap: true,
          card: 'labelled',
          show: ({ owner }) => owner ?? <span class="soft">{t('Command line')}</span>,
        },
        timeColumn(t('Created'), 'created_at', { relative: true }),
        timeColumn(t('Last used'), 'last_used_at', { relative: true }),
        timeColumn(t('Expires'), 'expires_at', { relative: true }),
      ]}
      actions={[REVOKE]}
      create={{
        label: t('New token'),
        needs: 'tokens.manage',
        dialog: (dialog) => <CreateTokenDialog {...dialog} />,
      }}
      shown={({ name, token }, onClose) => (
        <ShownOnceDialog
          title={t('Token {name}', { name })}
          label={t('the token')}
          lines={[token]}
          onClose={onClose}
        >
          {t('Store it where the program reads its secrets. It acts for you.')}
        </ShownOnceDialog>
      )}
    />
  );
}

function CreateTokenDialog({ onShown, onClose }: DialogProps<CreatedOperatorTokenRecord>) {
  const [name, setName] = useState('');
  const [chosen, setChosen] = useState<ReadonlySet<Scope>>(new Set());
  const [until, setUntil] = useState(FOR_GOOD);
  const action = useAction(async () => {
    const facts = { name: name.trim(), scopes: [...chosen], ...expiryOf(until) };
    onShown(await post<CreatedOperatorTokenRecord>('/tokens', facts));
  });
  const choose = (scope: Scope, isChosen: boolean): void => {
    const next = new Set(chosen);
    if (isChosen) next.add(scope);
    else next.delete(scope);
    setChosen(next);
  };
  return (
    <FormDialog
      title={t('New token')}
      action={action}
      fields={['name', 'expires_at']}
      submit={t('Create token')}
      onClose={onClose}
    >
      <TextField
        label={t('Name')}
        hint={t('The program that uses it, such as billing.')}
        required
        value={name}
        onInput={setName}
        error={fieldError(action, 'name')}
      />
      <fieldset class="stack">
        <legend>{t('Scopes')}</legend>
        {SCOPES.map((scope) => (
          <CheckField
            key={scope}
            label={
              <>
                {SCOPE_LABELS[scope]} <code class="soft small">{scope}</code>
              </>
            }
            checked={chosen.has(scope)}
            onChange={(isChosen) => choose(scope, isChosen)}
          />
        ))}
      </fieldset>
      <UntilField forGood={t('In 90 days')} until={until} onChange={setUntil} action={action} />
    </FormDialog>
  );
}
