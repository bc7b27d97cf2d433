// Tables: records with sortable columns, links, an empty state, and pages. On phones they are cards.

import { signal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useRef, useState } from 'preact/hooks';
import { t } from '../text/t.ts';
import { Button } from './button.tsx';
import { formatCount } from './format.ts';
import { Empty, ErrorAlert, Skeleton } from './parts.tsx';
import type { ListResource } from './resource.ts';
import type { Sorting } from './sorting.ts';
import { CardSort, Cards } from './table-cards.tsx';
import {
  type ListSort,
  orderColumns,
  type Sorter,
  sortRows,
  type TableProps,
} from './table-column.ts';
import { Grid, type GridProps } from './table-grid.tsx';
import { useTableView } from './table-view.tsx';

export type { Column } from './table-column.ts';

/** A table whose rows are all loaded. Put it into a `Card` with `flush`. */
export function Table<Row>({
  rows,
  first = Number.POSITIVE_INFINITY,
  empty,
  ...table
}: TableProps<Row> & {
  readonly rows: readonly Row[];
  /** The number of rows that are shown until a click shows all. */
  readonly first?: number;
  /** Shown when there are no rows; absent: the head of the table alone. */
  readonly empty?: ComponentChildren;
}) {
  const [sorting, setSorting] = useState<Sorting | undefined>(undefined);
  const sorter: Sorter<Row> = {
    sorting,
    keyOf: ({ label, sortBy }) => (sortBy === undefined ? undefined : label),
    sort: setSorting,
  };
  const [isWhole, setWhole] = useState(false);
  if (rows.length === 0 && empty !== undefined) return <>{empty}</>;
  const sorted = sortRows(rows, table.columns, sorting);
  const shown = isWhole ? sorted : sorted.slice(0, first);
  return (
    <>
      <Frame {...table} rows={shown} sorter={sorter} />
      {shown.length < rows.length && (
        <div class="table-foot">
          <Button size="small" onClick={() => setWhole(true)}>
            {t('Show all {count}', { count: formatCount(rows.length) })}
          </Button>
        </div>
      )}
    </>
  );
}

function Frame<Row>({ columns, name, sorter, ...table }: GridProps<Row>) {
  const { shown, density, controls } = useTableView(name, orderColumns(columns));
  const style = `table-frame ${density}${controls ? ' has-view' : ''}`;
  if (isNarrow.value) {
    return (
      <div class={style}>
        <div class="cards-head">
          <CardSort columns={columns} sorter={sorter} />
          {controls}
        </div>
        <Cards {...table} columns={shown} />
      </div>
    );
  }
  return (
    <div class={style}>
      <Grid {...table} columns={shown} sorter={sorter} />
      {controls}
    </div>
  );
}

/**
 * A `useList` list as a table with loading, error and empty states and pages. With `sort` of
 * `useSort`, the server sorts by the columns that have a `sort` field.
 */
export function ListTable<Row>({
  list,
  sort,
  empty,
  ...table
}: TableProps<Row> & {
  readonly list: ListResource<Row>;
  readonly sort?: ListSort;
  /** Shown when there are no rows: an `Empty` that says what to do. */
  readonly empty: ComponentChildren;
}) {
  const top = useRef<HTMLDivElement>(null);
  const last = useRef<{ readonly sort: unknown; readonly rows: readonly Row[] } | undefined>(
    undefined,
  );
  const loaded = list.rows.value;
  if (loaded !== undefined && loaded !== last.current?.rows) {
    last.current = { sort: sort?.query, rows: loaded };
  }
  // While the server sorts, the rows of before stay, and the focus on the head.
  const isSorting = loaded === undefined && last.current?.sort !== sort?.query;
  const rows = isSorting ? last.current?.rows : loaded;
  const error = list.error.value;
  if (rows === undefined) {
    return (
      <div class="table-pad">
        {error ? <ErrorAlert error={error} retry={list.reload} /> : <Skeleton lines={6} />}
      </div>
    );
  }
  return (
    <>
      <div ref={top} class="list-top" />
      {rows.length === 0 ? (
        empty
      ) : sort ? (
        <Frame {...table} rows={rows} sorter={{ ...sort, keyOf: (column) => column.sort }} />
      ) : (
        <Table rows={rows} {...table} />
      )}
      {error && (
        <div class="table-pad">
          <ErrorAlert error={error} retry={list.reload} />
        </div>
      )}
      <Pager list={list} top={top} />
    </>
  );
}

/** The place of the page in the list, and the way to others. Absent where there is one page. */
function Pager<Row>({
  list,
  top,
}: {
  readonly list: ListResource<Row>;
  /** Where a page begins. */
  readonly top: { readonly current: HTMLElement | null };
}) {
  const page = list.page.value;
  if (page === undefined || (page.next === null && page.before.length === 0)) return null;
  const { rowsBefore } = page.place;
  const isFirst = page.before.length === 0;
  const loading = list.loading.value;
  const go = (move: () => Promise<void>) => async () => {
    await move();
    top.current?.scrollIntoView();
  };
  return (
    <div class="table-foot">
      <span class="soft" aria-live="polite">
        {t('{first}–{last}', {
          first: formatCount(rowsBefore + 1),
          last: formatCount(rowsBefore + page.data.length),
        })}
      </span>
      <div class="row">
        {page.before.length > 1 && (
          <Button size="small" disabled={loading} onClick={go(list.toFirst)}>
            {t('First page')}
          </Button>
        )}
        <Button size="small" disabled={loading || isFirst} onClick={go(list.toPrevious)}>
          {t('Previous')}
        </Button>
        <Button size="small" busy={loading} disabled={page.next === null} onClick={go(list.toNext)}>
          {t('Next')}
        </Button>
      </div>
    </div>
  );
}

/** An `Empty` for a filtered list without matches. */
export function NoMatch({ clear }: { readonly clear?: () => void }) {
  return (
    <Empty
      title={t('No matches')}
      action={clear && <Button onClick={clear}>{t('Clear filters')}</Button>}
    >
      {t('Choose a longer period or remove a filter.')}
    </Empty>
  );
}

const query = matchMedia('(max-width: 599.98px)');

const isNarrow = signal(query.matches);

query.addEventListener('change', () => {
  isNarrow.value = query.matches;
});
