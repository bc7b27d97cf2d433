// The log of requests of all accounts, newest first, refused ones among them, with filters kept in
// the page's address. It follows new requests until it is paused.

import { useRef, useState } from 'preact/hooks';
import { useLocation } from 'wouter-preact';
import type {
  LoggedRequestRecord,
  NewestRequestRecord,
} from '../../../records/operator-request.ts';
import type { UpstreamsRecord } from '../../../records/operator-server.ts';
import { loggedRequestColumns } from '../../shared/requests/columns.tsx';
import {
  LinkedModels,
  OutcomeFilters,
  TimeFilter,
  useRequestFilters,
} from '../../shared/requests/filters.tsx';
import { t } from '../../text/t.ts';
import { Button } from '../../ui/button.tsx';
import { FilterBar, SelectFilter, SentField, TypedFilter } from '../../ui/filter-fields.tsx';
import { useKeptList } from '../../ui/kept-list.ts';
import { useLive } from '../../ui/live.ts';
import { Card, Empty, Page } from '../../ui/parts.tsx';
import { useResource } from '../../ui/resource.ts';
import { ListTable, NoMatch } from '../../ui/table.tsx';
import { Badge } from '../../ui/text.tsx';

/** Newer requests are shown at once only where the list is at its top. */
const TOP_PX = 200;
const FIRST_ROWS = 50;

export function View() {
  const { query, clear } = useRequestFilters('all');
  const list = useKeptList<LoggedRequestRecord>('/requests', query, (row) => row.request_id);
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
      <LogFilters clear={clear} />
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
          columns={loggedRequestColumns('all')}
          empty={
            clear ? (
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

const ID_LENGTH = 64;

function LogFilters({ clear }: { readonly clear: (() => void) | undefined }) {
  const [, navigate] = useLocation();
  const upstreams = useResource<UpstreamsRecord>('/upstreams').data.value?.upstreams ?? [];
  return (
    <FilterBar clear={clear}>
      <SentField
        label={t('Request id')}
        placeholder={t('req_…')}
        value=""
        onSend={(id) => id !== '' && navigate(`/requests/${encodeURIComponent(id)}`)}
      />
      <TimeFilter />
      <OutcomeFilters />
      <TypedFilter
        name="model"
        label={t('Model')}
        placeholder={t('Requested or served')}
        maxLength={ID_LENGTH}
      />
      <LinkedModels />
      <SelectFilter
        name="upstream"
        label={t('Upstream')}
        options={upstreams.map(({ id }) => ({ value: id, label: id }))}
      />
      <TypedFilter
        name="account"
        label={t('Account')}
        placeholder={t('acct_… or none')}
        maxLength={ID_LENGTH}
      />
      <TypedFilter name="key" label={t('Key')} placeholder={t('key_…')} maxLength={ID_LENGTH} />
    </FilterBar>
  );
}
