// The grid of a table: heads, rows in groups, and notes below rows.

import { type ComponentChildren, Fragment } from 'preact';
import { t } from '../text/t.ts';
import { isPlainClick, Link } from './link.tsx';
import { nextSorting } from './sorting.ts';
import { type Column, groupRows, type Sorter, type TableProps } from './table-column.ts';
import { type Pins, usePins } from './table-pins.ts';

export type GridProps<Row> = TableProps<Row> & {
  readonly rows: readonly Row[];
  readonly sorter: Sorter<Row>;
};

/** `columns` are in the order of `orderColumns`. */
export function Grid<Row>({
  caption,
  columns,
  rows,
  rowKey,
  href,
  onOpen,
  sorter,
  group,
  note,
  current,
}: GridProps<Row>) {
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
        {groupRows(rows, group).map(({ label, rows: members }) => (
          <tbody key={label}>
            {label && (
              <tr class="divider">
                <th scope="rowgroup" colSpan={columns.length}>
                  {label}
                </th>
              </tr>
            )}
            {members.map((row) => {
              const key = rowKey(row);
              const noted = note?.(row);
              return (
                <Fragment key={key}>
                  <tr class={rowStyle(href !== undefined, Boolean(noted), key === current)}>
                    {columns.map((column, index) => (
                      <td key={column.label} class={cellStyle(columns, index, pins)}>
                        {href && index === 0 ? (
                          <Link
                            class="row-link"
                            href={href(row)}
                            onClick={onOpen && ((event) => openPlain(event, () => onOpen(row)))}
                            aria-current={key === current ? 'true' : undefined}
                          >
                            {cell(column, row)}
                          </Link>
                        ) : (
                          cell(column, row)
                        )}
                      </td>
                    ))}
                  </tr>
                  {noted && (
                    <tr class="note">
                      <td />
                      <td colSpan={columns.length - 1}>{noted}</td>
                    </tr>
                  )}
                </Fragment>
              );
            })}
          </tbody>
        ))}
      </table>
    </div>
  );
}

function openPlain(event: MouseEvent, open: () => void): void {
  if (!isPlainClick(event)) return;
  event.preventDefault();
  open();
}

function rowStyle(isLinked: boolean, hasNote: boolean, isCurrent: boolean): string {
  const styles = { linked: isLinked, 'has-note': hasNote, current: isCurrent };
  return Object.keys(styles)
    .filter((style) => styles[style as keyof typeof styles])
    .join(' ');
}

/** Text is cut at the width of its column. */
function cell<Row>(column: Column<Row>, row: Row): ComponentChildren {
  const content = column.show(row);
  return column.end || column.wrap || column.fit === 'whole' ? (
    content
  ) : (
    <div class="cut">{content}</div>
  );
}

function cellStyle<Row>(columns: readonly Column<Row>[], index: number, pins: Pins): string {
  const column = columns[index];
  const fromEnd = columns.length - 1 - index;
  const kind = column?.end ? 'end' : column?.wrap ? 'wrap' : cutStyle(column?.fit);
  return fromEnd < pins.count ? `${kind} pin pin-${fromEnd}` : kind;
}

function cutStyle(fit: Column<never>['fit']): string {
  return fit === 'whole' ? 'whole' : fit === 'name' ? 'text name' : 'text';
}

/**
 * Gives the link of a row the title of the cell below the pointer, because the link covers the row.
 * A cell that is cut has its whole text as title.
 */
function tellCut(event: PointerEvent): void {
  const below = document
    .elementsFromPoint(event.clientX, event.clientY)
    .filter((element) => element instanceof HTMLElement);
  const td = below.find((element) => element instanceof HTMLTableCellElement);
  if (td === undefined) return;
  const link = below.find((element) => element.matches('.row-link'));
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
