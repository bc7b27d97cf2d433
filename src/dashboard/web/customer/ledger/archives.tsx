// Lists archived months with the file of receipts of each; nothing where none is archived.

import type { ArchiveRecord } from '../../../records/customer-ledger.ts';
import { t } from '../../text/t.ts';
import { apiUrl } from '../../ui/api.ts';
import { LinkButton } from '../../ui/button.tsx';
import { amountColumn } from '../../ui/common-columns.tsx';
import { Card } from '../../ui/parts.tsx';
import { useList } from '../../ui/resource.ts';
import { ListTable } from '../../ui/table.tsx';

export function ArchivesCard() {
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
          amountColumn(t('Balance at the end'), 'closing_balance', { card: 'value' }),
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
