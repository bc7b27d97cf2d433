// The account's ledger: entries, receipts and exports.

import { useState } from 'preact/hooks';
import { useSearchParams } from 'wouter-preact';
import type { OwnAccountRecord } from '../../../dashboard/records/account.ts';
import type {
  ArchiveRecord,
  LedgerEntryRecord,
} from '../../../dashboard/records/customer-ledger.ts';
import { t } from '../../text/t.ts';
import { Amount, OtherAmount } from '../../ui/amount.tsx';
import { apiUrl, withQuery } from '../../ui/api.ts';
import { LinkButton } from '../../ui/button.tsx';
import { amountColumn, ledgerColumns } from '../../ui/common-columns.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { SelectField } from '../../ui/field.tsx';
import { labelOf } from '../../ui/labels.ts';
import { Link } from '../../ui/link.tsx';
import { Card, Empty, Loaded, Page, Stat, Stats } from '../../ui/parts.tsx';
import { lastMonths } from '../../ui/period.ts';
import { useList, useResource } from '../../ui/resource.ts';
import { ListTable } from '../../ui/table.tsx';
import { Segments } from '../../ui/tabs.tsx';
import { Nothing, Time } from '../../ui/text.tsx';
import { AddBalance } from '../add-balance.tsx';
import { ReceiptText } from '../requests/receipt.tsx';
import { ReceiptsCard } from './receipts.tsx';

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
      actions={<AddBalance kind="primary" onAdded={reload} />}
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
            ...ledgerColumns(),
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
              {t('Add balance, or ask the operator for a top-up.')}
            </Empty>
          }
        />
      </Card>
      <ArchivesCard />
      <div class="grid">
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
      value={<Amount tokens={tokens} />}
      hint={hint ?? <OtherAmount tokens={tokens} />}
    />
  );
}

function Subject({ entry }: { readonly entry: LedgerEntryRecord }) {
  if (entry.kind !== 'request') return <Nothing />;
  return <Link href={`/requests/${entry.id}`}>{entry.model}</Link>;
}

function ArchivesCard() {
  const list = useList<ArchiveRecord>('/archives');
  if ((list.rows.value ?? []).length === 0) return null;
  return (
    <Card title={t('Archived months')} flush>
      <ListTable
        caption={t('Archived months')}
        list={list}
        name="archives"
        rowKey={({ month }) => month}
        columns={[
          { label: t('Month'), show: ({ month }) => month },
          { label: t('Requests'), end: true, show: ({ requests }) => String(requests) },
          amountColumn(t('Balance at the end'), 'closing_balance', {
            detail: 'ledger',
            card: 'value',
          }),
          { label: t('Receipts'), end: true, show: (archive) => <Receipts archive={archive} /> },
        ]}
        empty={null}
      />
    </Card>
  );
}

function Receipts({ archive }: { readonly archive: ArchiveRecord }) {
  if (!archive.has_file) return t('Ask the operator');
  return (
    <LinkButton size="small" download href={apiUrl(`/archives/${archive.month}/receipts`)}>
      {t('Download')}
    </LinkButton>
  );
}

const MONTHS = 12;

function ExportCard({ only }: { readonly only: string | undefined }) {
  const months = lastMonths(MONTHS);
  const [month, setMonth] = useState(months[0]?.value ?? '');
  const at = months.findIndex(({ value }) => value === month);
  // A month ends where the one before it in the list begins; the present one has no end yet.
  const span = { from: startOf(months[at]?.value), to: startOf(months[at - 1]?.value) };
  const href = apiUrl(withQuery('/ledger/export', { only, ...span }));
  return (
    <Card
      title={t('Export')}
      actions={
        <LinkButton size="small" download href={href}>
          {t('Export as CSV')}
        </LinkButton>
      }
    >
      <div class="stack">
        <p>
          {t(
            'Every entry with key, model, amount and balance. The amounts add up to your balance.',
          )}
        </p>
        <SelectField
          label={t('Period (UTC)')}
          value={month}
          options={[...months, { value: '', label: t('All entries') }]}
          onChange={setMonth}
        />
      </div>
    </Card>
  );
}

function startOf(month: string | undefined): string | undefined {
  return month && `${month}-01T00:00:00.000Z`;
}
