// The lists of an account: ledger entries, requests, keys, audit trail.

import type { BoundKeyRecord } from '../../../dashboard/records/key.ts';
import type {
  AccountDetailRecord,
  MovementRecord,
} from '../../../dashboard/records/operator-account.ts';
import { AuditTable } from '../../shared/audit/table.tsx';
import { keyActions, type ShownKey, ShownKeyDialog } from '../../shared/keys/actions.tsx';
import { KEY_COLUMNS } from '../../shared/keys/columns.tsx';
import { CreateKeyDialog } from '../../shared/keys/create.tsx';
import { t } from '../../text/t.ts';
import { Collection } from '../../ui/collection.tsx';
import { ledgerColumns } from '../../ui/common-columns.tsx';
import { useFilter } from '../../ui/filters.ts';
import { labelOf } from '../../ui/labels.ts';
import { useLazy } from '../../ui/lazy.ts';
import { Card, Empty, Skeleton } from '../../ui/parts.tsx';
import { useList } from '../../ui/resource.ts';
import { ListTable } from '../../ui/table.tsx';
import { Tabs } from '../../ui/tabs.tsx';
import { Nothing, Time } from '../../ui/text.tsx';

const TABS = [
  { id: 'movements', label: t('Ledger') },
  { id: 'requests', label: t('Requests') },
  { id: 'keys', label: t('Keys') },
  { id: 'audit', label: t('Audit trail') },
] as const;

type Props = {
  readonly account: AccountDetailRecord;
  /** Must keep the tab mounted: it may show a new key, which is shown only once. */
  readonly onKeysChange: () => Promise<void>;
};

export function AccountTabs({ account, onKeysChange }: Props) {
  const [chosen, setTab] = useFilter('tab');
  const tab = TABS.find(({ id }) => id === chosen)?.id ?? 'movements';
  return (
    <Tabs
      label={t('Account lists')}
      tabs={TABS}
      active={tab}
      onChange={(next) => setTab(next === 'movements' ? '' : next)}
    >
      <Card flush>
        {tab === 'movements' && <Movements id={account.id} />}
        {tab === 'requests' && <Requests id={account.id} />}
        {tab === 'keys' && <Keys account={account} onKeysChange={onKeysChange} />}
        {tab === 'audit' && <AuditTable audience="all" query={{ account: account.id }} within />}
      </Card>
    </Tabs>
  );
}

function Movements({ id }: { readonly id: string }) {
  const list = useList<MovementRecord>(`/accounts/${id}/movements`);
  return (
    <ListTable
      caption={t('Ledger entries')}
      list={list}
      rowKey={({ sequence }) => String(sequence)}
      empty={
        <Empty title={t('No entries yet')}>
          {t('Credits, grants, adjustments and redeemed codes appear here with their reason.')}
        </Empty>
      }
      columns={[
        { label: t('When'), show: ({ at }) => <Time at={at} /> },
        { label: t('Kind'), show: ({ kind }) => labelOf(kind) },
        ...ledgerColumns(),
        { label: t('Reason'), wrap: true, show: ({ reason }) => reason ?? <Nothing /> },
      ]}
    />
  );
}

function Requests({ id }: { readonly id: string }) {
  const View = useLazy(true, () => import('./requests.tsx'));
  return View === undefined ? <Skeleton lines={6} /> : <View id={id} />;
}

function Keys({ account: { id, email }, onKeysChange }: Props) {
  return (
    <Collection<BoundKeyRecord, ShownKey>
      title={t('Keys')}
      within
      path={`/accounts/${id}/keys`}
      empty={{ title: t('No keys yet'), text: t('The owner creates keys on the dashboard.') }}
      columns={KEY_COLUMNS}
      actions={keyActions('all')}
      create={{
        label: t('Create key'),
        needs: 'keys.manage',
        dialog: ({ onShown, onClose }) => (
          <CreateKeyDialog
            title={t('New API key')}
            path={`/accounts/${id}/keys`}
            name={{ hint: t('For {email}. The owner sees it in the list of keys.', { email }) }}
            onCreated={onShown}
            onClose={onClose}
          />
        ),
      }}
      shown={(shown, onClose) => <ShownKeyDialog audience="all" shown={shown} onClose={onClose} />}
      onChange={onKeysChange}
    />
  );
}
