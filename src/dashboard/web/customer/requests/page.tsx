// The account's requests, newest first, with filters kept in the page's address and a search by
// request id.

import { useEffect } from 'preact/hooks';
import { useSearchParams } from 'wouter-preact';
import type { RequestFiltersRecord, RequestRecord } from '../../../records/customer-request.ts';
import {
  apiUrl,
  Card,
  Empty,
  LinkButton,
  ListTable,
  NoMatch,
  Page,
  useList,
  useResource,
  withQuery,
} from '../../ui/index.ts';
import { requestColumns } from './columns.tsx';
import { FILTERS, type FilterName, Filters, type FilterValues, queryOf } from './filters.tsx';

/** Below this many results, a search loads the next page automatically. */
const ROWS_FOUND_AT_LEAST = 10;

export function RequestsPage() {
  const [search, setSearch] = useSearchParams();
  const values = Object.fromEntries(
    FILTERS.map((name) => [name, search.get(name) ?? '']),
  ) as FilterValues;
  const choices = useResource<RequestFiltersRecord>('/requests/filters');
  const query = queryOf(values);
  const list = useList<RequestRecord>('/requests', query);
  const isFiltered = FILTERS.some((name) => values[name] !== '');
  const set = (changes: Partial<Record<FilterName, string>>) =>
    setSearch(
      Object.fromEntries(Object.entries({ ...values, ...changes }).filter(([, to]) => to !== '')),
      { replace: true },
    );

  // The server ends a long search early, so an empty page may be followed by one with results.
  const found = list.rows.value?.length;
  const goesOn = list.hasMore.value && !list.loading.value && !list.error.value;
  useEffect(() => {
    if (goesOn && found !== undefined && found < ROWS_FOUND_AT_LEAST) void list.more();
  }, [goesOn, found]);

  const { id: _id, ...exported } = query;
  return (
    <Page
      title="Requests"
      lead="All requests that reached a model, with their cost. Rejected requests aren't listed or billed."
      actions={
        <LinkButton download href={apiUrl(withQuery('/requests/export', exported))}>
          Export as CSV
        </LinkButton>
      }
    >
      <Filters
        values={values}
        choices={choices.data.value}
        onChange={set}
        {...(isFiltered ? { onClear: () => setSearch({}) } : {})}
      />
      <Card flush>
        <ListTable
          caption="Requests"
          list={list}
          rowKey={({ id }) => id}
          href={({ id }) => `/requests/${id}`}
          columns={requestColumns(choices.data.value)}
          empty={isFiltered ? <NoMatch clear={() => setSearch({})} /> : <None />}
        />
      </Card>
    </Page>
  );
}

function None() {
  return (
    <Empty
      title="No requests yet"
      action={<LinkButton href="/playground">Open playground</LinkButton>}
    >
      Send one in the playground, or call the API with your key.
    </Empty>
  );
}
