// Finds a key by its id, or by the whole key that a customer pasted into a ticket.

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
    // A key that was pasted does not stay on the screen.
    setTyped('');
  });
  return (
    <Page
      title="Keys"
      lead="Paste a key from a ticket, or give its id, to see whose it is and to revoke it."
    >
      <Card title="Find a key">
        <Form action={action} submit="Find the key" onSubmit={() => void action.run()}>
          <TextField
            label="Key or id of a key"
            hint="The whole key (sk-…) or its id (key_…). It is neither kept nor written to any log. The masked form is not enough."
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
          <Empty title="No key to show">
            The keys of one account are on the page of that account.
          </Empty>
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
          Take the block back
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
          {block.reason === '' ? 'No reason was given.' : `Reason: ${block.reason}.`}
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
              'Last use',
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
