// What only an operator can mend, as the server has raised it since it started.

import { Link } from 'wouter-preact';
import type { AlertRecord } from '../../../records/operator-server.ts';
import { Card, Empty, LinkButton, ListTable, Page, Table, Time, useList } from '../../ui/index.ts';
import { useRefresh } from '../refresh.ts';

const NONE = <Empty title="No alerts">Nothing has needed you since the server started.</Empty>;

const TABLE = {
  caption: 'Alerts',
  rowKey: ({ at, kind, message }: AlertRecord) => `${at} ${kind} ${message}`,
  columns: [
    { label: 'When', show: ({ at }: AlertRecord) => <Time at={at} relative /> },
    {
      label: 'What happened',
      wrap: true,
      show: ({ message, request_id: id }: AlertRecord) => (
        <>
          {capitalized(message)} {id && <Link href={`/requests/${id}`}>See the request</Link>}
        </>
      ),
    },
  ],
};

/** All that are kept: some hundreds, since the server started. */
export function AlertsPage() {
  const list = useList<AlertRecord>('/alerts');
  useRefresh(list.reload, 15_000);
  return (
    <Page
      title="Alerts"
      lead="What only an operator can mend. The log has them too, and the webhook where there is one."
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
      All of them
    </LinkButton>
  );
  return (
    <Card title="Last alerts" actions={alerts.length > 0 && all} flush>
      {alerts.length === 0 ? NONE : <Table {...TABLE} rows={alerts} />}
    </Card>
  );
}

/** The words are those of the log, which begin small. */
function capitalized(text: string): string {
  return `${text.slice(0, 1).toUpperCase()}${text.slice(1)}`;
}
