// The columns of the list of keys.

import { useState } from 'preact/hooks';
import type { KeyRecord, ListedKeyRecord } from '../../../records/key.ts';
import { KeyBounds } from '../../shared/keys/bounds.tsx';
import { rich } from '../../text/rich.ts';
import { t } from '../../text/t.ts';
import { patch } from '../../ui/api.ts';
import { Button } from '../../ui/button.tsx';
import { amountColumn, timeColumn } from '../../ui/common-columns.tsx';
import { TextField } from '../../ui/field.tsx';
import { useAction } from '../../ui/resource.ts';
import { isFrozen } from '../../ui/session.ts';
import type { Column } from '../../ui/table.tsx';
import { Nothing, StateBadge, Time } from '../../ui/text.tsx';
import { toast } from '../../ui/toast.tsx';

/** What the server sorts by. */
export const SORTS = ['created', 'name', 'last_used', 'expires', 'spent', 'spent_today'];

type Columns = readonly [Column<ListedKeyRecord>, ...Column<ListedKeyRecord>[]];

/** `refresh` reads the list again after a key was renamed in it. */
export const keyColumns = (refresh: () => void): Columns => [
  {
    label: t('Name'),
    sort: 'name',
    wrap: true,
    show: (record) => <NameCell key={record.id} record={record} onRenamed={refresh} />,
  },
  { label: t('State'), card: 'state', wrap: true, show: (key) => <KeyState record={key} /> },
  {
    label: t('Last used'),
    card: 'labelled',
    sort: 'last_used',
    show: ({ last_used_at, last_used_address }) =>
      last_used_at === null ? (
        <span class="soft">{t('Never')}</span>
      ) : (
        <>
          <Time relative at={last_used_at} />
          {last_used_address !== null && (
            <div class="soft small">{t('from {address}', { address: last_used_address })}</div>
          )}
        </>
      ),
  },
  {
    label: t('Expires'),
    card: 'labelled',
    sort: 'expires',
    show: ({ expires_at, status }) =>
      expires_at === null || status === 'revoked' ? (
        <Nothing>{t('Never')}</Nothing>
      ) : (
        <Time relative at={expires_at} />
      ),
  },
  {
    label: t('Bounds'),
    card: 'labelled',
    wrap: true,
    show: (record) => <KeyBounds record={record} />,
  },
  timeColumn(t('Created'), 'created_at', { sort: 'created', detail: 'day' }),
  amountColumn(t('Spent today'), 'spent_today', {
    usd: 'spent_today_usd',
    sort: 'spent_today',
    card: 'detail',
  }),
  amountColumn(t('Spent in 30 days'), 'spent', { usd: 'spent_usd', sort: 'spent', card: 'value' }),
];

/** The name, edited where it stands. */
function NameCell({
  record,
  onRenamed,
}: {
  readonly record: ListedKeyRecord;
  readonly onRenamed: () => void;
}) {
  /** Shown until the list has the new name. */
  const [change, setChange] = useState<Readonly<Record<'from' | 'to', string | null>>>();
  const [typed, setTyped] = useState<string | undefined>(undefined);
  const name = change?.from === record.name ? change.to : record.name;
  const save = useAction(async () => {
    const renamed = await patch<KeyRecord>(`/keys/${record.id}`, { name: typed ?? '' });
    setChange({ from: record.name, to: renamed.name });
    setTyped(undefined);
    toast(t('Key renamed.'));
    onRenamed();
  });
  const cancel = () => {
    save.error.value = undefined;
    setTyped(undefined);
  };
  if (typed !== undefined) {
    return (
      <form
        class="edit-name"
        onKeyDown={(event) => {
          if (event.key === 'Escape') cancel();
        }}
        onSubmit={(event) => {
          event.preventDefault();
          void save.run();
        }}
      >
        <TextField
          label={t('Name of {masked}', { masked: record.masked })}
          maxLength={100}
          value={typed}
          error={save.error.value?.message}
          onInput={setTyped}
        />
        <div class="row">
          <Button type="submit" size="small" kind="primary" busy={save.busy.value}>
            {t('Save')}
          </Button>
          <Button size="small" onClick={cancel}>
            {t('Cancel')}
          </Button>
        </div>
      </form>
    );
  }
  return (
    <div>
      <div>
        {name ?? <span class="soft">{t('No name')}</span>}{' '}
        {record.status !== 'revoked' && (
          <Button
            disabled={isFrozen.value}
            kind="quiet"
            size="small"
            aria-label={t('Rename the key {name}', { name: name ?? record.masked })}
            title={t('Rename')}
            onClick={() => setTyped(name ?? '')}
          >
            ✎
          </Button>
        )}
      </div>
      <code class="soft">{record.masked}</code>
    </div>
  );
}

const SOON_MS = 7 * 86_400_000;

const REVOKED: Readonly<Record<NonNullable<KeyRecord['revoked_reason']>, string>> = {
  user: t('by you'),
  rotated: t('rotated'),
  operator: t('by the operator'),
  leak_report: t('reported as leaked'),
  account_closed: t('account closed'),
};

const PAUSED: Readonly<Record<NonNullable<KeyRecord['paused_reason']>, string>> = {
  user: t('by you'),
  operator: t('by the operator'),
  runaway: t('spend far above its habit'),
};

function KeyState({ record }: { readonly record: KeyRecord }) {
  const { status, expires_at, revoked_at, revoked_reason, replaced_by } = record;
  const isReplaced = replaced_by !== null && expires_at !== null && status !== 'revoked';
  const ends = expires_at === null ? Number.POSITIVE_INFINITY : Date.parse(expires_at) - Date.now();
  if (isReplaced) {
    return (
      <>
        <StateBadge state={status === 'active' ? 'rotated' : 'expired'} />
        {status === 'active' && (
          <div class="soft small">{rich('works until {at}', { at: <Time at={expires_at} /> })}</div>
        )}
      </>
    );
  }
  if (status === 'active' && record.paused_at !== null) {
    return (
      <>
        <StateBadge state="paused" />
        <div class="soft small">
          {PAUSED[record.paused_reason ?? 'user']}, <Time relative at={record.paused_at} />
        </div>
      </>
    );
  }
  if (status === 'active') return <StateBadge state={ends < SOON_MS ? 'expiring' : 'active'} />;
  return (
    <>
      <StateBadge state={status} />
      {revoked_reason !== null && (
        <div class="soft small">
          {REVOKED[revoked_reason]}, <Time relative at={revoked_at} />
        </div>
      )}
    </>
  );
}
