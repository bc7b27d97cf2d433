// The blocked accounts, keys and networks.

import type { ListedBlockRecord } from '../../../dashboard/records/operator-lists.ts';
import { rich } from '../../text/rich.ts';
import { t } from '../../text/t.ts';
import { Collection, type RowAction } from '../../ui/collection.tsx';
import { timeColumn } from '../../ui/common-columns.tsx';
import { SelectField, type SelectOption } from '../../ui/field.tsx';
import { useFilter } from '../../ui/filters.ts';
import { labelOf } from '../../ui/labels.ts';
import { Link } from '../../ui/link.tsx';
import { NoMatch } from '../../ui/table.tsx';
import { Nothing, Time } from '../../ui/text.tsx';
import { BlockDialog, UnblockDialog } from './dialogs.tsx';

const KINDS: readonly SelectOption[] = [
  { value: '', label: t('All') },
  { value: 'account', label: t('Accounts') },
  { value: 'key', label: t('Keys') },
  { value: 'network', label: t('Networks') },
];

const TAKE_BACK: RowAction<ListedBlockRecord> = {
  label: t('Unblock'),
  needs: 'blocks.manage',
  called: (block) => t('the block of {block}', { block: calledOf(block) }),
  dialog: (block, dialog) => (
    <UnblockDialog
      target={{ kind: block.kind, value: block.value, called: calledOf(block) }}
      {...dialog}
    />
  ),
};

export function View() {
  const [kind, setKind] = useFilter('kind');
  return (
    <Collection<ListedBlockRecord>
      title={t('Blocks')}
      lead={t('Blocked accounts, keys and networks. Changes apply within 1 second.')}
      path="/blocks"
      name="blocks"
      query={{ kind }}
      empty={{
        title: t('No blocks'),
        text: t('Block a network that guesses keys, a leaked key, or an abusive account.'),
      }}
      noMatch={kind !== '' && <NoMatch clear={() => setKind('')} />}
      columns={[
        { label: t('Target'), show: (block) => <Blocked block={block} /> },
        {
          label: t('Reason'),
          wrap: true,
          show: ({ reason }) => (reason === '' ? <Nothing /> : reason),
        },
        timeColumn(t('Since'), 'created_at'),
        {
          label: t('Expires'),
          card: 'labelled',
          show: ({ expires_at }) =>
            expires_at === null ? (
              <span class="soft">{t('Never')}</span>
            ) : (
              <Time relative at={expires_at} />
            ),
        },
      ]}
      actions={[TAKE_BACK]}
      create={{
        label: t('New block'),
        needs: 'blocks.manage',
        dialog: (dialog) => <BlockDialog {...dialog} />,
      }}
    >
      <div class="filters">
        <SelectField label={t('Show')} options={KINDS} value={kind} onChange={setKind} />
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
        {kind === 'key' && account
          ? rich('Key of {account}', {
              account: <Link href={`/accounts/${account.id}`}>{account.email}</Link>,
            })
          : labelOf(kind)}
        {kind !== 'network' && !account && `, ${value}`}
      </div>
    </>
  );
}
