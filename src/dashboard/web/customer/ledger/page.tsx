// The account's money: what came in, what each request took, codes to redeem, and the receipts that
// prove it.

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
  { id: 'everything', label: 'Everything' },
  { id: 'movements', label: 'Top-ups and corrections' },
] as const;

const KINDS = {
  request: 'Request',
  credit: 'Top-up',
  grant: 'Gift',
  redemption: 'Code redeemed',
  adjustment: 'Correction',
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
      lead="Every movement of your balance, each with its receipt. Nothing here can be changed afterwards."
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
              hint="For requests under way"
            />
            <Stat label="In all" value={formatTokens(balance.total, 2)} unit="tokens" />
          </Stats>
        )}
      </Loaded>
      <Card
        title="Entries"
        flush
        actions={
          <Segments
            label="Which entries"
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
            { label: 'What', show: ({ kind }) => KINDS[kind] },
            { label: 'Of', show: (entry) => <Subject entry={entry} /> },
            { label: 'Amount', end: true, show: ({ amount }) => <Tokens amount={amount} /> },
            {
              label: 'Balance after it',
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
                The first one is a top-up by your operator, or a code that you redeem below.
              </Empty>
            ) : (
              <Empty title="No top-ups yet">
                Redeem a code below, or ask your operator for one.
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
