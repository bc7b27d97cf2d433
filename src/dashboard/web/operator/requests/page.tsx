// The log of requests of all accounts, newest first, refused ones among them, with filters kept in
// the page's address. It follows new requests until it is paused.

import { useMemo, useRef, useState } from 'preact/hooks';
import { useSearchParams } from 'wouter-preact';
import type {
  LoggedRequestRecord,
  NewestRequestRecord,
} from '../../../records/operator-request.ts';
import { t } from '../../text/t.ts';
import { Button } from '../../ui/button.tsx';
import { useKeptList } from '../../ui/kept-list.ts';
import { useLive } from '../../ui/live.ts';
import { Card, Empty, Page } from '../../ui/parts.tsx';
import { timeQuery } from '../../ui/request-filters.tsx';
import { ListTable, NoMatch } from '../../ui/table.tsx';
import { Badge } from '../../ui/text.tsx';
import { useClearFilters } from '../filters.tsx';
import { LOG_COLUMNS } from './columns.tsx';
import { FILTERS, LogFilters } from './filters.tsx';

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
