// The blocklist: accounts, keys and networks that are refused.

import { useState } from 'preact/hooks';
import { Link } from 'wouter-preact';
import type { ListedBlockRecord } from '../../../records/operator-lists.ts';
import {
  Button,
  Card,
  Empty,
  humanize,
  ListTable,
  NoMatch,
  Nothing,
  type Option,
  Page,
  SelectField,
  Time,
  useList,
} from '../../ui/index.ts';
import { useFilter } from '../filters.ts';
import { BlockDialog, UnblockDialog } from './dialogs.tsx';

const KINDS: readonly Option[] = [
  { value: '', label: 'All' },
  { value: 'account', label: 'Accounts' },
  { value: 'key', label: 'Keys' },
  { value: 'network', label: 'Networks' },
];

export function BlocksPage() {
  const [kind, setKind] = useFilter('kind');
  const list = useList<ListedBlockRecord>('/blocks', { kind });
  const [adding, setAdding] = useState(false);
  const [removing, setRemoving] = useState<ListedBlockRecord | undefined>(undefined);
  const add = (
    <Button kind="primary" onClick={() => setAdding(true)}>
      New block
    </Button>
  );
  return (
    <Page
      title="Blocks"
      lead="Accounts, keys and networks that are refused, whatever else speaks for them. A change holds within a second."
      actions={add}
    >
      <div class="filters">
        <SelectField label="Show" options={KINDS} value={kind} onChange={setKind} />
      </div>
      <Card flush>
        <ListTable
          caption="Blocks"
          list={list}
          rowKey={({ id }) => id}
          empty={
            kind === '' ? (
              <Empty title="Nobody is blocked" action={add}>
                Block a network that guesses keys, a key that leaked, or an account that cheats.
              </Empty>
            ) : (
              <NoMatch clear={() => setKind('')} />
            )
          }
          columns={[
            { label: 'What', show: (block) => <Blocked block={block} /> },
            {
              label: 'Reason',
              wrap: true,
              show: ({ reason }) => (reason === '' ? <Nothing /> : reason),
            },
            { label: 'Since', show: ({ created_at }) => <Time at={created_at} /> },
            {
              label: 'Ends',
              show: ({ expires_at }) =>
                expires_at === null ? (
                  <span class="soft">Not by itself</span>
                ) : (
                  <Time relative at={expires_at} />
                ),
            },
            {
              label: '',
              end: true,
              show: (block) => (
                <Button
                  kind="quiet"
                  size="small"
                  aria-label={`Take back the block of ${calledOf(block)}`}
                  onClick={() => setRemoving(block)}
                >
                  Take back
                </Button>
              ),
            },
          ]}
        />
      </Card>
      {adding && <BlockDialog onDone={list.reload} onClose={() => setAdding(false)} />}
      {removing && (
        <UnblockDialog
          target={{ kind: removing.kind, value: removing.value, called: calledOf(removing) }}
          onDone={list.reload}
          onClose={() => setRemoving(undefined)}
        />
      )}
    </Page>
  );
}

function calledOf({ kind, value, account, masked }: ListedBlockRecord): string {
  if (kind === 'key') return masked ?? value;
  return kind === 'account' ? (account?.email ?? value) : value;
}

function Blocked({ block }: { readonly block: ListedBlockRecord }) {
  const { kind, value, account } = block;
  return (
    <>
      <div>
        {kind === 'account' && account ? (
          <Link href={`/accounts/${account.id}`}>{account.email}</Link>
        ) : (
          <code>{calledOf(block)}</code>
        )}
      </div>
      <div class="soft small">
        {humanize(kind)}
        {kind === 'key' && account && (
          <>
            {' of '}
            <Link href={`/accounts/${account.id}`}>{account.email}</Link>
          </>
        )}
        {kind !== 'network' && !account && `, ${value}`}
      </div>
    </>
  );
}
