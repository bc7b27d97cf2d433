// The lists of an account: ledger entries, requests, keys, audit trail.

import { useState } from 'preact/hooks';
import type { KeyRecord } from '../../../records/key.ts';
import type {
  AccountDetailRecord,
  AccountRequestRecord,
  MovementRecord,
} from '../../../records/operator-account.ts';
import {
  Card,
  Collection,
  type Column,
  Empty,
  formatCount,
  formatMilliseconds,
  humanize,
  ListTable,
  Nothing,
  type RowAction,
  StateBadge,
  Tabs,
  Time,
  Tokens,
  useList,
} from '../../ui/index.ts';
import { AuditTable } from '../audit/table.tsx';
import {
  CreateKeyDialog,
  type KeyShownOnce,
  KeyState,
  RevokeKeyDialog,
  RotateKeyDialog,
  ShownKeyDialog,
} from '../keys/dialogs.tsx';

const TABS = [
  { id: 'movements', label: 'Ledger' },
  { id: 'requests', label: 'Requests' },
  { id: 'keys', label: 'Keys' },
  { id: 'audit', label: 'Audit trail' },
] as const;

type Tab = (typeof TABS)[number]['id'];

/** Survives the reload of the lists. */
const shown = new Map<string, Tab>();

type Props = {
  readonly account: AccountDetailRecord;
  readonly onChange: () => Promise<void>;
};

export function AccountTabs({ account, onChange }: Props) {
  const [tab, setTab] = useState<Tab>(shown.get(account.id) ?? 'movements');
  return (
    <Tabs
      label="Account lists"
      tabs={TABS}
      active={tab}
      onChange={(next) => {
        shown.set(account.id, next);
        setTab(next);
      }}
    >
      <Card flush>
        {tab === 'movements' && <Movements id={account.id} />}
        {tab === 'requests' && <Requests id={account.id} />}
        {tab === 'keys' && <Keys account={account} onChange={onChange} />}
        {tab === 'audit' && <AuditTable query={{ account: account.id }} within />}
      </Card>
    </Tabs>
  );
}

function Movements({ id }: { readonly id: string }) {
  const list = useList<MovementRecord>(`/accounts/${id}/movements`);
  return (
    <ListTable
      caption="Ledger entries"
      list={list}
      rowKey={({ sequence }) => String(sequence)}
      empty={
        <Empty title="No entries yet">
          Credits, grants, adjustments and redeemed codes appear here with their reason.
        </Empty>
      }
      columns={[
        { label: 'When', show: ({ at }) => <Time at={at} /> },
        { label: 'Kind', show: ({ kind }) => humanize(kind) },
        { label: 'Amount', end: true, show: ({ amount }) => <Tokens amount={amount} /> },
        {
          label: 'Balance',
          end: true,
          show: ({ balance }) => <Tokens amount={balance} />,
        },
        { label: 'Reason', wrap: true, show: ({ reason }) => reason ?? <Nothing /> },
      ]}
    />
  );
}

function Requests({ id }: { readonly id: string }) {
  const list = useList<AccountRequestRecord>(`/accounts/${id}/requests`);
  return (
    <ListTable
      caption="Requests"
      list={list}
      rowKey={({ request_id }) => request_id}
      href={({ request_id }) => `/requests/${request_id}`}
      empty={<Empty title="No requests yet">Requests that reached an upstream appear here.</Empty>}
      columns={[
        { label: 'Started', show: ({ started_at }) => <Time at={started_at} detail="second" /> },
        {
          label: 'Model',
          show: ({ model_requested, model_served }) =>
            model_served === null || model_served === model_requested
              ? model_requested
              : `${model_requested}, served by ${model_served}`,
        },
        { label: 'Outcome', show: ({ outcome }) => <StateBadge state={outcome} /> },
        { label: 'Input', end: true, show: ({ input_tokens }) => formatCount(input_tokens) },
        { label: 'Output', end: true, show: ({ output_tokens }) => formatCount(output_tokens) },
        {
          label: 'Duration',
          end: true,
          show: ({ duration_ms }) => formatMilliseconds(duration_ms),
        },
        { label: 'Debited', end: true, show: ({ debited }) => <Tokens amount={debited} /> },
      ]}
    />
  );
}

function Keys({ account: { id, email }, onChange }: Props) {
  return (
    <Collection<KeyRecord, KeyShownOnce>
      title="Keys"
      within
      path={`/accounts/${id}/keys`}
      empty={{ title: 'No keys yet', text: 'The owner creates keys on the dashboard.' }}
      columns={KEY_COLUMNS}
      actions={KEY_ACTIONS}
      create={{
        label: 'New key',
        dialog: (dialog) => <CreateKeyDialog accountId={id} email={email} {...dialog} />,
      }}
      shown={(shown, onClose) => <ShownKeyDialog shown={shown} onClose={onClose} />}
      // Reloading the page would unmount this tab, and with it a key that is shown only once.
      onClosed={onChange}
    />
  );
}

const KEY_COLUMNS: readonly [Column<KeyRecord>, ...Column<KeyRecord>[]] = [
  {
    label: 'Key',
    show: ({ name, masked }) => (
      <>
        <div>{name ?? <span class="soft">No name</span>}</div>
        <code class="soft">{masked}</code>
      </>
    ),
  },
  { label: 'State', show: (key) => <KeyState record={key} /> },
  {
    label: 'Last used',
    show: ({ last_used_at }) =>
      last_used_at === null ? <Nothing>Never</Nothing> : <Time relative at={last_used_at} />,
  },
  { label: 'Expires', show: ({ expires_at }) => <Time relative at={expires_at} /> },
  { label: 'Created', show: ({ created_at }) => <Time at={created_at} detail="day" /> },
];

const KEY_ACTIONS: readonly RowAction<KeyRecord, KeyShownOnce>[] = [
  {
    label: 'Rotate',
    called: ({ masked }) => `the key ${masked}`,
    isOffered: ({ status }) => status === 'active',
    dialog: (record, dialog) => <RotateKeyDialog record={record} {...dialog} />,
  },
  {
    label: 'Revoke',
    called: ({ masked }) => `the key ${masked}`,
    danger: true,
    isOffered: ({ status }) => status === 'active',
    dialog: (record, dialog) => <RevokeKeyDialog record={record} {...dialog} />,
  },
];
