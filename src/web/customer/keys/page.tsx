// The account's API keys: the list with spend, search and filter, the limits on creating them, and all
// actions.

import { useState } from 'preact/hooks';
import type { KeySummaryRecord, ListedKeyRecord } from '../../../dashboard/records/key.ts';
import { keyActions, type ShownKey } from '../../shared/keys/actions.tsx';
import { KEY_COLUMNS } from '../../shared/keys/columns.tsx';
import { rich } from '../../text/rich.ts';
import { t } from '../../text/t.ts';
import { withQuery } from '../../ui/api.ts';
import { Button } from '../../ui/button.tsx';
import { Collection } from '../../ui/collection.tsx';
import { amountColumn } from '../../ui/common-columns.tsx';
import { useFilters } from '../../ui/filters.ts';
import { formatCount } from '../../ui/format.ts';
import { Empty, Loaded, Stat, Stats } from '../../ui/parts.tsx';
import { useResource } from '../../ui/resource.ts';
import type { Column } from '../../ui/table.tsx';
import { useSort } from '../../ui/table-sort.ts';
import { Time } from '../../ui/text.tsx';
import { CreateDialog, ShownOwnKey } from './create.tsx';
import { KEY_STATES, KeyFilters, maskedIn } from './filters.tsx';
import { RevokeSeveralDialog } from './revoke-several.tsx';

/** What the server sorts by. */
const SORTS = ['created', 'name', 'last_used', 'spent', 'spent_today'];

const COLUMNS: readonly [Column<ListedKeyRecord>, ...Column<ListedKeyRecord>[]] = [
  ...KEY_COLUMNS,
  amountColumn(t('Spent today'), 'spent_today', {
    usd: 'spent_today_usd',
    sort: 'spent_today',
    card: 'detail',
  }),
  amountColumn(t('Spent in 30 days'), 'spent', { usd: 'spent_usd', sort: 'spent', card: 'value' }),
];

export function View() {
  const [search, filter] = useFilters();
  const [revokes, setRevokes] = useState(false);
  const [version, setVersion] = useState(0);
  const text = search.get('q') ?? '';
  const asked = search.get('state') ?? '';
  const state = KEY_STATES.some(({ value }) => value === asked) ? asked : 'kept';
  const query = { state, q: text };
  const sort = useSort(SORTS, '-created');
  const summary = useResource<KeySummaryRecord>('/keys/summary');
  const changed = (): void => {
    setVersion(version + 1);
    void summary.reload();
  };
  const isFiltered = text !== '' || state !== 'kept';
  const counts = summary.data.value?.counts;
  const isHiding = (counts?.revoked ?? 0) > 0;
  return (
    <>
      <Collection<ListedKeyRecord, ShownKey>
        title={t('API keys')}
        lead={t(
          'All keys share one balance and the same limits. Use one key per machine or project, so you can revoke each on its own.',
        )}
        // Bulk changes read the list again.
        key={version}
        path="/keys"
        query={query}
        sort={sort}
        name="keys"
        empty={{
          title: t('No keys yet'),
          text: t('Create one to call models from your programs and agents.'),
        }}
        noMatch={
          (isFiltered || isHiding) && (
            <Empty
              title={t('No matches')}
              action={
                <Button onClick={() => filter({ q: '', state: 'all' })}>
                  {t('Show all keys')}
                </Button>
              }
            >
              {t('Revoked keys are hidden unless you choose them by state.')}
            </Empty>
          )
        }
        columns={COLUMNS}
        actions={keyActions('account')}
        create={{ label: t('Create key'), dialog: (dialog) => <CreateDialog {...dialog} /> }}
        shown={(shown, onClose) => <ShownOwnKey shown={shown} onClose={onClose} />}
        onChange={summary.reload}
      >
        <Loaded resource={summary} lines={2}>
          {(data) => <KeyStats summary={data} />}
        </Loaded>
        <KeyFilters
          text={text}
          state={state}
          counts={counts}
          onText={(next) => filter({ q: maskedIn(next) })}
          onState={(next) => filter({ state: next === 'kept' ? '' : next })}
        >
          {(counts?.kept ?? 0) > 1 && (
            <Button onClick={() => setRevokes(true)}>{t('Revoke several')}</Button>
          )}
        </KeyFilters>
      </Collection>
      {revokes && (
        <RevokeSeveralDialog
          path={withQuery('/keys', { ...query, sort: sort.query, limit: 200 })}
          onDone={changed}
          onClose={() => setRevokes(false)}
        />
      )}
    </>
  );
}

function KeyStats({ summary }: { readonly summary: KeySummaryRecord }) {
  const { active_count, active_limit, creations } = summary;
  return (
    <Stats>
      <Stat
        label={t('Active keys')}
        value={formatCount(active_count)}
        unit={t('of {limit}', { limit: formatCount(active_limit) })}
        hint={
          active_count < active_limit
            ? t('Maximum of your plan')
            : t('Limit of your plan reached. Revoke a key to create another.')
        }
      />
      <Stat
        label={t('Created in the last hour')}
        value={formatCount(creations.last_hour)}
        unit={t('of {limit}', { limit: formatCount(creations.limit) })}
        hint={
          creations.next_at === null
            ? t('Includes rotations')
            : rich('You can create the next one {nextAt}.', {
                nextAt: <Time relative at={creations.next_at} />,
              })
        }
      />
    </Stats>
  );
}
