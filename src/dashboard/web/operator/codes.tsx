// Redemption codes: worth service tokens once, to whoever has their text.

import { useState } from 'preact/hooks';
import { Link } from 'wouter-preact';
import type { CodeRecord, CreatedCodesRecord } from '../../records/operator-lists.ts';
import {
  Button,
  Card,
  ConfirmDialog,
  Dialog,
  Empty,
  Form,
  fieldError,
  formatTokens,
  ListTable,
  Page,
  post,
  StateBadge,
  TextField,
  Time,
  Tokens,
  type Tone,
  toast,
  useAction,
  useList,
} from '../ui/index.ts';
import { plainAmount } from './accounts/decimal.ts';
import { ShownOnceDialog } from './shown-once.tsx';
import { expiryOf, FOR_GOOD, UntilField } from './until.tsx';

const TONES: Readonly<Record<CodeRecord['status'], Tone>> = {
  open: 'accent',
  redeemed: 'good',
  revoked: 'neutral',
  expired: 'neutral',
};

export function CodesPage() {
  const list = useList<CodeRecord>('/codes');
  const [creating, setCreating] = useState(false);
  const [created, setCreated] = useState<CreatedCodesRecord | undefined>(undefined);
  const [revoking, setRevoking] = useState<CodeRecord | undefined>(undefined);
  const create = (
    <Button kind="primary" onClick={() => setCreating(true)}>
      New codes
    </Button>
  );
  return (
    <Page
      title="Redemption codes"
      lead="Each is worth its amount once. Customers redeem them on the dashboard; the text of a code is shown when it is made and never again."
      actions={create}
    >
      <Card flush>
        <ListTable
          caption="Redemption codes"
          list={list}
          rowKey={({ id }) => id}
          empty={
            <Empty title="No codes yet" action={create}>
              Make some for an event, or to sell balance through a shop of your own.
            </Empty>
          }
          columns={[
            {
              label: 'Code',
              show: ({ id, masked }) => (
                <>
                  <code>{masked}</code>
                  <div class="soft small">{id}</div>
                </>
              ),
            },
            { label: 'Status', show: (code) => <Status code={code} /> },
            { label: 'Amount', end: true, show: ({ amount }) => <Tokens amount={amount} /> },
            { label: 'Reason', wrap: true, show: ({ reason }) => reason },
            { label: 'Created', show: ({ created_at }) => <Time at={created_at} detail="day" /> },
            { label: 'Expires', show: ({ expires_at }) => <Time relative at={expires_at} /> },
            {
              label: '',
              end: true,
              show: (code) =>
                code.status === 'open' && (
                  <Button
                    kind="quiet-danger"
                    size="small"
                    aria-label={`Revoke the code ${code.id}`}
                    onClick={() => setRevoking(code)}
                  >
                    Revoke
                  </Button>
                ),
            },
          ]}
        />
      </Card>
      {creating && (
        <CreateCodesDialog
          onCreated={(made) => {
            setCreating(false);
            setCreated(made);
            void list.reload();
          }}
          onClose={() => setCreating(false)}
        />
      )}
      {created && (
        <ShownOnceDialog
          title={created.data.length === 1 ? 'The code' : `${created.data.length} codes`}
          label="the codes"
          lines={created.data.map(({ code }) => code)}
          onClose={() => setCreated(undefined)}
        >
          Each is worth {formatTokens(created.data[0]?.amount ?? '0')} service tokens to whoever has
          its text.
        </ShownOnceDialog>
      )}
      {revoking && (
        <ConfirmDialog
          title="Revoke this code?"
          danger
          confirm="Revoke the code"
          consequences={[
            <>
              <strong>{revoking.masked}</strong>, worth {formatTokens(revoking.amount)} service
              tokens, is worth nothing from now on.
            </>,
            'It cannot be taken back; make another code instead.',
          ]}
          act={async () => {
            await post(`/codes/${revoking.id}/revoke`);
            toast('The code is revoked.');
            await list.reload();
          }}
          onClose={() => setRevoking(undefined)}
        />
      )}
    </Page>
  );
}

function Status({ code }: { readonly code: CodeRecord }) {
  const { status, redeemed_at, redeemed_by } = code;
  return (
    <>
      <StateBadge state={status} tone={TONES[status]} />
      {redeemed_by !== null && (
        <div class="small">
          <Link href={`/accounts/${redeemed_by}`}>
            <Time relative at={redeemed_at} />
            <span class="sr-only"> by the account {redeemed_by}</span>
          </Link>
        </div>
      )}
    </>
  );
}

function CreateCodesDialog({
  onCreated,
  onClose,
}: {
  readonly onCreated: (created: CreatedCodesRecord) => void;
  readonly onClose: () => void;
}) {
  const [amount, setAmount] = useState('');
  const [count, setCount] = useState('1');
  const [reason, setReason] = useState('');
  const [until, setUntil] = useState(FOR_GOOD);
  const action = useAction(async () => {
    const body = { amount: plainAmount(amount), count: Number(count), reason };
    onCreated(await post<CreatedCodesRecord>('/codes', { ...body, ...expiryOf(until) }));
  });
  return (
    <Dialog title="New codes" onClose={onClose}>
      <Form
        action={action}
        fields={['amount', 'count', 'reason', 'expires_at']}
        submit={count === '1' ? 'Make the code' : `Make ${count} codes`}
        cancel={onClose}
        onSubmit={() => void action.run()}
      >
        <div class="fields">
          <TextField
            label="Amount of each"
            hint="In service tokens."
            inputMode="decimal"
            required
            value={amount}
            onInput={setAmount}
            error={fieldError(action, 'amount')}
          />
          <TextField
            label="How many"
            type="number"
            min={1}
            max={10_000}
            step={1}
            required
            value={count}
            onInput={setCount}
            error={fieldError(action, 'count')}
          />
        </div>
        <TextField
          label="Reason"
          hint="For the books, such as the event that they are for."
          required
          maxLength={500}
          value={reason}
          onInput={setReason}
          error={fieldError(action, 'reason')}
        />
        <UntilField
          label="Expire"
          forGood="Never"
          until={until}
          onChange={setUntil}
          error={fieldError(action, 'expires_at')}
        />
      </Form>
    </Dialog>
  );
}
