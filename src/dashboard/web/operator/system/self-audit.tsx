// The audit that the server makes of its own books: every difference that it believes, and the accounts
// that wait for one to be settled.

import { useState } from 'preact/hooks';
import { Link } from 'wouter-preact';
import type { AuditStateRecord } from '../../../records/operator-server.ts';
import {
  Alert,
  Button,
  Card,
  Empty,
  ErrorAlert,
  Facts,
  formatCount,
  formatMilliseconds,
  formatSpan,
  Loaded,
  Nothing,
  Page,
  post,
  Table,
  Time,
  useAction,
  useResource,
} from '../../ui/index.ts';
import { useRefresh } from '../refresh.ts';

export function SelfAuditPage() {
  const audit = useResource<AuditStateRecord>('/self-audit');
  const [asked, setAsked] = useState(false);
  const running = audit.data.value?.running ?? false;
  useRefresh(audit.reload, running ? 1_000 : 10_000);
  const run = useAction(async () => {
    await post('/self-audit/run');
    setAsked(true);
    await audit.reload();
  });
  return (
    <Page
      title="Audit of the books"
      lead="The server adds up its own books again and compares. An account that differs gets no new answers until a later look finds it clean; nobody else notices."
      actions={
        <Button kind="primary" busy={run.busy.value || running} onClick={() => void run.run()}>
          {running ? 'Looking …' : 'Look now'}
        </Button>
      }
    >
      <ErrorAlert error={run.error.value} />
      <Loaded resource={audit}>{(state) => <Shown state={state} asked={asked} />}</Loaded>
    </Page>
  );
}

function Shown({ state, asked }: { readonly state: AuditStateRecord; readonly asked: boolean }) {
  const { last, differences, stopped, running } = state;
  const isClean = last?.ok === true && differences.length === 0;
  return (
    <>
      {isClean && !running && (
        <Alert tone="good" title="The books are whole">
          {asked && <p>Every balance is the sum of its entries.</p>}
        </Alert>
      )}
      {last?.ok === false && (
        <Alert tone="danger" title="The last audit could not look at the books">
          <p>The log of the server says why.</p>
        </Alert>
      )}
      {stopped.length > 0 && (
        <Alert tone="danger" title={`${formatCount(stopped.length)} stopped`}>
          <p>
            These accounts get 503 for new requests:{' '}
            {stopped.map((id) => (
              <Link key={id} href={`/accounts/${id}`}>
                {id}{' '}
              </Link>
            ))}
          </p>
        </Alert>
      )}
      <Card title="Last look at everything">
        <Facts
          items={[
            [
              'Begun',
              last ? (
                <Time key="at" at={last.started_at} detail="second" />
              ) : (
                <Nothing key="no">Not yet</Nothing>
              ),
            ],
            [
              'Took',
              last ? (
                formatMilliseconds(Date.parse(last.ended_at) - Date.parse(last.started_at))
              ) : (
                <Nothing key="none" />
              ),
            ],
            [
              'Found',
              last ? `${formatCount(last.differences)} differences` : <Nothing key="nothing" />,
            ],
            ['Every', formatSpan(state.every_seconds * 1_000)],
          ]}
        />
      </Card>
      <Card title="Differences" flush>
        {differences.length === 0 ? (
          <Empty title="No differences">tollgate doctor looks at the books in the same way.</Empty>
        ) : (
          <Table
            caption="Differences"
            rows={differences}
            rowKey={({ kind, subject }) => `${kind} ${subject}`}
            columns={[
              { label: 'Kind', show: ({ kind }) => kind },
              { label: 'Of', show: ({ subject }) => <code>{subject}</code> },
              {
                label: 'Account',
                show: ({ account_id: id }) =>
                  id === null ? <Nothing /> : <Link href={`/accounts/${id}`}>{id}</Link>,
              },
              { label: 'What differs', wrap: true, show: ({ detail }) => detail },
            ]}
          />
        )}
      </Card>
    </>
  );
}
