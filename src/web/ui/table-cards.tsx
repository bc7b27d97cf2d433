// A table as cards of two lines, for phones.

import type { ComponentChildren } from 'preact';
import { t } from '../text/t.ts';
import { SelectField } from './field.tsx';
import { Link } from './link.tsx';
import {
  type Column,
  cardPlaces,
  groupRows,
  type Sorter,
  type TableProps,
} from './table-column.ts';

export function Cards<Row>({
  caption,
  columns,
  rows,
  rowKey,
  href,
  group,
  note,
}: TableProps<Row> & { readonly rows: readonly Row[] }) {
  const places = cardPlaces(columns);
  const at = (place: string) => columns.filter((_, index) => places[index] === place);
  const details = columns.filter(
    ({ label }, index) =>
      label !== '' && (places[index] === 'detail' || places[index] === 'labelled'),
  );
  const buttons = columns.filter(({ label }) => label === '');
  return groupRows(rows, group).map(({ label, rows: members }) => [
    label && (
      <p class="divider" key={label}>
        {label}
      </p>
    ),
    <ul
      key={`${label} rows`}
      class="cards plain"
      // biome-ignore lint/a11y/noRedundantRoles: Safari drops the role of lists without bullets.
      role="list"
      aria-label={[caption, label].filter(Boolean).join(', ')}
    >
      {members.map((row) => (
        <li key={rowKey(row)} class={href ? 'linked' : undefined}>
          <div class="line">
            <div class="title">
              {href ? (
                <Link class="row-link" href={href(row)}>
                  {cells(at('title'), row)}
                </Link>
              ) : (
                cells(at('title'), row)
              )}
            </div>
            <div class="value">{cells(at('value'), row)}</div>
          </div>
          <div class="line">
            <div class="details">
              {details.map((column) => (
                <span key={column.label}>
                  <span class={column.end || column.card === 'labelled' ? 'soft' : 'sr-only'}>
                    {column.label}{' '}
                  </span>
                  {column.show(row)}
                </span>
              ))}
            </div>
            <div class="state">{cells(at('state'), row)}</div>
          </div>
          {note && <div class="note">{note(row)}</div>}
          {buttons.map((column, index) => (
            <div class="buttons" key={index}>
              {column.show(row)}
            </div>
          ))}
        </li>
      ))}
    </ul>,
  ]);
}

function cells<Row>(columns: readonly Column<Row>[], row: Row): ComponentChildren {
  return columns.map((column) => (
    <div key={column.label} class={column.wrap ? 'wrap' : undefined}>
      {column.show(row)}
    </div>
  ));
}

/** Cards have no heads to click, so the order is a choice above them. */
export function CardSort<Row>({
  columns,
  sorter: { sorting, keyOf, sort },
}: {
  readonly columns: readonly Column<Row>[];
  readonly sorter: Sorter<Row>;
}) {
  const options = columns.flatMap((column) => {
    const by = keyOf(column);
    if (by === undefined) return [];
    const { label } = column;
    return [
      { value: `-${by}`, label: t('{column}, descending', { column: label }) },
      { value: by, label: t('{column}, ascending', { column: label }) },
    ];
  });
  if (options.length === 0) return null;
  return (
    <SelectField
      label={t('Sort by')}
      value={sorting ? `${sorting.descending ? '-' : ''}${sorting.by}` : ''}
      options={[{ value: '', label: t('Default order') }, ...options]}
      onChange={(value) =>
        sort(
          value === ''
            ? undefined
            : { by: value.replace(/^-/, ''), descending: value.startsWith('-') },
        )
      }
    />
  );
}
