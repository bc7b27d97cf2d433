// The blocked accounts, keys and networks.

import { Link } from 'wouter-preact';
import type { ListedBlockRecord } from '../../../records/operator-lists.ts';
import {
  Collection,
  humanize,
  NoMatch,
  Nothing,
  type RowAction,
  SelectField,
  type SelectOption,
  Time,
} from '../../ui/index.ts';
import { useFilter } from '../filters.ts';
import { BlockDialog, UnblockDialog } from './dialogs.tsx';

const KINDS: readonly SelectOption[] = [
  { value: '', label: 'All' },
  { value: 'account', label: 'Accounts' },
  { value: 'key', label: 'Keys' },
  { value: 'network', label: 'Networks' },
];

const TAKE_BACK: RowAction<ListedBlockRecord> = {
  label: 'Unblock',
  called: (block) => `the block of ${calledOf(block)}`,
  dialog: (block, dialog) => (
    <UnblockDialog
      target={{ kind: block.kind, value: block.value, called: calledOf(block) }}
      {...dialog}
    />
  ),
};

export function BlocksPage() {
  const [kind, setKind] = useFilter('kind');
  return (
    <Collection<ListedBlockRecord>
      title="Blocks"
      lead="Blocked accounts, keys and networks. Changes apply within 1 second."
      path="/blocks"
      query={{ kind }}
      empty={{
        title: 'No blocks',
        text: 'Block a network that guesses keys, a leaked key, or an abusive account.',
      }}
      noMatch={kind !== '' && <NoMatch clear={() => setKind('')} />}
      columns={[
        { label: 'Target', show: (block) => <Blocked block={block} /> },
        {
          label: 'Reason',
          wrap: true,
          show: ({ reason }) => (reason === '' ? <Nothing /> : reason),
        },
        { label: 'Since', show: ({ created_at }) => <Time at={created_at} /> },
        {
          label: 'Expires',
          show: ({ expires_at }) =>
            expires_at === null ? (
              <span class="soft">Never</span>
            ) : (
              <Time relative at={expires_at} />
            ),
        },
      ]}
      actions={[TAKE_BACK]}
      create={{ label: 'New block', dialog: (dialog) => <BlockDialog {...dialog} /> }}
    >
      <div class="filters">
        <SelectField label="Show" options={KINDS} value={kind} onChange={setKind} />
      </div>
    </Collection>
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
