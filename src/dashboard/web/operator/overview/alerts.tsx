// Alerts for the operator, raised since the server started.

import { Link } from 'wouter-preact';
import type { AlertRecord } from '../../../records/operator-server.ts';
import { Card, Empty, LinkButton, ListTable, Page, Table, Time, useList } from '../../ui/index.ts';
import { useRefresh } from '../refresh.ts';

const NONE = <Empty title="No alerts">No alerts since the server started.</Empty>;

const TABLE = {
  caption: 'Alerts',
  rowKey: ({ at, kind, message }: AlertRecord) => `${at} ${kind} ${message}`,
  columns: [
    { label: 'When', show: ({ at }: AlertRecord) => <Time at={at} relative /> },
    {
      label: 'Event',
      wrap: true,
      show: ({ message, request_id: id }: AlertRecord) => (
        <>
          {capitalized(message)} {id && <Link href={`/requests/${id}`}>View request</Link>}
        </>
      ),
    },
  ],
};

/** All stored alerts: up to some hundreds, since the server started. */
export function AlertsPage() {
  const list = useList<AlertRecord>('/alerts');
  useRefresh(list.reload, 15_000);
  return (
    <Page
      title="Alerts"
      lead="Problems that need an operator. Also sent to the log and the webhook, if set."
      back={{ href: '/', label: 'Overview' }}
    >
      <Card flush>
        <ListTable {...TABLE} list={list} empty={NONE} />
      </Card>
    </Page>
  );
}

export function AlertsCard({ alerts }: { readonly alerts: readonly AlertRecord[] }) {
  const all = (
    <LinkButton href="/alerts" size="small">
      View all
    </LinkButton>
  );
  return (
    <Card title="Latest alerts" actions={alerts.length > 0 && all} flush>
      {alerts.length === 0 ? NONE : <Table {...TABLE} rows={alerts} />}
    </Card>
  );
}

/** Log messages start in lower case. */
function capitalized(text: string): string {
  return `${text.slice(0, 1).toUpperCase()}${text.slice(1)}`;
}
