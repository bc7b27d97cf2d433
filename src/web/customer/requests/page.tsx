// The account's requests, newest first, refused ones among them, with filters kept in the page's
// address, a chart of how they ended, and a search by request id.

import { useEffect, useMemo } from 'preact/hooks';
import type {
  RequestChartRecord,
  RequestCountRecord,
  RequestRecord,
} from '../../../dashboard/records/customer-request.ts';
import { ownRequestColumns } from '../../shared/requests/columns.tsx';
import {
  BeforeFilter,
  LinkedModels,
  OutcomeFilters,
  TimeFilter,
  useRequestFilters,
} from '../../shared/requests/filters.tsx';
import { PAGE_ROWS, RequestLog } from '../../shared/requests/log.tsx';
import { t } from '../../text/t.ts';
import { apiUrl, withQuery } from '../../ui/api.ts';
import { LinkButton } from '../../ui/button.tsx';
import { Chart } from '../../ui/chart.tsx';
import { ComboboxFilter, FilterBar, SelectFilter, SentFilter } from '../../ui/filter-fields.tsx';
import { formatCount } from '../../ui/format.ts';
import { useKeptList } from '../../ui/kept-list.ts';
import { Card, Empty, Page, Skeleton } from '../../ui/parts.tsx';
import { lastDays } from '../../ui/period.ts';
import { useResource } from '../../ui/resource.ts';
import { NoMatch } from '../../ui/table.tsx';
import { useRequestChoices } from './choices.ts';

const idOf = ({ id }: RequestRecord) => id;

/** Below this many results, a search loads more rows automatically. */
const ROWS_FOUND_AT_LEAST = 10;

export function View() {
  const { query, isOfKind, clear } = useRequestFilters('account');
  const { models, keys } = useRequestChoices();
  // A search by id ignores the other filters.
  const { id, ...exported } = query['id'] === undefined ? query : { id: query['id'] };
  const list = useKeptList<RequestRecord>('/requests', { id, ...exported, limit: PAGE_ROWS }, idOf);

  // The server ends a long search early, so an empty page may be followed by one with results.
  const found = list.rows.value?.length;
  const goesOn = list.page.value?.next != null && !list.loading.value && !list.error.value;
  useEffect(() => {
    if (goesOn && found !== undefined && found < ROWS_FOUND_AT_LEAST) void list.more();
  }, [goesOn, found]);

  return (
    <Page
      wide
      title={t('Requests')}
      lead={t(
        'All requests with their cost, in local time. Refused requests cost nothing and are listed for seven days.',
      )}
      actions={
        <LinkButton download href={apiUrl(withQuery('/requests/export', exported))}>
          {t('Export as CSV')}
        </LinkButton>
      }
    >
      <FilterBar clear={clear}>
        <SentFilter name="id" label={t('Request id')} placeholder={t('req_…')} />
        <TimeFilter />
        <BeforeFilter />
        <SelectFilter name="model" label={t('Model')} options={models} />
        <LinkedModels />
        <ComboboxFilter name="key" label={t('Key')} options={keys} />
        <OutcomeFilters />
        <SentFilter name="end_user" label={t('End user')} placeholder={t('Exactly as sent')} />
      </FilterBar>
      {!isOfKind && <RequestChart query={exported} />}
      <RequestLog
        name="requests"
        caption={t('Requests')}
        list={list}
        idOf={idOf}
        columns={ownRequestColumns(keys)}
        empty={clear ? <NoMatch clear={clear} /> : <None />}
        load={() => import('./detail.tsx')}
      >
        {id === undefined && found !== undefined && found > 0 && <Total query={exported} />}
      </RequestLog>
    </Page>
  );
}

/** How many requests match, up to a bound of the server. */
function Total({ query }: { readonly query: Readonly<Record<string, string>> }) {
  const { data } = useResource<RequestCountRecord>(withQuery('/requests/count', query));
  const total = data.value;
  return (
    <p class="table-total soft small" aria-live="polite">
      {total === undefined
        ? ''
        : total.is_more
          ? t('{count}+ requests', { count: formatCount(total.count) })
          : t('{count, plural, one {{shown} request} other {{shown} requests}}', {
              count: total.count,
              shown: formatCount(total.count),
            })}
    </p>
  );
}

function None() {
  return (
    <Empty
      title={t('No requests yet')}
      action={<LinkButton href="/playground">{t('Open playground')}</LinkButton>}
    >
      {t('Send one in the playground, or call the API with your key.')}
    </Empty>
  );
}

/** The days of the chart if the list has no time filter. */
const DAYS = 7;
/** Low, because the page is about the list below it. */
const CHART_HEIGHT = 132;

function RequestChart({ query }: { readonly query: Readonly<Record<string, string>> }) {
  const { from, to } = query;
  const path = useMemo(() => {
    const last = lastDays(DAYS, to ? Date.parse(to) : undefined);
    return withQuery('/requests/chart', { from: from || last.from, to: to || last.to });
  }, [from, to]);
  const { data } = useResource<RequestChartRecord>(path);
  const chart = data.value;
  if (chart === undefined) {
    return (
      <Card>
        <Skeleton lines={5} />
      </Card>
    );
  }
  const { buckets, step, completed, cancelled, failed, refused } = chart;
  const sum = [completed, cancelled, failed, refused].flat().reduce((a, b) => a + b, 0);
  if (sum === 0) return null;
  const title =
    step === 'hour'
      ? t('Requests per hour')
      : from || to
        ? t('Requests per day (UTC)')
        : t('Requests per day (UTC), last {count} days', { count: DAYS });
  return (
    <Card>
      <Chart
        title={title}
        unit={title}
        height={CHART_HEIGHT}
        times={buckets}
        step={step}
        series={[
          { label: t('Completed'), values: completed },
          { label: t('Cancelled'), values: cancelled, tone: 'muted' },
          { label: t('Failed'), values: failed, tone: 'danger' },
          { label: t('Refused'), values: refused, tone: 'warning' },
        ]}
      />
    </Card>
  );
}
