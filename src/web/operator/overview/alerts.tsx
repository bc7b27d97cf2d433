// Alerts for the operator, one row per kind and subject, acknowledged here.

import { computed } from '@preact/signals';
import { useState } from 'preact/hooks';
import type { AlertRecord, MachineRecord } from '../../../dashboard/records/operator-server.ts';
import { actorWords } from '../../shared/audit/labels.ts';
import { rich } from '../../text/rich.ts';
import { said } from '../../text/said.ts';
import { t } from '../../text/t.ts';
import { ActionButton } from '../../ui/action-button.tsx';
import { post } from '../../ui/api.ts';
import { LinkButton } from '../../ui/button.tsx';
import { countColumn, timeColumn } from '../../ui/common-columns.tsx';
import { Link } from '../../ui/link.tsx';
import { Card, Empty, Page } from '../../ui/parts.tsx';
import { useList } from '../../ui/resource.ts';
import { type Column, ListTable, Table } from '../../ui/table.tsx';
import { Segments } from '../../ui/tabs.tsx';
import { Time } from '../../ui/text.tsx';
import { toast } from '../../ui/toast.tsx';
import { openNow } from '../open-count.tsx';
import { useRefresh } from '../refresh.ts';
import { OpenProblems, pageOf } from './problems.tsx';

const none = (isWell: boolean) => (
  <Empty title={t('No open alerts')}>{isWell && t('Everything is running as it should.')}</Empty>
);

const EVENT: Column<AlertRecord> = {
  label: t('Event'),
  wrap: true,
  show: ({ sentence, request_id: id }) => (
    <>
      {said(sentence)}{' '}
      <div class="row small">
        {pageOf(sentence) && <Link href={pageOf(sentence) ?? ''}>{t('View cause')}</Link>}{' '}
        {id && <Link href={`/requests/${id}`}>{t('View request')}</Link>}
      </div>
    </>
  ),
};

const COUNT = countColumn(t('Count'), 'count', { card: 'detail' });

const LAST = timeColumn(t('Last'), 'last_at', { relative: true });

const WHICH = [
  { id: 'open', label: t('Open') },
  { id: 'all', label: t('All') },
] as const;

/** Alerts of the last 30 days, kept over restarts. */
export function View() {
  const list = useList<AlertRecord>('/alerts');
  const [which, setWhich] = useState<'open' | 'all'>('open');
  useRefresh(list, 15_000);
  const now = openNow.value;
  const causes = new Set(now?.problems.map(({ about }) => about));
  const rows = computed(() =>
    list.rows.value?.filter(
      ({ open, sentence }) =>
        open || which === 'all' || (sentence.about !== undefined && causes.has(sentence.about)),
    ),
  );
  const columns: readonly [Column<AlertRecord>, ...Column<AlertRecord>[]] = [
    EVENT,
    COUNT,
    timeColumn(t('First'), 'first_at', { relative: true }),
    LAST,
    {
      label: t('Status'),
      card: 'state',
      end: true,
      show: (alert) => <Acknowledgement alert={alert} onDone={list.reload} />,
    },
  ];
  return (
    <Page
      title={t('Alerts')}
      lead={t(
        'What the server raised, and what is wrong now. An acknowledged alert leaves the list unless its cause is still an open problem.',
      )}
      actions={
        <Segments label={t('Which alerts')} choices={WHICH} active={which} onChange={setWhich} />
      }
    >
      <OpenProblems record={now} />
      <Card flush>
        <ListTable
          caption={t('Alerts')}
          list={{ ...list, rows }}
          rowKey={({ id }) => id}
          columns={columns}
          empty={none(now?.problems.length === 0)}
        />
      </Card>
    </Page>
  );
}

function Acknowledgement({
  alert,
  onDone,
}: {
  readonly alert: AlertRecord;
  readonly onDone: () => unknown;
}) {
  if (!alert.open && alert.acknowledged !== null) {
    return (
      <span class="soft">
        {rich('Acknowledged by {who} {when}', {
          who: actorWords(alert.acknowledged.by),
          when: <Time at={alert.acknowledged.at} relative />,
        })}
      </span>
    );
  }
  return (
    <ActionButton
      size="small"
      needs="alerts.acknowledge"
      aria-label={t('Acknowledge: {message}', { message: said(alert.sentence) })}
      act={async () => {
        try {
          await post(`/alerts/${alert.id}/acknowledge`, { last_at: alert.last_at });
        } finally {
          // A refusal means that the alert has changed.
          await onDone();
        }
        toast(t('Alert acknowledged.'));
      }}
    >
      {t('Acknowledge')}
    </ActionButton>
  );
}

export function AlertsCard({
  alerts,
  isWell,
}: {
  readonly alerts: MachineRecord['alerts'];
  /** Whether nothing is wrong now. */
  readonly isWell: boolean;
}) {
  const { open, latest } = alerts;
  const all = (
    <LinkButton href="/alerts" size="small">
      {t('View all')}
    </LinkButton>
  );
  const title =
    open === 0
      ? t('Alerts')
      : t('{count, plural, one {# open alert} other {# open alerts}}', { count: open });
  return (
    <Card title={title} actions={all} flush>
      <Table
        caption={t('Alerts')}
        rowKey={({ id }) => id}
        rows={latest}
        empty={none(isWell)}
        columns={[EVENT, COUNT, LAST]}
      />
    </Card>
  );
}
