// The log of requests of all accounts, newest first, refused ones among them, with filters kept in
// the page's address. It follows new requests until it is paused.

import { useRef, useState } from 'preact/hooks';
import { useLocation } from 'wouter-preact';
import type { ListedAccountRecord } from '../../../dashboard/records/operator-account.ts';
import type {
  LoggedRequestRecord,
  NewestRequestRecord,
} from '../../../dashboard/records/operator-request.ts';
import type { UpstreamsRecord } from '../../../dashboard/records/operator-server.ts';
import { loggedRequestColumns } from '../../shared/requests/columns.tsx';
import {
  BeforeFilter,
  LinkedModels,
  OutcomeFilters,
  TimeFilter,
  useRequestFilters,
} from '../../shared/requests/filters.tsx';
import { PAGE_ROWS, RequestLog } from '../../shared/requests/log.tsx';
import { t } from '../../text/t.ts';
import { withQuery } from '../../ui/api.ts';
import { Button } from '../../ui/button.tsx';
import {
  ComboboxFilter,
  FilterBar,
  SelectFilter,
  SentField,
  TypedFilter,
} from '../../ui/filter-fields.tsx';
import { useFilter } from '../../ui/filters.ts';
import { useKeptList } from '../../ui/kept-list.ts';
import { useLive } from '../../ui/live.ts';
import { Empty, Page } from '../../ui/parts.tsx';
import { type ListRecord, useResource } from '../../ui/resource.ts';
import { NoMatch } from '../../ui/table.tsx';
import { Badge } from '../../ui/text.tsx';

/** Newer requests are shown at once only where the list is at its top. */
const TOP_PX = 200;

const idOf = ({ request_id }: LoggedRequestRecord) => request_id;

const COLUMNS = loggedRequestColumns('all');

export function View() {
  const { query, clear } = useRequestFilters('all');
  const list = useKeptList<LoggedRequestRecord>('/requests', { ...query, limit: PAGE_ROWS }, idOf);
  const [isPaused, setPaused] = useState(false);
  const [hasNew, setNew] = useState(false);
  const seen = useRef<string | undefined>(undefined);
  const showNew = () => {
    setNew(false);
    void list.toFirst();
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
      const isAtTop = window.scrollY < TOP_PX && list.page.peek()?.before.length === 0;
      if (isAtTop) void list.reload();
      else setNew(true);
    },
  });
  return (
    <Page
      wide
      title={t('Requests')}
      lead={t(
        'Requests of all accounts, newest first, in local time. Refused ones are kept for seven days.',
      )}
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
      <RequestLog
        name="operator-requests"
        caption={t('Requests')}
        list={list}
        idOf={idOf}
        columns={COLUMNS}
        empty={
          clear ? (
            <NoMatch clear={clear} />
          ) : (
            <Empty title={t('No requests yet')}>
              {t('Requests of customers appear here as they end.')}
            </Empty>
          )
        }
        load={() => import('./request.tsx')}
      />
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
      <BeforeFilter />
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
      <AccountFilter />
      <TypedFilter name="key" label={t('Key')} placeholder={t('key_…')} maxLength={ID_LENGTH} />
    </FilterBar>
  );
}

const SUGGESTIONS = '20';

/** An account by its address, or the requests without one. */
function AccountFilter() {
  const [account] = useFilter('account');
  const [typed, setTyped] = useState(account);
  const path = withQuery('/accounts', { text: typed, limit: SUGGESTIONS });
  const found = useResource<ListRecord<ListedAccountRecord>>(typed === '' ? undefined : path);
  const accounts = found.data.value?.data ?? [];
  return (
    <ComboboxFilter
      name="account"
      label={t('Account')}
      options={[
        { value: 'none', label: t('No account') },
        ...accounts.map(({ id, email }) => ({ value: id === account ? id : email, label: email })),
      ]}
      onType={setTyped}
    />
  );
}
