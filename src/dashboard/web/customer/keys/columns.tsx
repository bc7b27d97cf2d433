// The columns of the list of keys, with its spend and names that are edited in place.

import { useState } from 'preact/hooks';
import type { KeyRecord, ListedKeyRecord } from '../../../records/key.ts';
import { KEY_COLUMNS } from '../../shared/keys/columns.tsx';
import { t } from '../../text/t.ts';
import { patch } from '../../ui/api.ts';
import { Button } from '../../ui/button.tsx';
import { amountColumn } from '../../ui/common-columns.tsx';
import { TextField } from '../../ui/field.tsx';
import { useAction } from '../../ui/resource.ts';
import { isFrozen } from '../../ui/session.ts';
import type { Column } from '../../ui/table.tsx';
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
  ...KEY_COLUMNS,
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
