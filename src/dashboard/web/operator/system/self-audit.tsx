// The ledger audit of the server: its differences, and the accounts stopped by one.

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
      title="Ledger audit"
      lead="The server recalculates the ledger and compares. An account with a difference gets no new requests until a later audit finds it consistent. Other accounts are not affected."
      actions={
        <Button kind="primary" busy={run.busy.value || running} onClick={() => void run.run()}>
          {running ? 'Running …' : 'Run audit'}
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
        <Alert tone="good" title="Books are consistent">
          {asked && <p>Every balance equals the sum of its entries.</p>}
        </Alert>
      )}
      {last?.ok === false && (
        <Alert tone="danger" title="The last audit failed">
          <p>See the server log for the reason.</p>
        </Alert>
      )}
      {stopped.length > 0 && (
        <Alert tone="danger" title={`${formatCount(stopped.length)} stopped`}>
          <p>
            New requests of these accounts are rejected with 503:{' '}
            {stopped.map((id) => (
              <Link key={id} href={`/accounts/${id}`}>
                {id}{' '}
              </Link>
            ))}
          </p>
        </Alert>
      )}
      <Card title="Last full audit">
        <Facts
          items={[
            [
              'Started',
              last ? (
                <Time key="at" at={last.started_at} detail="second" />
              ) : (
                <Nothing key="no">Not yet</Nothing>
              ),
            ],
            [
              'Duration',
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
            ['Interval', formatSpan(state.every_seconds * 1_000)],
          ]}
        />
      </Card>
      <Card title="Differences" flush>
        {differences.length === 0 ? (
          <Empty title="No differences">
            Run tollgate doctor for the same check on the command line.
          </Empty>
        ) : (
          <Table
            caption="Differences"
            rows={differences}
            rowKey={({ kind, subject }) => `${kind} ${subject}`}
            columns={[
              { label: 'Kind', show: ({ kind }) => kind },
              { label: 'Subject', show: ({ subject }) => <code>{subject}</code> },
              {
                label: 'Account',
                show: ({ account_id: id }) =>
                  id === null ? <Nothing /> : <Link href={`/accounts/${id}`}>{id}</Link>,
              },
              { label: 'Difference', wrap: true, show: ({ detail }) => detail },
            ]}
          />
        )}
      </Card>
    </>
  );
}
