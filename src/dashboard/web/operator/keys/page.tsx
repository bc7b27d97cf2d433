// Finds a key by its id, or by the full key from a support ticket.

import { useState } from 'preact/hooks';
import { Link } from 'wouter-preact';
import type { FoundKeyRecord } from '../../../records/operator-account.ts';
import {
  Alert,
  Button,
  Card,
  type DialogProps,
  Empty,
  Facts,
  Form,
  Nothing,
  Page,
  post,
  TextField,
  Time,
  useAction,
  useDialog,
} from '../../ui/index.ts';
import { AccountBadges } from '../accounts/standing.tsx';
import { BlockDialog, type BlockTarget, UnblockDialog } from '../blocks/dialogs.tsx';
import {
  type KeyShownOnce,
  KeyState,
  RevokeKeyDialog,
  RotateKeyDialog,
  ShownKeyDialog,
} from './dialogs.tsx';

export function KeysPage() {
  const [typed, setTyped] = useState('');
  const [found, setFound] = useState<FoundKeyRecord | undefined>(undefined);
  const find = async (key: string) => setFound(await post<FoundKeyRecord>('/keys/find', { key }));
  const action = useAction(async () => {
    setFound(undefined);
    await find(typed);
    // Clears a pasted key from the screen.
    setTyped('');
  });
  return (
    <Page title="Keys" lead="Enter a key or its id to see its owner, rotate it or revoke it.">
      <Card title="Find a key">
        <Form action={action} submit="Find key" onSubmit={() => void action.run()}>
          <TextField
            label="Key or key id"
            hint="The full key (sk-…) or its id (key_…), not the masked form. The key is neither stored nor logged."
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
          <Empty title="No key selected">The page of an account lists its keys.</Empty>
        </Card>
      ) : (
        <FoundKey found={found} reload={() => find(found.key.id)} />
      )}
    </Page>
  );
}

type Open = 'revoke' | 'rotate' | 'block' | 'unblock' | KeyShownOnce;

function FoundKey({
  found: { key, account, block },
  reload,
}: {
  readonly found: FoundKeyRecord;
  readonly reload: () => Promise<void>;
}) {
  const { open, show, close } = useDialog<Open>();
  const dialog: DialogProps<KeyShownOnce> = {
    onDone: reload,
    onShown(shown) {
      show(shown);
      void reload();
    },
    onClose: close,
  };
  const target: BlockTarget = {
    kind: 'key',
    value: key.id,
    called: `${key.masked} of ${account.email}`,
  };
  const buttons = (
    <>
      {block === null ? (
        <Button size="small" onClick={() => show('block')}>
          Block
        </Button>
      ) : (
        <Button size="small" onClick={() => show('unblock')}>
          Unblock
        </Button>
      )}
      {key.status === 'active' && (
        <>
          <Button size="small" onClick={() => show('rotate')}>
            Rotate
          </Button>
          <Button size="small" kind="danger" onClick={() => show('revoke')}>
            Revoke
          </Button>
        </>
      )}
    </>
  );
  return (
    <>
      {block !== null && (
        <Alert tone="warning" title="This key is blocked">
          {block.reason === '' ? 'No reason given.' : `Reason: ${block.reason}.`}
          {block.expires_at !== null && (
            <>
              {' '}
              It ends <Time relative at={block.expires_at} />.
            </>
          )}
        </Alert>
      )}
      <Card title={key.name ?? key.masked} actions={buttons}>
        <Facts
          items={[
            ['Key', <code key="masked">{key.masked}</code>],
            ['Id', <code key="id">{key.id}</code>],
            ['State', <KeyState key="state" record={key} />],
            ['Created', <Time key="created" at={key.created_at} />],
            ['Expires', <Time key="expires" at={key.expires_at} />],
            [
              'Last used',
              key.last_used_at === null ? (
                <Nothing key="used">Never</Nothing>
              ) : (
                <Time key="used" relative at={key.last_used_at} />
              ),
            ],
            [
              'Account',
              <span class="row" key="account">
                <Link href={`/accounts/${account.id}`}>{account.email}</Link>
                <AccountBadges account={account} />
              </span>,
            ],
          ]}
        />
      </Card>
      {open === 'revoke' && <RevokeKeyDialog record={key} {...dialog} />}
      {open === 'rotate' && <RotateKeyDialog record={key} {...dialog} />}
      {open === 'block' && <BlockDialog target={target} {...dialog} />}
      {open === 'unblock' && <UnblockDialog target={target} {...dialog} />}
      {typeof open === 'object' && <ShownKeyDialog shown={open} onClose={close} />}
    </>
  );
}
