// The log of requests of all accounts, newest first, refused ones among them, with filters kept in
// the page's address. It follows new requests until it is paused.

import { useMemo, useRef, useState } from 'preact/hooks';
import { useLocation, useSearchParams } from 'wouter-preact';
import type {
  LoggedRequestRecord,
  NewestRequestRecord,
} from '../../../records/operator-request.ts';
import type { UpstreamsRecord } from '../../../records/operator-server.ts';
import { t } from '../../text/t.ts';
import { Button } from '../../ui/button.tsx';
import { SelectField } from '../../ui/field.tsx';
import { useFilters } from '../../ui/filters.ts';
import { useKeptList } from '../../ui/kept-list.ts';
import { useLive } from '../../ui/live.ts';
import { Card, Empty, Page } from '../../ui/parts.tsx';
import {
  LinkedModels,
  OutcomeFilters,
  SentField,
  TimeField,
  timeQuery,
  withOwn,
} from '../../ui/request-filters.tsx';
import { useResource } from '../../ui/resource.ts';
import { ListTable, NoMatch } from '../../ui/table.tsx';
import { Badge } from '../../ui/text.tsx';
import { TypedFilter, useClearFilters, useFilter } from '../filters.tsx';
import { LOG_COLUMNS } from './columns.tsx';

/** Newer requests are shown at once only where the list is at its top. */
const TOP_PX = 200;
const FIRST_ROWS = 50;

export function View() {
  const [params] = useSearchParams();
  const filters = Object.fromEntries(FILTERS.map((name) => [name, params.get(name) ?? '']));
  const isFiltered = FILTERS.some((name) => filters[name] !== '');
  const query = useMemo(() => {
    const { days = '', from = '', to = '', ...kind } = filters;
    return { ...kind, ...timeQuery({ days, from, to }) };
  }, [params]);
  const clear = useClearFilters();
  const list = useKeptList<LoggedRequestRecord>('/requests', query, ({ request_id }) => request_id);
  const [isPaused, setPaused] = useState(false);
  const [hasNew, setNew] = useState(false);
  const seen = useRef<string | undefined>(undefined);
  const showNew = () => {
    setNew(false);
    void list.reload();
  };
  const state = useLive(isPaused ? undefined : '/requests/feed', {
    message(newest: NewestRequestRecord) {
      const mark = JSON.stringify(newest);
      const isFirst = seen.current === undefined;
      if (isFirst || seen.current === mark) {
        seen.current = mark;
        return;
      }
      seen.current = mark;
      const isAtTop = window.scrollY < TOP_PX && (list.rows.peek()?.length ?? 0) <= FIRST_ROWS;
      if (isAtTop) void list.reload();
      else setNew(true);
    },
  });
  return (
    <Page
      title={t('Requests')}
      lead={t('Requests of all accounts, newest first. Refused ones are kept for seven days.')}
      actions={
        <>
          {!isPaused && state.value === 'live' && <Badge tone="good">{t('Live')}</Badge>}
          <Button onClick={() => setPaused(!isPaused)}>
            {isPaused ? t('Follow') : t('Pause')}
          </Button>
        </>
      }
    >
      <LogFilters {...(isFiltered ? { onClear: clear } : {})} />
      {hasNew && (
        <div class="row">
          <Button onClick={showNew}>{t('Show new requests')}</Button>
        </div>
      )}
      <Card flush>
        <ListTable
          caption={t('Requests')}
          name="operator-requests"
          list={list}
          rowKey={({ request_id }) => request_id}
          href={({ request_id }) => `/requests/${request_id}`}
          columns={LOG_COLUMNS}
          empty={
            isFiltered ? (
              <NoMatch clear={clear} />
            ) : (
              <Empty title={t('No requests yet')}>
                {t('Requests of customers appear here as they end.')}
              </Empty>
            )
          }
        />
      </Card>
    </Page>
  );
}

const FILTERS = [
  ...(['outcome', 'status', 'code', 'model', 'upstream', 'account', 'key'] as const),
  ...(['served', 'requested'] as const),
  ...(['days', 'from', 'to'] as const),
];

const ID_LENGTH = 64;

function LogFilters({ onClear }: { readonly onClear?: () => void }) {
  const [upstream, setUpstream] = useFilter('upstream');
  const [search, setFilters] = useFilters();
  const filters = Object.fromEntries(search);
  const { days = '', from = '', to = '', served = '', requested = '' } = filters;
  const { outcome = '', status = '', code = '' } = filters;
  const [, navigate] = useLocation();
  const upstreams = useResource<UpstreamsRecord>('/upstreams').data.value?.upstreams ?? [];
  return (
    <div class="filters">
      <SentField
        label={t('Request id')}
        placeholder={t('req_…')}
        value=""
        onSend={(id) => id !== '' && navigate(`/requests/${encodeURIComponent(id)}`)}
      />
      <TimeField time={{ days, from, to }} onChange={setFilters} />
      <OutcomeFilters outcome={outcome} status={status} code={code} onChange={setFilters} />
      <TypedFilter
        name="model"
        label={t('Model')}
        placeholder={t('Requested or served')}
        maxLength={ID_LENGTH}
      />
      <LinkedModels served={served} requested={requested} onChange={setFilters} />
      <SelectField
        label={t('Upstream')}
        value={upstream}
        options={withOwn(
          upstream,
          upstreams.map(({ id }) => ({ value: id, label: id })),
        )}
        onChange={setUpstream}
      />
      <TypedFilter
        name="account"
        label={t('Account')}
        placeholder={t('acct_… or none')}
        maxLength={ID_LENGTH}
      />
      <TypedFilter name="key" label={t('Key')} placeholder={t('key_…')} maxLength={ID_LENGTH} />
      {onClear && (
        <Button kind="quiet" onClick={onClear}>
          {t('Clear filters')}
        </Button>
      )}
    </div>
  );
}
