// Credits, corrections and codes that need a second operator, and the decisions about them.

import type {
  ApprovalListRecord,
  ApprovalRecord,
  CreatedCodesRecord,
} from '../../dashboard/records/operator-lists.ts';
import { actorWords } from '../shared/audit/labels.ts';
import { t } from '../text/t.ts';
import { amountText } from '../ui/amount-text.ts';
import { post } from '../ui/api.ts';
import { type DialogProps, type RowAction, useActions } from '../ui/collection.tsx';
import { stateColumn } from '../ui/common-columns.tsx';
import { ConfirmDialog } from '../ui/dialog.tsx';
import { labelOf } from '../ui/labels.ts';
import { Link } from '../ui/link.tsx';
import { Card, Empty, Page } from '../ui/parts.tsx';
import { useList } from '../ui/resource.ts';
import { session } from '../ui/session.ts';
import { ShownOnceDialog } from '../ui/shown-once.tsx';
import { type Column, ListTable } from '../ui/table.tsx';
import { Nothing, Time } from '../ui/text.tsx';
import { toast } from '../ui/toast.tsx';
import { useRefresh } from './refresh.ts';

type Codes = readonly string[];

type What = 'approve' | 'reject' | 'codes';

const isOwn = (row: ApprovalRecord) => row.asked_by_email === session.value?.email;

const decision = (
  what: What,
  label: string,
  isOffered: (row: ApprovalRecord) => boolean,
): RowAction<ApprovalRecord, Codes> => ({
  label,
  needs: 'money.move',
  called: ({ reason }) => reason,
  isOffered,
  dialog: (approval, dialog) => <DecisionDialog {...{ what, approval, ...dialog }} />,
});

const ACTIONS = [
  decision('approve', t('Approve'), (row) => row.state === 'pending' && !isOwn(row)),
  decision('reject', t('Reject'), (row) => row.state === 'pending' && !isOwn(row)),
  decision('reject', t('Withdraw'), (row) => row.state === 'pending' && isOwn(row)),
  decision(
    'approve',
    t('Book again'),
    (row) => row.state === 'approved' && row.kind !== 'codes' && !isOwn(row),
  ),
  decision(
    'codes',
    t('Create codes'),
    (row) => row.state === 'approved' && row.kind === 'codes' && isOwn(row),
  ),
];

export function View() {
  const list = useList<ApprovalRecord>('/approvals');
  const { buttonsOf, dialog } = useActions({
    actions: ACTIONS,
    shown: (codes, onClose) => (
      <ShownOnceDialog
        title={t('New codes')}
        label={t('the codes')}
        lines={codes}
        onClose={onClose}
      >
        {t('Each can be redeemed once.')}
      </ShownOnceDialog>
    ),
    reload: list.reload,
  });
  useRefresh(list, 15_000);
  const above = (list.page.value as ApprovalListRecord | undefined)?.above;
  return (
    <Page
      title={t('Approvals')}
      lead={
        above === null
          ? t(
              'All credits, corrections and codes are booked at once. Set FOUR_EYES_ABOVE to require a second operator above an amount.',
            )
          : t('Credits, corrections and codes above {amount} need a second operator.', {
              amount: above === undefined ? '…' : amountText({ tokens: above }),
            })
      }
    >
      <Card flush>
        <ListTable
          caption={t('Approvals')}
          list={list}
          rowKey={({ id }) => id}
          empty={
            <Empty title={t('No approvals yet')}>
              {above !== null && t('Requests above that amount appear here.')}
            </Empty>
          }
          columns={[...COLUMNS, { label: '', end: true, show: buttonsOf }]}
        />
      </Card>
      {dialog}
    </Page>
  );
}

const COLUMNS: readonly Column<ApprovalRecord>[] = [
  {
    label: t('Request'),
    show: ({ kind, count, account_id: id, account_email: email }) => (
      <>
        {count === null
          ? labelOf(kind)
          : t('{count, plural, one {# code} other {# codes}}', { count })}
        {id !== null && (
          <div class="small">
            <Link href={`/accounts/${id}`}>{email ?? id}</Link>
          </div>
        )}
      </>
    ),
  },
  stateColumn(t('Status'), 'state'),
  {
    label: t('Requested by'),
    show: ({ asked_by, asked_by_email, asked_at }) => (
      <>
        {actorWords(asked_by)}
        {asked_by.startsWith('token:') && <div class="soft small">{asked_by_email}</div>}
        <div class="soft small">
          <Time at={asked_at} relative />
        </div>
      </>
    ),
  },
  {
    label: t('Reviewed by'),
    show: ({ decided_by, decided_at }) =>
      decided_by === null ? (
        <Nothing />
      ) : (
        <>
          {actorWords(decided_by)}
          <div class="soft small">
            <Time at={decided_at} relative />
          </div>
        </>
      ),
  },
  {
    label: t('Reason'),
    wrap: true,
    show: ({ reason, note }) => (
      <>
        {reason}
        {note !== null && <div class="soft small">{note}</div>}
      </>
    ),
  },
  { label: t('Amount'), end: true, show: ({ amount }) => amountText({ tokens: amount }) },
];

function DecisionDialog({
  what,
  approval,
  onShown,
  onDone,
  onClose,
}: DialogProps<Codes> & { readonly what: What; readonly approval: ApprovalRecord }) {
  const { id, amount, reason, asked_by } = approval;
  const facts = t('{amount} for {reason}, asked by {who}.', {
    amount: amountText({ tokens: amount }),
    reason,
    who: actorWords(asked_by),
  });
  const act = async () => {
    if (what === 'codes') {
      const { data } = await post<CreatedCodesRecord>(`/approvals/${id}/codes`);
      onShown(data.map(({ code }) => code));
      return;
    }
    const { state, note } = await post<ApprovalRecord>(`/approvals/${id}/${what}`);
    toast(state === 'failed' ? (note ?? '') : labelOf(state));
  };
  const texts = {
    approve: {
      title: t('Approve this request?'),
      confirm: t('Approve'),
      consequence:
        approval.kind === 'codes'
          ? t('The operator who asked can then create the codes.')
          : t('It is booked at once, with a receipt.'),
    },
    codes: {
      title: t('Create the approved codes?'),
      confirm: t('Create codes'),
      consequence: t('They are shown once.'),
    },
    reject: {
      title: isOwn(approval) ? t('Withdraw this request?') : t('Reject this request?'),
      confirm: isOwn(approval) ? t('Withdraw') : t('Reject'),
      consequence: t('Nothing is booked.'),
    },
  };
  const { title, confirm, consequence } = texts[what];
  return (
    <ConfirmDialog
      title={title}
      danger={what === 'reject'}
      confirm={confirm}
      consequences={[facts, consequence]}
      act={act}
      onClose={() => {
        onClose();
        void onDone();
      }}
    />
  );
}
