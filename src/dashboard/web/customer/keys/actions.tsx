// The actions on one key, each in a dialog that states the consequences.

import { useState } from 'preact/hooks';
import type {
  CreatedKeyRecord,
  KeyRecord,
  ListedKeyRecord,
  RotatedKeyRecord,
} from '../../../records/key.ts';
import { boundsActions } from '../../shared/keys/actions.tsx';
import { rich } from '../../text/rich.ts';
import { t } from '../../text/t.ts';
import { post } from '../../ui/api.ts';
import type { DialogProps, RowAction } from '../../ui/collection.tsx';
import { ConfirmDialog } from '../../ui/dialog.tsx';
import { SelectField, type SelectOption } from '../../ui/field.tsx';

/** A key that is shown once, with the masked form of the key it replaces. */
export type ShownKey = {
  readonly created: CreatedKeyRecord;
  readonly replaced?: string;
  /** Until when the replaced key works; absent if it is revoked. */
  readonly worksUntil?: string | undefined;
};

type Props = DialogProps<ShownKey> & { readonly record: KeyRecord };

const called = ({ name, masked }: KeyRecord) => t('the key {name}', { name: name ?? masked });
const fullName = ({ name, masked }: KeyRecord) => (name === null ? masked : `${name} (${masked})`);

export const KEY_ACTIONS: readonly RowAction<ListedKeyRecord, ShownKey>[] = [
  {
    label: t('Rotate'),
    called,
    isOffered: ({ status, replaced_by }) => status === 'active' && replaced_by === null,
    dialog: (record, dialog) => <RotateDialog record={record} {...dialog} />,
  },
  ...boundsActions<ListedKeyRecord, ShownKey>('account', called),
  {
    label: t('Revoke'),
    called,
    danger: true,
    isOffered: ({ status }) => status !== 'revoked',
    dialog: (record, dialog) => <RevokeDialog record={record} {...dialog} />,
  },
];

const GRACES: readonly SelectOption[] = [
  { value: '0', label: t('None: revoke it now') },
  { value: '3600', label: t('1 hour') },
  { value: '86400', label: t('24 hours') },
  { value: '604800', label: t('7 days') },
];

function RotateDialog({ record, onShown, onClose }: Props) {
  const [grace, setGrace] = useState('0');
  const isNow = grace === '0';
  return (
    <ConfirmDialog
      title={t('Rotate this key?')}
      confirm={t('Rotate key')}
      consequences={[
        rich(
          'Creates a replacement for <strong>{name}</strong> with the same name and expiry. It is shown once, in the next step.',
          { name: fullName(record), strong: (children) => <strong>{children}</strong> },
        ),
        isNow
          ? t('The old key stops working everywhere within 1 second.')
          : t('The old key works until the end of the grace period. You can revoke it earlier.'),
        t('Requests in progress finish normally.'),
        isNow
          ? t(
              'The number of active keys stays the same. The new key counts toward your hourly creation limit.',
            )
          : t(
              'During the grace period, both keys count toward the limit of your plan. The new key counts toward your hourly creation limit.',
            ),
      ]}
      act={async () => {
        const { created, replaced } = await post<RotatedKeyRecord>(`/keys/${record.id}/rotate`, {
          grace_seconds: Number(grace),
        });
        onShown({
          created,
          replaced: record.masked,
          worksUntil: replaced.status === 'active' ? (replaced.expires_at ?? undefined) : undefined,
        });
      }}
      onClose={onClose}
    >
      <SelectField
        label={t('Grace period of the old key')}
        options={GRACES}
        value={grace}
        onChange={setGrace}
      />
    </ConfirmDialog>
  );
}

function RevokeDialog({ record, ...dialog }: Props) {
  const name = fullName(record);
  return (
    <ConfirmDialog
      title={t('Revoke this key?')}
      danger
      confirm={t('Revoke key')}
      consequences={[
        rich('{name} stops working everywhere within 1 second.', {
          name: <strong>{name}</strong>,
        }),
        t('Requests in progress finish normally.'),
        t('This can’t be undone. If you still need the key, rotate it instead.'),
      ]}
      act={() => post(`/keys/${record.id}/revoke`)}
      done={t('Key {name} revoked.', { name })}
      {...dialog}
    />
  );
}
