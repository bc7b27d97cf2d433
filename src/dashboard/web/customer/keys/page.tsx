// The account's API keys: what there is, what may still be created, and all that can be done to one.

import { useState } from 'preact/hooks';
import type { CreatedKeyRecord, KeyListRecord, KeyRecord } from '../../../records/key.ts';
import {
  Button,
  Card,
  Empty,
  formatCount,
  type ListResource,
  ListTable,
  Loaded,
  Nothing,
  Page,
  Stat,
  StateBadge,
  Stats,
  Time,
  toast,
  useList,
  useResource,
} from '../../ui/index.ts';
import { type KeyAction, KeyDialog } from './actions.tsx';
import { CreateKeyDialog } from './create.tsx';
import { ShownKeyDialog } from './shown-key.tsx';

type Open =
  | { readonly kind: 'create' }
  | { readonly kind: 'shown'; readonly created: CreatedKeyRecord; readonly replaced?: string }
  | KeyAction;

export function KeysPage() {
  const list = useList<KeyRecord>('/keys');
  const head = useResource<KeyListRecord>('/keys?limit=1');
  const [open, setOpen] = useState<Open | undefined>(undefined);
  const close = () => setOpen(undefined);
  const reload = () => Promise.all([list.reload(), head.reload()]);
  const create = (
    <Button kind="primary" onClick={() => setOpen({ kind: 'create' })}>
      New key
    </Button>
  );
  return (
    <Page
      title="API keys"
      lead="Every key spends the same balance under the same limits. Give each machine or project its own, so that one can be revoked alone."
      actions={list.rows.value?.length === 0 ? undefined : create}
    >
      <Loaded resource={head} lines={2}>
        {(data) => <KeyStats head={data} />}
      </Loaded>
      <Card flush>
        <KeyTable
          list={list}
          open={setOpen}
          empty={
            <Empty title="No keys yet" action={create}>
              Make one to call the models from your programs and agents.
            </Empty>
          }
        />
      </Card>
      {open?.kind === 'create' && (
        <CreateKeyDialog
          onClose={close}
          onCreated={(created) => {
            setOpen({ kind: 'shown', created });
            void reload();
          }}
        />
      )}
      {open?.kind === 'shown' && <ShownKeyDialog {...open} onClose={close} />}
      {(open?.kind === 'rename' || open?.kind === 'rotate' || open?.kind === 'revoke') && (
        <KeyDialog
          action={open}
          onClose={close}
          onDone={(said) => {
            toast(said);
            close();
            void reload();
          }}
          onRotated={({ revoked, created }) => {
            setOpen({ kind: 'shown', created, replaced: revoked.masked });
            void reload();
          }}
        />
      )}
    </Page>
  );
}

function KeyStats({ head }: { readonly head: KeyListRecord }) {
  const { active_count, active_limit, creations } = head;
  return (
    <Stats>
      <Stat
        label="Active keys"
        value={formatCount(active_count)}
        unit={`of ${formatCount(active_limit)}`}
        hint={
          active_count < active_limit
            ? 'The most that your plan allows.'
            : 'Your plan allows no more. Revoke one to make room.'
        }
      />
      <Stat
        label="Created within the last hour"
        value={formatCount(creations.last_hour)}
        unit={`of ${formatCount(creations.limit)}`}
        hint={
          creations.next_at === null ? (
            'Rotations count too.'
          ) : (
            <>
              The next one can be created <Time relative at={creations.next_at} />.
            </>
          )
        }
      />
    </Stats>
  );
}

function KeyTable({
  list,
  open,
  empty,
}: {
  readonly list: ListResource<KeyRecord>;
  readonly open: (action: KeyAction) => void;
  readonly empty: preact.ComponentChildren;
}) {
  return (
    <ListTable
      caption="API keys"
      list={list}
      rowKey={({ id }) => id}
      empty={empty}
      columns={[
        {
          label: 'Name',
          wrap: true,
          show: (key) => (
            <>
              <div>{key.name ?? <span class="soft">No name</span>}</div>
              <code class="soft">{key.masked}</code>
              <div class="on-narrow">
                <KeyButtons record={key} open={open} />
              </div>
            </>
          ),
        },
        { label: 'State', show: (key) => <KeyState record={key} /> },
        {
          label: 'Last use',
          show: ({ last_used_at }) =>
            last_used_at === null ? (
              <span class="soft">Never</span>
            ) : (
              <Time relative at={last_used_at} />
            ),
        },
        {
          label: 'Expires',
          show: ({ expires_at, status }) =>
            expires_at === null || status === 'revoked' ? (
              <Nothing>Never</Nothing>
            ) : (
              <Time relative at={expires_at} />
            ),
        },
        { label: 'Created', show: ({ created_at }) => <Time at={created_at} detail="day" /> },
        {
          label: '',
          end: true,
          show: (key) => (
            <div class="on-wide">
              <KeyButtons record={key} open={open} />
            </div>
          ),
        },
      ]}
    />
  );
}

const SOON_MS = 7 * 86_400_000;

const REVOKED: Readonly<Record<NonNullable<KeyRecord['revoked_reason']>, string>> = {
  user: 'by you',
  rotated: 'rotated',
  operator: 'by the operator',
  leak_report: 'reported as leaked',
  account_closed: 'account closed',
};

function KeyState({ record }: { readonly record: KeyRecord }) {
  const { status, expires_at, revoked_at, revoked_reason } = record;
  const ends = expires_at === null ? Number.POSITIVE_INFINITY : Date.parse(expires_at) - Date.now();
  if (status === 'active' && ends < SOON_MS) return <StateBadge state="expiring" />;
  if (status === 'active') return <StateBadge state="active" />;
  return (
    <>
      <StateBadge state={status} tone="neutral" />
      {revoked_reason !== null && (
        <div class="soft small">
          {REVOKED[revoked_reason]}, <Time relative at={revoked_at} />
        </div>
      )}
    </>
  );
}

function KeyButtons({
  record,
  open,
}: {
  readonly record: KeyRecord;
  readonly open: (action: KeyAction) => void;
}) {
  const called = record.name ?? record.masked;
  const button = (kind: KeyAction['kind'], label: string, danger = false) => (
    <Button
      kind={danger ? 'quiet-danger' : 'quiet'}
      size="small"
      aria-label={`${label} the key ${called}`}
      onClick={() => open({ kind, key: record })}
    >
      {label}
    </Button>
  );
  return (
    <>
      {record.status !== 'revoked' && button('rename', 'Rename')}
      {record.status === 'active' && button('rotate', 'Rotate')}
      {record.status !== 'revoked' && button('revoke', 'Revoke', true)}
    </>
  );
}
