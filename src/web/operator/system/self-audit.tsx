// The ledger audit of the server: its differences, and the accounts stopped by one.

import { useState } from 'preact/hooks';
import type { AuditStateRecord } from '../../../dashboard/records/operator-server.ts';
import { t } from '../../text/t.ts';
import { post } from '../../ui/api.ts';
import { Button } from '../../ui/button.tsx';
import { formatMilliseconds, formatSpan } from '../../ui/format.ts';
import { Link } from '../../ui/link.tsx';
import { Alert, Card, Empty, ErrorAlert, Facts, Loaded, Page } from '../../ui/parts.tsx';
import { useAction, useResource } from '../../ui/resource.ts';
import { Table } from '../../ui/table.tsx';
import { Nothing, Time } from '../../ui/text.tsx';
import { useRefresh } from '../refresh.ts';

export function View() {
  const audit = useResource<AuditStateRecord>('/self-audit');
  const [asked, setAsked] = useState(false);
  const running = audit.data.value?.running ?? false;
  useRefresh(audit, running ? 1_000 : 10_000);
  const run = useAction(async () => {
    await post('/self-audit/run');
    setAsked(true);
    await audit.reload();
  });
  return (
    <Page
      title={t('Ledger audit')}
      lead={t(
        'The server recalculates the ledger and compares. An account with a difference gets no new requests until a later audit finds it consistent. Other accounts are not affected.',
      )}
      actions={
        <Button
          kind="primary"
          needs="audit.run"
          busy={run.busy.value || running}
          onClick={() => void run.run()}
        >
          {running ? t('Running …') : t('Run audit')}
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
        <Alert tone="good" title={t('Books are consistent')}>
          {asked && <p>{t('Every balance equals the sum of its entries.')}</p>}
        </Alert>
      )}
      {last?.ok === false && (
        <Alert tone="danger" title={t('The last audit failed')}>
          <p>{t('See the server log for the reason.')}</p>
        </Alert>
      )}
      {stopped.length > 0 && (
        <Alert
          tone="danger"
          title={t('{stopped, plural, one {# account stopped} other {# accounts stopped}}', {
            stopped: stopped.length,
          })}
        >
          <p>
            {t('New requests of these accounts are rejected with 503:')}{' '}
            {stopped.map((id) => (
              <Link key={id} href={`/accounts/${id}`}>
                {id}{' '}
              </Link>
            ))}
          </p>
        </Alert>
      )}
      <Card title={t('Last audit')}>
        <Facts
          items={[
            [
              t('Started'),
              last ? (
                <Time key="at" at={last.started_at} detail="second" />
              ) : (
                <Nothing key="no">{t('Not yet')}</Nothing>
              ),
            ],
            [
              t('Duration'),
              last ? (
                formatMilliseconds(Date.parse(last.ended_at) - Date.parse(last.started_at))
              ) : (
                <Nothing key="none" />
              ),
            ],
            [
              t('Found'),
              last ? (
                t('{differences, plural, one {# difference} other {# differences}}', {
                  differences: last.differences,
                })
              ) : (
                <Nothing key="nothing" />
              ),
            ],
            [t('Interval'), formatSpan(state.every_seconds * 1_000)],
          ]}
        />
      </Card>
      <Card title={t('Differences')} flush>
        <Table
          caption={t('Differences')}
          rows={differences}
          empty={
            <Empty title={t('No differences')}>
              {t('Run tollgate doctor to check all rows of the ledger.')}
            </Empty>
          }
          rowKey={({ kind, subject }) => `${kind} ${subject}`}
          columns={[
            { label: t('Kind'), show: ({ kind }) => kind },
            { label: t('Subject'), show: ({ subject }) => <code>{subject}</code> },
            {
              label: t('Account'),
              show: ({ account_id: id }) =>
                id === null ? <Nothing /> : <Link href={`/accounts/${id}`}>{id}</Link>,
            },
            { label: t('Difference'), wrap: true, show: ({ detail }) => detail },
          ]}
        />
      </Card>
    </>
  );
}
