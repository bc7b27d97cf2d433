// The lists of an account: ledger entries, requests, keys, audit trail.

import type { BoundKeyRecord } from '../../../records/key.ts';
import type { AccountDetailRecord, MovementRecord } from '../../../records/operator-account.ts';
import type { LoggedRequestRecord } from '../../../records/operator-request.ts';
import { AuditTable } from '../../shared/audit/table.tsx';
import { boundsActions } from '../../shared/keys/actions.tsx';
import { KeyBounds } from '../../shared/keys/bounds.tsx';
import { CreateKeyDialog } from '../../shared/keys/create.tsx';
import { loggedRequestColumns } from '../../shared/requests/columns.tsx';
import { t } from '../../text/t.ts';
import { Collection, type RowAction } from '../../ui/collection.tsx';
import { ledgerColumns, timeColumn } from '../../ui/common-columns.tsx';
import { useFilter } from '../../ui/filters.ts';
import { labelOf } from '../../ui/labels.ts';
import { Card, Empty } from '../../ui/parts.tsx';
import { useList } from '../../ui/resource.ts';
import { type Column, ListTable } from '../../ui/table.tsx';
import { Tabs } from '../../ui/tabs.tsx';
import { Nothing, Time } from '../../ui/text.tsx';
import {
  type KeyShownOnce,
  KeyState,
  RevokeKeyDialog,
  RotateKeyDialog,
  ShownKeyDialog,
} from '../keys/dialogs.tsx';

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
  const list = useList<LoggedRequestRecord>(`/accounts/${id}/requests`);
  return (
    <ListTable
      caption={t('Requests')}
      name="account-requests"
      list={list}
      rowKey={({ request_id }) => request_id}
      href={({ request_id }) => `/requests/${request_id}`}
      columns={loggedRequestColumns('account')}
      empty={
        <Empty title={t('No requests yet')}>
          {t('Requests of the account appear here, refused ones for seven days.')}
        </Empty>
      }
    />
  );
}

function Keys({ account: { id, email }, onKeysChange }: Props) {
  return (
    <Collection<BoundKeyRecord, KeyShownOnce>
      title={t('Keys')}
      within
      path={`/accounts/${id}/keys`}
      empty={{ title: t('No keys yet'), text: t('The owner creates keys on the dashboard.') }}
      columns={KEY_COLUMNS}
      actions={KEY_ACTIONS}
      create={{
        label: t('New key'),
        needs: 'keys.manage',
        dialog: ({ onShown, onClose }) => (
          <CreateKeyDialog
            title={t('New key')}
            path={`/accounts/${id}/keys`}
            name={{ hint: t('For {email}. The owner sees it in the list of keys.', { email }) }}
            onCreated={({ key }) =>
              onShown({ title: t('Key created'), key, about: t('A key of {email}.', { email }) })
            }
            onClose={onClose}
          />
        ),
      }}
      shown={(shown, onClose) => <ShownKeyDialog shown={shown} onClose={onClose} />}
      onChange={onKeysChange}
    />
  );
}

const KEY_COLUMNS: readonly [Column<BoundKeyRecord>, ...Column<BoundKeyRecord>[]] = [
  {
    label: t('Key'),
    show: ({ name, masked }) => (
      <>
        <div>{name ?? <span class="soft">{t('No name')}</span>}</div>
        <code class="soft">{masked}</code>
      </>
    ),
  },
  { label: t('State'), card: 'state', show: (key) => <KeyState record={key} /> },
  {
    label: t('Last used'),
    show: ({ last_used_at }) =>
      last_used_at === null ? <Nothing>{t('Never')}</Nothing> : <Time relative at={last_used_at} />,
  },
  timeColumn(t('Expires'), 'expires_at', { relative: true }),
  {
    label: t('Bounds'),
    card: 'labelled',
    wrap: true,
    show: (record) => <KeyBounds record={record} />,
  },
  timeColumn(t('Created'), 'created_at', { detail: 'day' }),
];

const called = ({ masked }: BoundKeyRecord) => t('the key {name}', { name: masked });

const KEY_ACTIONS: readonly RowAction<BoundKeyRecord, KeyShownOnce>[] = [
  ...boundsActions<BoundKeyRecord, KeyShownOnce>('all', called),
  {
    label: t('Rotate'),
    needs: 'keys.manage',
    called,
    isOffered: ({ status }) => status === 'active',
    dialog: (record, dialog) => <RotateKeyDialog record={record} {...dialog} />,
  },
  {
    label: t('Revoke'),
    needs: 'keys.manage',
    called,
    danger: true,
    isOffered: ({ status }) => status === 'active',
    dialog: (record, dialog) => <RevokeKeyDialog record={record} {...dialog} />,
  },
];
