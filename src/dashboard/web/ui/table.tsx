// Tables: records with sortable columns, links, an empty state, and paging.

import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { Link } from 'wouter-preact';
import { Button } from './button.tsx';
import { Empty, ErrorAlert, Skeleton } from './parts.tsx';
import type { ListResource } from './resource.ts';

export type Column<Row> = {
  readonly label: string;
  readonly show: (row: Row) => ComponentChildren;
  /** Aligns numbers to the end. */
  readonly end?: boolean;
  /** Long text that may wrap. */
  readonly wrap?: boolean;
  /** The sort key, sorted in the browser: only if all rows are loaded. */
  readonly sortBy?: (row: Row) => string | number | bigint;
};

type TableProps<Row> = {
  /** Describes the table to screen readers. */
  readonly caption: string;
  readonly columns: readonly Column<Row>[];
  readonly rowKey: (row: Row) => string;
  /** The target of a row; the first column becomes its link. */
  readonly href?: (row: Row) => string;
};

type Sorting = { readonly column: number; readonly descending: boolean };

/** A table whose rows are all loaded. Put it into a `Card` with `flush`. */
export function Table<Row>({
  caption,
  columns,
  rows,
  rowKey,
  href,
}: TableProps<Row> & { readonly rows: readonly Row[] }) {
  const [sorting, setSorting] = useState<Sorting | undefined>(undefined);
  const shown = sorted(rows, columns, sorting);
  return (
    // Focusable, so that keys can scroll it. Not a landmark: the card around it is one.
    // biome-ignore lint/a11y/useSemanticElements: it is not a set of fields.
    // biome-ignore lint/a11y/noNoninteractiveTabindex: otherwise keys could not scroll it.
    <div role="group" class="table-scroll" tabIndex={0} aria-label={caption}>
      <table>
        <caption class="sr-only">{caption}</caption>
        <thead>
          <tr>
            {columns.map((column, index) => (
              <Head
                key={column.label}
                column={column}
                sorting={sorting?.column === index ? sorting : undefined}
                onSort={() =>
                  setSorting({
                    column: index,
                    descending: sorting?.column === index ? !sorting.descending : !!column.end,
                  })
                }
              />
            ))}
          </tr>
        </thead>
        <tbody>
          {shown.map((row) => (
            <tr key={rowKey(row)} class={href ? 'linked' : undefined}>
              {columns.map((column, index) => (
                <td
                  key={column.label}
                  class={column.end ? 'end' : column.wrap ? 'wrap' : undefined}
                >
                  {href && index === 0 ? (
                    <Link class="row-link" href={href(row)}>
                      {column.show(row)}
                    </Link>
                  ) : (
                    column.show(row)
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

function Head<Row>({
  column,
  sorting,
  onSort,
}: {
  readonly column: Column<Row>;
  readonly sorting: Sorting | undefined;
  readonly onSort: () => void;
}) {
  const side = column.end ? 'end' : undefined;
  if (column.sortBy === undefined) {
    return (
      <th scope="col" class={side}>
        {column.label || <span class="sr-only">Actions</span>}
      </th>
    );
  }
  return (
    <th
      scope="col"
      class={side}
      aria-sort={sorting === undefined ? 'none' : sorting.descending ? 'descending' : 'ascending'}
    >
      <button type="button" onClick={onSort}>
        {column.label}
      </button>
    </th>
  );
}

function sorted<Row>(
  rows: readonly Row[],
  columns: readonly Column<Row>[],
  sorting: Sorting | undefined,
): readonly Row[] {
  const by = sorting && columns[sorting.column]?.sortBy;
  if (!by) return rows;
  const sign = sorting.descending ? -1 : 1;
  return [...rows].sort((one, other) => {
    const a = by(one);
    const b = by(other);
    return a === b ? 0 : a < b ? -sign : sign;
  });
}

/** A `useList` list as a table with loading, error and empty states and "Show more". */
export function ListTable<Row>({
  list,
  empty,
  ...table
}: TableProps<Row> & {
  readonly list: ListResource<Row>;
  /** Shown when there are no rows: an `Empty` that says what to do. */
  readonly empty: ComponentChildren;
}) {
  const rows = list.rows.value;
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
      {rows.length === 0 ? empty : <Table rows={rows} {...table} />}
      {error && (
        <div class="table-pad">
          <ErrorAlert error={error} retry={list.reload} />
        </div>
      )}
      {list.hasMore.value && (
        <div class="table-foot">
          <span class="soft">{rows.length} shown</span>
          <Button size="small" busy={loading} onClick={() => void list.more()}>
            Show more
          </Button>
        </div>
      )}
    </>
  );
}

/** An `Empty` for a filtered list without matches. */
export function NoMatch({ clear }: { readonly clear?: () => void }) {
  return (
    <Empty title="No matches" action={clear && <Button onClick={clear}>Clear filters</Button>}>
      Choose a longer period or remove a filter.
    </Empty>
  );
}
