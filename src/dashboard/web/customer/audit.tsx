// The account's own audit trail.

import type { AuditRecord } from '../../records/customer-audit.ts';
import { t } from '../text/t.ts';
import { Card, Empty, Page } from '../ui/parts.tsx';
import { useList } from '../ui/resource.ts';
import { ListTable } from '../ui/table.tsx';
import { Badge, Nothing, Time } from '../ui/text.tsx';
import { auditWords } from './audit-labels.ts';

const ACTORS = {
  you: { label: t('You'), tone: 'accent' },
  operator: { label: t('Operator'), tone: 'neutral' },
  system: { label: t('System'), tone: 'neutral' },
  visitor: { label: t('Visitor'), tone: 'warning' },
} as const;

export function View() {
  const list = useList<AuditRecord>('/audit');
  return (
    <Page
      title={t('Audit trail')}
      lead={t(
        "All changes to your account, with who made them and from where. Entries can't be changed or removed.",
      )}
    >
      <Card flush>
        <ListTable
          caption={t('Audit trail')}
          name="audit"
          list={list}
          rowKey={({ id }) => String(id)}
          empty={
            <Empty title={t('No changes yet')}>{t('Changes to your account appear here.')}</Empty>
          }
          columns={[
            { label: t('When'), show: ({ at }) => <Time at={at} detail="second" /> },
            { label: t('Change'), card: 'title', wrap: true, show: auditWords },
            {
              label: t('By'),
              card: 'state',
              show: ({ actor }) => <Badge tone={ACTORS[actor].tone}>{ACTORS[actor].label}</Badge>,
            },
            {
              label: t('IP address'),
              show: ({ address }) =>
                address === null || address === '' ? <Nothing /> : <code>{address}</code>,
            },
          ]}
        />
      </Card>
    </Page>
  );
}
