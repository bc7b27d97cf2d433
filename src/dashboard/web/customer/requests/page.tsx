// The account's requests, newest first, refused ones among them, with filters kept in the page's
// address, a chart of how they ended, and a search by request id.

import { useEffect, useMemo } from 'preact/hooks';
import { useSearchParams } from 'wouter-preact';
import type {
  RequestChartRecord,
  RequestCountRecord,
  RequestFiltersRecord,
  RequestRecord,
} from '../../../records/customer-request.ts';
import { t } from '../../text/t.ts';
import { apiUrl, withQuery } from '../../ui/api.ts';
import { LinkButton } from '../../ui/button.tsx';
import { Chart } from '../../ui/chart.tsx';
import { stateColumn } from '../../ui/common-columns.tsx';
import { useFilters } from '../../ui/filters.ts';
import { formatCount } from '../../ui/format.ts';
import { useKeptList } from '../../ui/kept-list.ts';
import { Card, Empty, Page } from '../../ui/parts.tsx';
import { lastDays } from '../../ui/period.ts';
import { ProblemCell, StatusCell } from '../../ui/problem-view.tsx';
import { ServedModel, usedColumns } from '../../ui/request-columns.tsx';
import { useResource } from '../../ui/resource.ts';
import { type Column, ListTable, NoMatch } from '../../ui/table.tsx';
import { Nothing, Time } from '../../ui/text.tsx';
import { FILTERS, type FilterName, Filters, type FilterValues, queryOf } from './filters.tsx';

/** Below this many results, a search loads the next page automatically. */
const ROWS_FOUND_AT_LEAST = 10;

export function View() {
  const [search, set] = useFilters();
  const [, setSearch] = useSearchParams();
  const values = Object.fromEntries(
    FILTERS.map((name) => [name, search.get(name) ?? '']),
  ) as FilterValues;
  const choices = useResource<RequestFiltersRecord>('/requests/filters');
  const query = useMemo(() => queryOf(values), [search]);
  const list = useKeptList<RequestRecord>('/requests', query, ({ id }) => id);
  const isFiltered = FILTERS.some((name) => values[name] !== '');

  // The server ends a long search early, so an empty page may be followed by one with results.
  const found = list.rows.value?.length;
  const goesOn = list.hasMore.value && !list.loading.value && !list.error.value;
  useEffect(() => {
    if (goesOn && found !== undefined && found < ROWS_FOUND_AT_LEAST) void list.more();
  }, [goesOn, found]);

  const { id, ...exported } = query;
  const isOfKind = FILTERS.some((name) => !TIME.includes(name) && values[name] !== '');
  return (
    <Page
      title={t('Requests')}
      lead={t(
        'All requests with their cost. Refused requests cost nothing and are listed for seven days.',
      )}
      actions={
        <LinkButton download href={apiUrl(withQuery('/requests/export', exported))}>
          {t('Export as CSV')}
        </LinkButton>
      }
    >
      <Filters
        values={values}
        choices={choices.data.value}
        onChange={set}
        {...(isFiltered ? { onClear: () => setSearch({}) } : {})}
      />
      {!isOfKind && <RequestChart query={exported} />}
      <Card flush>
        {id === undefined && found !== undefined && found > 0 && <Total query={exported} />}
        <ListTable
          caption={t('Requests')}
          name="requests"
          list={list}
          rowKey={(request) => request.id}
          href={(request) => `/requests/${request.id}`}
          columns={requestColumns(choices.data.value)}
          empty={isFiltered ? <NoMatch clear={() => setSearch({})} /> : <None />}
        />
      </Card>
    </Page>
  );
}

const TIME: readonly FilterName[] = ['days', 'from', 'to'];

/** How many requests match, up to a bound of the server. */
function Total({ query }: { readonly query: Readonly<Record<string, string>> }) {
  const { data } = useResource<RequestCountRecord>(withQuery('/requests/count', query));
  const total = data.value;
  return (
    <p class="table-total soft small" aria-live="polite">
      {total === undefined
        ? ' '
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

function RequestChart({ query }: { readonly query: Readonly<Record<string, string>> }) {
  const { from, to } = query;
  const path = useMemo(() => {
    const last = lastDays(DAYS);
    return withQuery('/requests/chart', { from: from || last.from, to: to || last.to });
  }, [from, to]);
  const { data } = useResource<RequestChartRecord>(path);
  const chart = data.value;
  if (chart === undefined) return null;
  const { buckets, step, completed, cancelled, failed, refused } = chart;
  const sum = [completed, cancelled, failed, refused].flat().reduce((a, b) => a + b, 0);
  if (sum === 0) return null;
  const title = step === 'day' ? t('Requests per day') : t('Requests per hour');
  return (
    <Card title={title}>
      <Chart
        title={title}
        unit={t('requests')}
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

function requestColumns(
  choices: RequestFiltersRecord | undefined,
): readonly Column<RequestRecord>[] {
  const names = new Map(choices?.keys.map(({ id, name, masked }) => [id, name ?? masked]));
  return [
    { label: t('Started'), show: ({ started_at }) => <Time at={started_at} detail="second" /> },
    stateColumn(t('Outcome'), 'outcome'),
    {
      label: t('Model'),
      card: 'title',
      show: ({ model, model_served }) => <ServedModel requested={model} served={model_served} />,
    },
    { label: t('Status'), show: (request) => <StatusCell {...request} /> },
    {
      label: t('Problem'),
      wrap: true,
      show: ({ problem }) => <ProblemCell problem={problem} />,
    },
    {
      label: t('Key'),
      show: ({ key_id }) =>
        key_id === null ? <Nothing /> : <span class="nowrap">{names.get(key_id) ?? key_id}</span>,
    },
    {
      label: t('End user'),
      card: 'hidden',
      show: ({ end_user }) =>
        end_user ? <span class="nowrap">{end_user}</span> : <Nothing>{t('None')}</Nothing>,
    },
    ...usedColumns(t('Spent')),
  ];
}
