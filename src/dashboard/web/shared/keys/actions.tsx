// The actions on a key that both audiences have.

import type { BoundKeyRecord } from '../../../records/key.ts';
import { t } from '../../text/t.ts';
import type { RowAction } from '../../ui/collection.tsx';
import type { Audience } from '../audience.ts';
import { EditKeyDialog, PauseKeyDialog, ResumeKeyDialog } from './bounds.tsx';

/** Only operators resume a key that an operator paused; they may pause one that its owner paused. */
export function boundsActions<Row extends BoundKeyRecord, Shown>(
  audience: Audience,
  called: (record: Row) => string,
): readonly RowAction<Row, Shown>[] {
  const isOperator = audience === 'all';
  const common = { called, ...(isOperator ? { needs: 'keys.manage' as const } : {}) };
  return [
    {
      ...common,
      label: t('Edit'),
      isOffered: ({ status }) => status !== 'revoked',
      dialog: (record, dialog) => <EditKeyDialog record={record} {...dialog} />,
    },
    {
      ...common,
      label: t('Pause'),
      isOffered: ({ status, paused_at, paused_reason }) =>
        status === 'active' && (isOperator ? paused_reason !== 'operator' : paused_at === null),
      dialog: (record, dialog) => <PauseKeyDialog record={record} {...dialog} />,
    },
    {
      ...common,
      label: t('Resume'),
      isOffered: ({ status, paused_at, paused_reason }) =>
        status === 'active' && paused_at !== null && (isOperator || paused_reason !== 'operator'),
      dialog: (record, dialog) => <ResumeKeyDialog record={record} {...dialog} />,
    },
  ];
}
