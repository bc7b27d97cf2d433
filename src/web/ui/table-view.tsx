// The user's choice of columns and density of a table, stored in this browser.

import { useState } from 'preact/hooks';
import { t } from '../text/t.ts';
import { Button } from './button.tsx';
import { Dialog, DialogClose } from './dialog.tsx';
import { CheckField } from './field.tsx';
import { readStoredJson, store } from './stored.ts';
import type { Column } from './table-column.ts';
import { Segments } from './tabs.tsx';

type Density = 'comfortable' | 'compact';

type TableView = {
  readonly density: Density;
  /** By label, only those that the user changed. */
  readonly columns: Readonly<Record<string, boolean>>;
};

const DEFAULT_VIEW: TableView = { density: 'comfortable', columns: {} };

const DENSITIES: readonly { readonly id: Density; readonly label: string }[] = [
  { id: 'comfortable', label: t('Comfortable') },
  { id: 'compact', label: t('Compact') },
];

/** The shown columns, and the button that opens the dialog. A table without `name` has neither. */
export function useTableView<Row>(name: string | undefined, columns: readonly Column<Row>[]) {
  const [view, setView] = useState(() => readView(name));
  const [open, setOpen] = useState(false);
  const choose = (next: TableView) => {
    setView(next);
    store(STORED_AS + name, JSON.stringify(next));
  };
  const shown = columns.filter((column, index) => isShown(view, column, index));
  const controls = name !== undefined && (
    <>
      <button
        type="button"
        class="button quiet icon table-view"
        aria-label={t('Columns and density')}
        title={t('Columns and density')}
        onClick={() => setOpen(true)}
      >
        <svg viewBox="0 0 16 16" aria-hidden="true">
          <path d="M1 4h8m4 0h2M1 12h2m4 0h8" />
          <circle cx="11" cy="4" r="2" />
          <circle cx="5" cy="12" r="2" />
        </svg>
      </button>
      {open && (
        <ViewDialog view={view} columns={columns} choose={choose} onClose={() => setOpen(false)} />
      )}
    </>
  );
  return { shown, density: view.density, controls } as const;
}

/** The first column and the buttons cannot be hidden. */
function isShown<Row>({ columns }: TableView, column: Column<Row>, index: number): boolean {
  if (index === 0 || column.label === '') return true;
  return columns[column.label] ?? column.optional !== true;
}

function ViewDialog<Row>({
  view,
  columns,
  choose,
  onClose,
}: {
  readonly view: TableView;
  readonly columns: readonly Column<Row>[];
  readonly choose: (view: TableView) => void;
  readonly onClose: () => void;
}) {
  return (
    <Dialog title={t('Columns and density')} onClose={onClose}>
      <Segments
        label={t('Density')}
        choices={DENSITIES}
        active={view.density}
        onChange={(density) => choose({ ...view, density })}
      />
      <div class="fields">
        {columns.map(
          (column, index) =>
            index > 0 &&
            column.label !== '' && (
              <CheckField
                key={column.label}
                label={column.label}
                checked={isShown(view, column, index)}
                onChange={(isChosen) =>
                  choose({ ...view, columns: { ...view.columns, [column.label]: isChosen } })
                }
              />
            ),
        )}
      </div>
      <div class="row apart">
        <Button kind="quiet" onClick={() => choose(DEFAULT_VIEW)}>
          {t('Reset')}
        </Button>
        <DialogClose onClose={onClose} />
      </div>
    </Dialog>
  );
}

const STORED_AS = 'tollgate-table-';

function readView(name: string | undefined): TableView {
  const stored = name === undefined ? undefined : readStoredJson(STORED_AS + name);
  if (typeof stored !== 'object' || stored === null) return DEFAULT_VIEW;
  const { density, columns } = stored as Partial<Record<keyof TableView, unknown>>;
  return {
    density: density === 'compact' ? 'compact' : 'comfortable',
    columns: Object.fromEntries(
      Object.entries(columns ?? {}).filter(([, isChosen]) => typeof isChosen === 'boolean'),
    ),
  };
}
