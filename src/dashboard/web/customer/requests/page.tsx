// The account's requests, newest first, refused ones among them, with filters kept in the page's
// address, a chart of how they ended, and a search by request id.

import { useEffect, useMemo } from 'preact/hooks';
import { useSearchParams } from 'wouter-preact';
import type {
  RequestCountRecord,
  RequestFiltersRecord,
  RequestRecord,
} from '../../../records/customer-request.ts';
import { t } from '../../text/t.ts';
import { apiUrl, withQuery } from '../../ui/api.ts';
import { LinkButton } from '../../ui/button.tsx';
import { useFilters } from '../../ui/filters.ts';
import { formatCount } from '../../ui/format.ts';
import { useKeptList } from '../../ui/kept-list.ts';
import { Card, Empty, Page } from '../../ui/parts.tsx';
import { useResource } from '../../ui/resource.ts';
import { ListTable, NoMatch } from '../../ui/table.tsx';
import { RequestChart } from './chart.tsx';
import { requestColumns } from './columns.tsx';
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
