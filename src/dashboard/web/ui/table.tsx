// Tables: records with sortable columns, links, an empty state, and paging. On phones they are cards.

import { signal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useRef, useState } from 'preact/hooks';
import { t } from '../text/t.ts';
import { Button } from './button.tsx';
import { Link } from './link.tsx';
import { Empty, ErrorAlert, Skeleton } from './parts.tsx';
import type { ListResource } from './resource.ts';
import { nextSorting, type Sorting } from './sorting.ts';
import { CardSort, Cards } from './table-cards.tsx';
import {
  type Column,
  type ListSort,
  orderColumns,
  type Sorter,
  sortRows,
  type TableProps,
} from './table-column.ts';
import { type Pins, usePins } from './table-pins.ts';
import { useTableView } from './table-view.tsx';

export type { Column } from './table-column.ts';

/** A table whose rows are all loaded. Put it into a `Card` with `flush`. */
export function Table<Row>({
  rows,
  empty,
  ...table
}: TableProps<Row> & {
  readonly rows: readonly Row[];
  /** Shown when there are no rows; absent: the head of the table alone. */
  readonly empty?: ComponentChildren;
}) {
  const [sorting, setSorting] = useState<Sorting | undefined>(undefined);
  const sorter: Sorter<Row> = {
    sorting,
    keyOf: ({ label, sortBy }) => (sortBy === undefined ? undefined : label),
    sort: setSorting,
  };
  if (rows.length === 0 && empty !== undefined) return <>{empty}</>;
  return <Frame {...table} rows={sortRows(rows, table.columns, sorting)} sorter={sorter} />;
}

type FrameProps<Row> = TableProps<Row> & {
  readonly rows: readonly Row[];
  readonly sorter: Sorter<Row>;
};

function Frame<Row>({ columns, name, sorter, ...table }: FrameProps<Row>) {
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

function Grid<Row>({ caption, columns, rows, rowKey, href, sorter }: FrameProps<Row>) {
  const texts = columns.findLastIndex(({ end, label }) => !end && label !== '') + 1;
  const { box, pins } = usePins(columns.length - texts);
  const scrolls = pins.wide
    ? { role: 'group' as const, tabIndex: 0, 'aria-label': caption, class: 'table-scroll wide' }
    : { class: 'table-scroll' };
  return (
    // Focusable where it scrolls, so that keys can scroll it.
    <div ref={box} {...scrolls} onPointerMove={tellCut}>
      <table>
        <caption class="sr-only">{caption}</caption>
        <thead>
          <tr>
            {columns.map((column, index) => (
              <Head
                key={column.label}
                column={column}
                sorter={sorter}
                style={cellStyle(columns, index, pins)}
              />
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={rowKey(row)} class={href ? 'linked' : undefined}>
              {columns.map((column, index) => (
                <td key={column.label} class={cellStyle(columns, index, pins)}>
                  {href && index === 0 ? (
                    <Link class="row-link" href={href(row)}>
                      {cell(column, row)}
                    </Link>
                  ) : (
                    cell(column, row)
                  )}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** Text is cut at the width of its column. */
function cell<Row>(column: Column<Row>, row: Row): ComponentChildren {
  const content = column.show(row);
  return column.end || column.wrap ? content : <div class="cut">{content}</div>;
}

function cellStyle<Row>(columns: readonly Column<Row>[], index: number, pins: Pins): string {
  const column = columns[index];
  const fromEnd = columns.length - 1 - index;
  const kind = column?.end ? 'end' : column?.wrap ? 'wrap' : 'text';
  return fromEnd < pins.count ? `${kind} pin pin-${fromEnd}` : kind;
}

/**
 * Gives the link of a row the title of the cell below the pointer, because the link covers the row.
 * A cell that is cut has its whole text as title.
 */
function tellCut(event: PointerEvent): void {
  const below = document.elementsFromPoint(event.clientX, event.clientY);
  const td = below.find((element) => element instanceof HTMLTableCellElement);
  if (td === undefined) return;
  const link = td.closest('tr')?.querySelector<HTMLElement>('.row-link');
  const holder = link ?? td;
  const named = below.find((element) => element !== holder && element.hasAttribute('title'));
  const cut = [...td.querySelectorAll('.cut, .cut div')].filter(
    (element) => element.querySelector('div') === null,
  );
  const isCut = cut.some(({ scrollHeight, clientHeight }) => scrollHeight > clientHeight + 1);
  const title = td.contains(named ?? null)
    ? (named?.getAttribute('title') ?? '')
    : isCut
      ? cut.map(({ textContent }) => textContent).join(' ')
      : '';
  if (holder.title !== title) holder.title = title;
}

function Head<Row>({
  column,
  sorter,
  style,
}: {
  readonly column: Column<Row>;
  readonly sorter: Sorter<Row>;
  readonly style: string;
}) {
  const { sorting, keyOf, sort } = sorter;
  const by = keyOf(column);
  if (by === undefined) {
    return (
      <th scope="col" class={style}>
        {column.label || <span class="sr-only">{t('Actions')}</span>}
      </th>
    );
  }
  const isSorted = sorting?.by === by;
  return (
    <th
      scope="col"
      class={style}
      aria-sort={!isSorted ? 'none' : sorting.descending ? 'descending' : 'ascending'}
    >
      <button type="button" onClick={() => sort(nextSorting(by, column.end === true, sorter))}>
        {column.label}
      </button>
    </th>
  );
}

/**
 * A `useList` list as a table with loading, error and empty states and "Show more". With `sort` of
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
  const loading = list.loading.value;
  if (rows === undefined) {
    return (
      <div class="table-pad">
        {error ? <ErrorAlert error={error} retry={list.reload} /> : <Skeleton lines={6} />}
      </div>
    );
  }
  return (
    <>
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
      {list.hasMore.value && (
        <div class="table-foot">
          <span class="soft">{t('{rows} shown', { rows: rows.length })}</span>
          <Button size="small" busy={loading} onClick={() => void list.more()}>
            {t('Show more')}
          </Button>
        </div>
      )}
    </>
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
