// The account's own audit trail.

import type { AuditRecord } from '../../records/customer-audit.ts';
import { Badge, Card, Empty, ListTable, Nothing, Page, Time, useList } from '../ui/index.ts';

const ACTORS = {
  you: { label: 'You', tone: 'accent' },
  operator: { label: 'Operator', tone: 'neutral' },
  system: { label: 'System', tone: 'neutral' },
  visitor: { label: 'Visitor', tone: 'warning' },
} as const;

export function AuditPage() {
  const list = useList<AuditRecord>('/audit');
  return (
    <Page
      title="Audit trail"
      lead="All changes to your account, with who made them and from where. Entries can't be changed or removed."
    >
      <Card flush>
        <ListTable
          caption="Audit trail"
          list={list}
          rowKey={({ id }) => String(id)}
          empty={<Empty title="No changes yet">Changes to your account appear here.</Empty>}
          columns={[
            { label: 'When', show: ({ at }) => <Time at={at} detail="second" /> },
            { label: 'Change', wrap: true, show: ({ words }) => words },
            {
              label: 'By',
              show: ({ actor }) => <Badge tone={ACTORS[actor].tone}>{ACTORS[actor].label}</Badge>,
            },
            {
              label: 'From',
              show: ({ address }) =>
                address === null || address === '' ? <Nothing /> : <code>{address}</code>,
            },
          ]}
        />
      </Card>
    </Page>
  );
}
