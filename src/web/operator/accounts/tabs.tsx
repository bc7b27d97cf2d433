// The lists of an account: ledger entries, requests, keys, audit trail.

import type { MovementRecord } from '../../../dashboard/records/operator-account.ts';
import { codeWords } from '../../shared/audit/labels.ts';
import { AuditTable } from '../../shared/audit/table.tsx';
import { t } from '../../text/t.ts';
import { ledgerColumns } from '../../ui/common-columns.tsx';
import { useFilter } from '../../ui/filters.ts';
import { labelOf } from '../../ui/labels.ts';
import { useLazy } from '../../ui/lazy.ts';
import { Card, Empty, Skeleton } from '../../ui/parts.tsx';
import { useList } from '../../ui/resource.ts';
import { ListTable } from '../../ui/table.tsx';
import { Tabs } from '../../ui/tabs.tsx';
import { Nothing, Time } from '../../ui/text.tsx';
import type { AccountKeysProps } from './keys.tsx';

const TABS = [
  { id: 'movements', label: t('Ledger') },
  { id: 'requests', label: t('Requests') },
  { id: 'keys', label: t('Keys') },
  { id: 'audit', label: t('Audit trail') },
] as const;

export function AccountTabs({ account, onKeysChange }: AccountKeysProps) {
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
        {
          label: t('Reason'),
          wrap: true,
          show: ({ reason }) => (reason === null ? <Nothing /> : codeWords(reason)),
        },
      ]}
    />
  );
}

function Requests({ id }: { readonly id: string }) {
  const View = useLazy(true, () => import('./requests.tsx'));
  return View === undefined ? <Skeleton lines={6} /> : <View id={id} />;
}

function Keys(props: AccountKeysProps) {
  const View = useLazy(true, () => import('./keys.tsx'));
  return View === undefined ? <Skeleton lines={6} /> : <View {...props} />;
}
