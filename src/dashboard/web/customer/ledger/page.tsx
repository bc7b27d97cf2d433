// The account's ledger: entries, redemption of codes, and receipts.

import { useState } from 'preact/hooks';
import { Link, useSearchParams } from 'wouter-preact';
import type { OwnAccountRecord } from '../../../records/account.ts';
import type { LedgerEntryRecord } from '../../../records/customer-ledger.ts';
import { t } from '../../text/t.ts';
import { Amount, OtherAmount } from '../../ui/amount.tsx';
import { amountColumn } from '../../ui/common-columns.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { labelOf } from '../../ui/labels.ts';
import { Card, Empty, Loaded, Page, Stat, Stats } from '../../ui/parts.tsx';
import { useList, useResource } from '../../ui/resource.ts';
import { ListTable } from '../../ui/table.tsx';
import { Segments } from '../../ui/tabs.tsx';
import { Nothing, Time } from '../../ui/text.tsx';
import { ReceiptText } from '../requests/receipt.tsx';
import { ArchivesCard } from './archives.tsx';
import { ExportCard } from './export-card.tsx';
import { ReceiptsCard } from './receipts.tsx';
import { RedeemCard } from './redeem.tsx';

const SHOWN = [
  { id: 'everything', label: t('All') },
  { id: 'movements', label: t('Top-ups and adjustments') },
] as const;

export function View() {
  const [search, setSearch] = useSearchParams();
  const [receipt, setReceipt] = useState<LedgerEntryRecord | undefined>(undefined);
  const only = search.get('only') === 'movements' ? 'movements' : undefined;
  const account = useResource<OwnAccountRecord>('/account');
  const list = useList<LedgerEntryRecord>('/ledger', { only });
  const reload = () => Promise.all([account.reload(), list.reload()]);
  return (
    <Page
      title={t('Ledger and receipts')}
      lead={t("All changes to your balance, each with a receipt. Entries can't be changed.")}
    >
      <Loaded resource={account} lines={2}>
        {({ balance }) => (
          <Stats>
            <BalanceStat label={t('Available')} tokens={balance.available} />
            <BalanceStat
              label={t('Reserved')}
              tokens={balance.reserved}
              hint={t('For active requests')}
            />
            <BalanceStat label={t('Total')} tokens={balance.total} />
          </Stats>
        )}
      </Loaded>
      <Card
        title={t('Entries')}
        flush
        actions={
          <Segments
            label={t('Entries shown')}
            choices={SHOWN}
            active={only ?? 'everything'}
            onChange={(id) => setSearch(id === 'everything' ? {} : { only: id }, { replace: true })}
          />
        }
      >
        <ListTable
          caption={t('Entries')}
          list={list}
          name="ledger"
          rowKey={({ sequence }) => String(sequence)}
          columns={[
            { label: t('When'), show: ({ at }) => <Time at={at} detail="second" /> },
            { label: t('Type'), card: 'state', show: ({ kind }) => labelOf(kind) },
            { label: t('Model'), show: (entry) => <Subject entry={entry} /> },
            amountColumn(t('Amount'), 'amount', { usd: 'amount_usd', card: 'value' }),
            amountColumn(t('Balance'), 'balance'),
            {
              label: t('Receipt'),
              end: true,
              show: (entry) => (
                <button
                  type="button"
                  class="button quiet small"
                  aria-label={t('Show receipt {sequence}', { sequence: entry.sequence })}
                  onClick={() => setReceipt(entry)}
                >
                  {entry.sequence}
                </button>
              ),
            },
          ]}
          empty={
            <Empty title={only === undefined ? t('No entries yet') : t('No top-ups yet')}>
              {t('Redeem a code below, or ask the operator for a top-up.')}
            </Empty>
          }
        />
      </Card>
      <ArchivesCard />
      <div class="grid">
        <RedeemCard onRedeemed={reload} />
        <ReceiptsCard />
        <ExportCard only={only} />
      </div>
      {receipt && (
        <Dialog
          wide
          title={t('Receipt {sequence}', { sequence: receipt.sequence })}
          onClose={() => setReceipt(undefined)}
        >
          <div class="stack">
            <ReceiptText path={`/receipts/${encodeURIComponent(receipt.id)}`} />
          </div>
        </Dialog>
      )}
    </Page>
  );
}

function BalanceStat({
  label,
  tokens,
  hint,
}: {
  readonly label: string;
  readonly tokens: string;
  readonly hint?: string;
}) {
  return (
    <Stat
      label={label}
      value={<Amount tokens={tokens} detail="hero" />}
      hint={hint ?? <OtherAmount tokens={tokens} />}
    />
  );
}

function Subject({ entry }: { readonly entry: LedgerEntryRecord }) {
  if (entry.kind !== 'request') return <Nothing />;
  return <Link href={`/requests/${entry.id}`}>{entry.model}</Link>;
}
