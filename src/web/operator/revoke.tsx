// Revokes what operators issue and show once: invitations, redemption codes and tokens.

import type { ComponentChildren } from 'preact';
import { t } from '../text/t.ts';
import { post } from '../ui/api.ts';
import type { RowAction } from '../ui/collection.tsx';
import { ConfirmDialog } from '../ui/dialog.tsx';

type Revocation<Row> = Pick<Required<RowAction<Row>>, 'needs' | 'called' | 'isOffered'> & {
  /** The list that the row is in, such as `/codes`. */
  readonly path: string;
  readonly title: (row: Row) => string;
  /** The label of the button that does it. */
  readonly confirm: string;
  readonly consequences: (row: Row) => readonly ComponentChildren[];
  /** Said afterwards. */
  readonly done: string;
};

export function revokeAction<Row extends { readonly id: string }, Shown>({
  path,
  title,
  confirm,
  consequences,
  done,
  ...offer
}: Revocation<Row>): RowAction<Row, Shown> {
  return {
    ...offer,
    label: t('Revoke'),
    danger: true,
    dialog: (row, dialog) => (
      <ConfirmDialog
        title={title(row)}
        danger
        confirm={confirm}
        consequences={consequences(row)}
        act={() => post(`${path}/${row.id}/revoke`)}
        done={done}
        {...dialog}
      />
    ),
  };
}
