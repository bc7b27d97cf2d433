// The account's ledger: entries, redemption of codes, and receipts.

import { useState } from 'preact/hooks';
import { Link, useSearchParams } from 'wouter-preact';
import type { OwnAccountRecord } from '../../../records/account.ts';
import type { LedgerEntryRecord } from '../../../records/customer-ledger.ts';
import {
  Card,
  Dialog,
  Empty,
  formatTokens,
  formatUsdShort,
  ListTable,
  Loaded,
  Nothing,
  Page,
  Segments,
  Stat,
  Stats,
  Time,
  Tokens,
  useList,
  useResource,
} from '../../ui/index.ts';
import { ReceiptText } from '../requests/receipt.tsx';
import { ReceiptsCard } from './receipts.tsx';
import { RedeemCard } from './redeem.tsx';

const SHOWN = [
  { id: 'everything', label: 'All' },
  { id: 'movements', label: 'Top-ups and adjustments' },
] as const;

const KINDS = {
  request: 'Request',
  credit: 'Top-up',
  grant: 'Grant',
  redemption: 'Code redeemed',
  adjustment: 'Adjustment',
} as const;

export function LedgerPage() {
  const [search, setSearch] = useSearchParams();
  const [receipt, setReceipt] = useState<LedgerEntryRecord | undefined>(undefined);
  const only = search.get('only') === 'movements' ? 'movements' : undefined;
  const account = useResource<OwnAccountRecord>('/account');
  const list = useList<LedgerEntryRecord>('/ledger', { only });
  const reload = () => Promise.all([account.reload(), list.reload()]);
  return (
    <Page
      title="Ledger and receipts"
      lead="All changes to your balance, each with a receipt. Entries can't be changed."
    >
      <Loaded resource={account} lines={2}>
        {({ balance }) => (
          <Stats>
            <Stat
              label="Available"
              value={formatTokens(balance.available, 2)}
              unit="tokens"
              hint={formatUsdShort(balance.available_usd)}
            />
            <Stat
              label="Reserved"
              value={formatTokens(balance.reserved, 2)}
              unit="tokens"
              hint="For active requests"
            />
            <Stat label="Total" value={formatTokens(balance.total, 2)} unit="tokens" />
          </Stats>
        )}
      </Loaded>
      <Card
        title="Entries"
        flush
        actions={
          <Segments
            label="Entries shown"
            choices={SHOWN}
            active={only ?? 'everything'}
            onChange={(id) => setSearch(id === 'everything' ? {} : { only: id }, { replace: true })}
          />
        }
      >
        <ListTable
          caption="Entries"
          list={list}
          rowKey={({ sequence }) => String(sequence)}
          columns={[
            { label: 'When', show: ({ at }) => <Time at={at} detail="second" /> },
            { label: 'Type', show: ({ kind }) => KINDS[kind] },
            { label: 'Model', show: (entry) => <Subject entry={entry} /> },
            { label: 'Amount', end: true, show: ({ amount }) => <Tokens amount={amount} /> },
            {
              label: 'Balance',
              end: true,
              show: ({ balance }) => <Tokens amount={balance} />,
            },
            {
              label: 'Receipt',
              end: true,
              show: (entry) => (
                <button
                  type="button"
                  class="button quiet small"
                  aria-label={`Show receipt ${entry.sequence}`}
                  onClick={() => setReceipt(entry)}
                >
                  {entry.sequence}
                </button>
              ),
            },
          ]}
          empty={
            only === undefined ? (
              <Empty title="No entries yet">
                Redeem a code below, or ask the operator for a top-up.
              </Empty>
            ) : (
              <Empty title="No top-ups yet">
                Redeem a code below, or ask the operator for a top-up.
              </Empty>
            )
          }
        />
      </Card>
      <div class="grid">
        <RedeemCard onRedeemed={reload} />
        <ReceiptsCard />
      </div>
      {receipt && (
        <Dialog wide title={`Receipt ${receipt.sequence}`} onClose={() => setReceipt(undefined)}>
          <div class="stack">
            <ReceiptText path={`/receipts/${encodeURIComponent(receipt.id)}`} />
          </div>
        </Dialog>
      )}
    </Page>
  );
}

function Subject({ entry }: { readonly entry: LedgerEntryRecord }) {
  if (entry.kind !== 'request') return <Nothing />;
  return <Link href={`/requests/${entry.id}`}>{entry.model}</Link>;
}
