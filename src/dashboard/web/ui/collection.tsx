// A page for one collection: the list, a dialog to create a record, a dialog for values shown only
// once, and actions on rows.

import type { ComponentChildren } from 'preact';
import { useRef, useState } from 'preact/hooks';
import type { Query } from './api.ts';
import { Button } from './button.tsx';
import { Card, Empty, Page } from './parts.tsx';
import { may, type Needed } from './permission.ts';
import { useList } from './resource.ts';
import { isFrozen } from './session.ts';
import { ListTable } from './table.tsx';
import type { Column, ListSort } from './table-column.ts';

export type ChangeDialogProps = {
  /** Reloads what the page shows. */
  readonly onDone: () => unknown;
  readonly onClose: () => void;
};

export type DialogProps<Shown> = ChangeDialogProps & {
  /** Reloads the list and shows a value that cannot be shown later. */
  readonly onShown: (shown: Shown) => void;
};

export type RowAction<Row, Shown = never> = {
  readonly label: string;
  /** Names the target: `Revoke` is read out as `Revoke the key laptop`. */
  readonly called: (row: Row) => string;
  readonly danger?: boolean;
  /** Hidden from operators whose role does not allow it. */
  readonly needs?: Needed;
  /** Applies to all rows if absent. */
  readonly isOffered?: (row: Row) => boolean;
  readonly dialog: (row: Row, dialog: DialogProps<Shown>) => ComponentChildren;
};

type Columns<Row> = readonly [Column<Row>, ...Column<Row>[]];

type Open<Row, Shown> =
  | { readonly kind: 'create' }
  | { readonly kind: 'shown'; readonly shown: Shown }
  | { readonly kind: 'row'; readonly row: Row; readonly action: RowAction<Row, Shown> };

/** `Shown` is a value that is shown only once, such as a new key. */
export function Collection<Row extends { readonly id: string }, Shown = never>({
  title,
  lead,
  within = false,
  path,
  query,
  name,
  sort,
  columns,
  href,
  empty,
  noMatch,
  create,
  actions = [],
  shown,
  onChange,
  children,
}: {
  readonly title: string;
  readonly lead?: string;
  /** Part of another page, which has the heading. */
  readonly within?: boolean;
  readonly path: string;
  readonly query?: Query;
  /** Lets the user choose columns and density, stored under this name. */
  readonly name?: string;
  /** Of `useSort`, for a list that the server sorts. */
  readonly sort?: ListSort;
  /** A function gets what refreshes the list, for cells that change their row. */
  readonly columns: Columns<Row> | ((refresh: () => void) => Columns<Row>);
  readonly href?: (row: Row) => string;
  readonly empty: { readonly title: string; readonly text: string };
  /** Shown instead of `empty` while a filter is set. */
  readonly noMatch?: ComponentChildren;
  readonly create: {
    readonly label: string;
    readonly needs?: Needed;
    readonly dialog: (dialog: DialogProps<Shown>) => ComponentChildren;
  };
  readonly actions?: readonly RowAction<Row, Shown>[];
  readonly shown?: (shown: Shown, onClose: () => void) => ComponentChildren;
  readonly onChange?: () => unknown;
  /** Filters or figures above the list. */
  readonly children?: ComponentChildren;
}) {
  const list = useList<Row>(path, { ...query, sort: sort?.query });
  const { open, show, close } = useDialog<Open<Row, Shown>>();
  const reload = () => Promise.all([list.reload(), onChange?.()]);
  const dialog: DialogProps<Shown> = {
    onDone: reload,
    onShown(what) {
      show({ kind: 'shown', shown: what });
      void reload();
    },
    onClose: close,
  };
  const createButton = (
    <Button
      kind={within ? 'plain' : 'primary'}
      {...(create.needs ? { needs: create.needs } : {})}
      disabled={isFrozen.value}
      onClick={() => show({ kind: 'create' })}
    >
      {create.label}
    </Button>
  );
  const isEmpty = list.rows.value?.length === 0 && !noMatch;
  const table = (
    <ListTable
      caption={title}
      list={list}
      {...(name === undefined ? {} : { name })}
      {...(sort === undefined ? {} : { sort })}
      rowKey={({ id }) => id}
      {...(href ? { href } : {})}
      columns={withActions(
        typeof columns === 'function' ? columns(list.refresh) : columns,
        actions,
        (row, action) => show({ kind: 'row', row, action }),
      )}
      empty={
        noMatch || (
          <Empty title={empty.title} action={createButton}>
            {empty.text}
          </Empty>
        )
      }
    />
  );
  return (
    <>
      {within ? (
        <>
          {table}
          {!isEmpty && <div class="table-foot">{createButton}</div>}
        </>
      ) : (
        <Page title={title} lead={lead} actions={!isEmpty && createButton}>
          {children}
          <Card flush>{table}</Card>
        </Page>
      )}
      {open?.kind === 'create' && create.dialog(dialog)}
      {open?.kind === 'row' && open.action.dialog(open.row, dialog)}
      {open?.kind === 'shown' && shown?.(open.shown, close)}
    </>
  );
}

/** The open dialog. `close` closes only the dialog it was created for. */
export function useDialog<Open>() {
  const [open, setOpen] = useState<Open | undefined>(undefined);
  const current = useRef(open);
  function show(next: Open | undefined): void {
    current.current = next;
    setOpen(() => next);
  }
  function close(): void {
    if (current.current !== open) return;
    show(undefined);
  }
  return { open, show, close } as const;
}

/** Row actions go to the end of the row. */
function withActions<Row, Shown>(
  columns: Columns<Row>,
  actions: readonly RowAction<Row, Shown>[],
  act: (row: Row, action: RowAction<Row, Shown>) => void,
): readonly Column<Row>[] {
  if (actions.length === 0) return columns;
  const buttons = (row: Row) =>
    actions
      .filter(({ needs, isOffered }) => may(needs) && (isOffered?.(row) ?? true))
      .map((action) => (
        <Button
          key={action.label}
          kind={action.danger ? 'quiet-danger' : 'quiet'}
          size="small"
          disabled={isFrozen.value && !action.danger}
          aria-label={`${action.label} ${action.called(row)}`}
          onClick={() => act(row, action)}
        >
          {action.label}
        </Button>
      ));
  return [...columns, { label: '', end: true, show: buttons }];
}
