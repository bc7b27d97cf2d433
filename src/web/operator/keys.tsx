// Finds a key by its id, or by the full key from a support ticket.

import { useEffect, useState } from 'preact/hooks';
import { useSearch } from 'wouter-preact';
import type { KeyRecord } from '../../dashboard/records/key.ts';
import type { FoundKeyRecord } from '../../dashboard/records/operator-account.ts';
import { endingActions, type ShownKey, ShownKeyDialog } from '../shared/keys/actions.tsx';
import { KeyState, LastUsed } from '../shared/keys/columns.tsx';
import { rich } from '../text/rich.ts';
import { t } from '../text/t.ts';
import { post } from '../ui/api.ts';
import { type RowAction, useActions } from '../ui/collection.tsx';
import { Form, TextField } from '../ui/field.tsx';
import { Link } from '../ui/link.tsx';
import { Alert, Card, Empty, Facts, Page } from '../ui/parts.tsx';
import { useAction } from '../ui/resource.ts';
import { Time } from '../ui/text.tsx';
import { AccountBadges } from './accounts/standing.tsx';
import { BlockDialog, type BlockTarget, UnblockDialog } from './blocks/dialogs.tsx';

export function View() {
  const [typed, setTyped] = useState('');
  const [found, setFound] = useState<FoundKeyRecord | undefined>(undefined);
  const find = async (key: string) => setFound(await post<FoundKeyRecord>('/keys/find', { key }));
  const action = useAction(async (key: string) => {
    setFound(undefined);
    await find(key);
    // Clears a pasted key from the screen.
    setTyped('');
  });
  const named = new URLSearchParams(useSearch()).get('key');
  useEffect(() => {
    if (named !== null) void action.run(named);
  }, [named]);
  return (
    <Page
      title={t('Keys')}
      lead={t('Enter a key or its id to see its owner, rotate it or revoke it.')}
    >
      <Card title={t('Find a key')}>
        <Form action={action} submit={t('Find key')} onSubmit={() => void action.run(typed)}>
          <TextField
            label={t('Key or key id')}
            hint={t(
              'The full key (sk-…) or its id (key_…), not the masked form. The key is neither stored nor logged.',
            )}
            required
            maxLength={200}
            spellcheck={false}
            value={typed}
            onInput={setTyped}
          />
        </Form>
      </Card>
      {found === undefined ? (
        <Card>
          <Empty title={t('No key selected')}>{t('The page of an account lists its keys.')}</Empty>
        </Card>
      ) : (
        <FoundKey found={found} reload={() => find(found.key.id)} />
      )}
    </Page>
  );
}

function FoundKey({
  found: { key, account, block },
  reload,
}: {
  readonly found: FoundKeyRecord;
  readonly reload: () => Promise<void>;
}) {
  const target: BlockTarget = {
    kind: 'key',
    value: key.id,
    called: t('{masked} of {email}', { masked: key.masked, email: account.email }),
  };
  const blocking: RowAction<KeyRecord, ShownKey> = {
    label: block === null ? t('Block') : t('Unblock'),
    needs: 'blocks.manage',
    called: () => target.called,
    dialog: (_, dialog) =>
      block === null ? (
        <BlockDialog target={target} {...dialog} />
      ) : (
        <UnblockDialog target={target} {...dialog} />
      ),
  };
  const { buttonsOf, dialog } = useActions({
    actions: [blocking, ...endingActions('all')],
    shown: (shown, onClose) => <ShownKeyDialog audience="all" shown={shown} onClose={onClose} />,
    reload,
  });
  return (
    <>
      {block !== null && (
        <Alert tone="warning" title={t('This key is blocked')}>
          {block.reason === ''
            ? t('No reason given.')
            : t('Reason: {reason}.', { reason: block.reason })}{' '}
          {block.expires_at !== null &&
            rich('It ends {expiresAt}.', { expiresAt: <Time relative at={block.expires_at} /> })}
        </Alert>
      )}
      <Card title={key.name ?? key.masked} actions={buttonsOf(key)}>
        <Facts
          items={[
            [t('Key'), <code key="masked">{key.masked}</code>],
            [t('Id'), <code key="id">{key.id}</code>],
            [t('State'), <KeyState key="state" record={key} />],
            [t('Created'), <Time key="created" at={key.created_at} />],
            [t('Expires'), <Time key="expires" at={key.expires_at} />],
            [t('Last used'), <LastUsed key="used" at={key.last_used_at} />],
            [
              t('Account'),
              <span class="row" key="account">
                <Link href={`/accounts/${account.id}`}>{account.email}</Link>
                <AccountBadges account={account} />
              </span>,
            ],
          ]}
        />
      </Card>
      {dialog}
    </>
  );
}
