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
  readonly columns: Columns<Row>;
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
  const reload = () => Promise.all([list.reload(), onChange?.()]);
  const { start, buttonsOf, dialog } = useActions({ actions, shown, reload });
  const createButton = (
    <Button
      kind={within ? 'plain' : 'primary'}
      {...(create.needs ? { needs: create.needs } : {})}
      disabled={isFrozen.value}
      onClick={() => start(create.dialog)}
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
      columns={
        actions.length === 0 ? columns : [...columns, { label: '', end: true, show: buttonsOf }]
      }
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
      {dialog}
    </>
  );
}

type Draw<Shown> = (dialog: DialogProps<Shown>) => ComponentChildren;

/** The buttons of actions, and the dialog that one of them has opened. */
export function useActions<Row, Shown>({
  actions,
  shown,
  reload,
}: {
  readonly actions: readonly RowAction<Row, Shown>[];
  readonly shown?: ((shown: Shown, onClose: () => void) => ComponentChildren) | undefined;
  readonly reload: () => unknown;
}) {
  const [open, setOpen] = useState<Draw<Shown> | undefined>(undefined);
  const current = useRef(open);
  function show(next: Draw<Shown> | undefined): void {
    current.current = next;
    setOpen(() => next);
  }
  const dialog: DialogProps<Shown> = {
    onDone: reload,
    onShown(what) {
      show(({ onClose }) => shown?.(what, onClose));
      void reload();
    },
    /** Closes only the dialog that it was created for. */
    onClose() {
      if (current.current === open) show(undefined);
    },
  };
  const buttonsOf = (row: Row) =>
    actions
      .filter(({ needs, isOffered }) => may(needs) && (isOffered?.(row) ?? true))
      .map((action) => (
        <Button
          key={action.label}
          kind={action.danger ? 'quiet-danger' : 'quiet'}
          size="small"
          disabled={isFrozen.value && !action.danger}
          aria-label={`${action.label} ${action.called(row)}`}
          onClick={() => show((props) => action.dialog(row, props))}
        >
          {action.label}
        </Button>
      ));
  return { start: show, buttonsOf, dialog: open?.(dialog) };
}
