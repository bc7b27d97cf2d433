// The lists of an account: movements of its money, requests, keys, and its audit trail.

import { useState } from 'preact/hooks';
import type { KeyRecord } from '../../../records/key.ts';
import type {
  AccountDetailRecord,
  AccountRequestRecord,
  MovementRecord,
} from '../../../records/operator-account.ts';
import {
  Button,
  Card,
  Empty,
  formatCount,
  formatMilliseconds,
  humanize,
  ListTable,
  Nothing,
  StateBadge,
  Tabs,
  Time,
  Tokens,
  useList,
} from '../../ui/index.ts';
import { AuditTable } from '../audit/table.tsx';
import { CreateKeyDialog, KeyState, RevokeKeyDialog, RotateKeyDialog } from '../keys/dialogs.tsx';

const TABS = [
  { id: 'movements', label: 'Money' },
  { id: 'requests', label: 'Requests' },
  { id: 'keys', label: 'Keys' },
  { id: 'audit', label: 'Audit trail' },
] as const;

type Tab = (typeof TABS)[number]['id'];

/** Outlives the lists being read anew. */
const shown = new Map<string, Tab>();

type Props = {
  readonly account: AccountDetailRecord;
  readonly onChange: () => Promise<void>;
};

export function AccountTabs({ account, onChange }: Props) {
  const [tab, setTab] = useState<Tab>(shown.get(account.id) ?? 'movements');
  return (
    <Tabs
      label="Lists of the account"
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
      caption="Movements of money"
      list={list}
      rowKey={({ sequence }) => String(sequence)}
      empty={
        <Empty title="No money has moved yet">
          Credits, grants, adjustments and redeemed codes will be listed here, with their reason.
        </Empty>
      }
      columns={[
        { label: 'When', show: ({ at }) => <Time at={at} /> },
        { label: 'Kind', show: ({ kind }) => humanize(kind) },
        { label: 'Amount', end: true, show: ({ amount }) => <Tokens amount={amount} /> },
        {
          label: 'Balance after it',
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
      empty={
        <Empty title="No requests yet">Requests that reached an upstream are listed here.</Empty>
      }
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
          label: 'Took',
          end: true,
          show: ({ duration_ms }) => formatMilliseconds(duration_ms),
        },
        { label: 'Debited', end: true, show: ({ debited }) => <Tokens amount={debited} /> },
      ]}
    />
  );
}

type Open = { readonly kind: 'create' | 'revoke' | 'rotate'; readonly record?: KeyRecord };

function Keys({ account, onChange }: Props) {
  const { id, email } = account;
  const list = useList<KeyRecord>(`/accounts/${id}/keys`);
  const [open, setOpen] = useState<Open | undefined>(undefined);
  // The page is read anew when the dialog is closed: what it shows once must not go with that.
  const close = () => {
    setOpen(undefined);
    void onChange();
  };
  const dialog = { onDone: list.reload, onClose: close };
  const create = <Button onClick={() => setOpen({ kind: 'create' })}>New key</Button>;
  return (
    <>
      <ListTable
        caption="Keys"
        list={list}
        rowKey={(key) => key.id}
        empty={
          <Empty title="No keys yet" action={create}>
            Its owner creates keys on the dashboard.
          </Empty>
        }
        columns={[
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
            label: 'Last use',
            show: ({ last_used_at }) =>
              last_used_at === null ? (
                <Nothing>Never</Nothing>
              ) : (
                <Time relative at={last_used_at} />
              ),
          },
          {
            label: 'Expires',
            show: ({ expires_at }) => <Time relative at={expires_at} />,
          },
          { label: 'Created', show: ({ created_at }) => <Time at={created_at} detail="day" /> },
          {
            label: '',
            end: true,
            show: (record) =>
              record.status === 'active' && (
                <>
                  <Button
                    kind="quiet"
                    size="small"
                    aria-label={`Rotate the key ${record.masked}`}
                    onClick={() => setOpen({ kind: 'rotate', record })}
                  >
                    Rotate
                  </Button>
                  <Button
                    kind="quiet-danger"
                    size="small"
                    aria-label={`Revoke the key ${record.masked}`}
                    onClick={() => setOpen({ kind: 'revoke', record })}
                  >
                    Revoke
                  </Button>
                </>
              ),
          },
        ]}
      />
      {list.rows.value?.length !== 0 && <div class="table-foot">{create}</div>}
      {open?.kind === 'create' && <CreateKeyDialog accountId={id} email={email} {...dialog} />}
      {open?.kind === 'revoke' && open.record && (
        <RevokeKeyDialog record={open.record} {...dialog} />
      )}
      {open?.kind === 'rotate' && open.record && (
        <RotateKeyDialog record={open.record} {...dialog} />
      )}
    </>
  );
}
