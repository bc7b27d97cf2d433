// The actions on a key, each in a dialog that states the consequences.

import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import type {
  BoundKeyRecord,
  KeyRecord,
  RotatedKeyRecord,
} from '../../../dashboard/records/key.ts';
import { rich } from '../../text/rich.ts';
import { t } from '../../text/t.ts';
import { post } from '../../ui/api.ts';
import type { DialogProps, RowAction } from '../../ui/collection.tsx';
import { ConfirmDialog } from '../../ui/dialog.tsx';
import { SelectField, type SelectOption } from '../../ui/field.tsx';
import { humanize } from '../../ui/format.ts';
import { ShownOnceDialog } from '../../ui/shown-once.tsx';
import { Time } from '../../ui/text.tsx';
import type { Audience } from '../audience.ts';
import { codeWords } from '../audit/labels.ts';
import { EditKeyDialog, PauseKeyDialog, ResumeKeyDialog } from './bounds.tsx';

/** A key that is shown once, with the masked form of the key it replaces. */
export type ShownKey = {
  readonly key: string;
  readonly replaced?: string;
  /** Until when the replaced key works; absent if it is revoked. */
  readonly worksUntil?: string | undefined;
};

type Props = DialogProps<ShownKey> & { readonly record: KeyRecord; readonly audience: Audience };

const called = ({ name, masked }: KeyRecord) => t('the key {name}', { name: name ?? masked });
const fullName = ({ name, masked }: KeyRecord) => (name === null ? masked : `${name} (${masked})`);

/** The actions that end a key. */
export function endingActions(audience: Audience): readonly RowAction<KeyRecord, ShownKey>[] {
  const common = { ...needs(audience), called };
  return [
    {
      ...common,
      label: t('Rotate'),
      isOffered: ({ status, replaced_by }) => status === 'active' && replaced_by === null,
      dialog: (record, dialog) => <RotateDialog {...{ record, audience, ...dialog }} />,
    },
    {
      ...common,
      label: t('Revoke'),
      danger: true,
      isOffered: ({ status }) => status !== 'revoked',
      dialog: (record, dialog) => <RevokeDialog {...{ record, audience, ...dialog }} />,
    },
  ];
}

/** Only operators resume a key that an operator paused; they may pause one that its owner paused. */
export function keyActions(audience: Audience): readonly RowAction<BoundKeyRecord, ShownKey>[] {
  const isOperator = audience === 'all';
  const common = { ...needs(audience), called };
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
    ...endingActions(audience),
  ];
}

function needs(audience: Audience) {
  return audience === 'all' ? { needs: 'keys.manage' as const } : {};
}

export function ShownKeyDialog({
  audience,
  shown: { key, replaced, worksUntil },
  use,
  onClose,
}: {
  readonly audience: Audience;
  readonly shown: ShownKey;
  readonly use?: ComponentChildren;
  readonly onClose: () => void;
}) {
  const old = <code>{replaced}</code>;
  return (
    <ShownOnceDialog
      title={replaced === undefined ? t('New API key') : t('Replacement key')}
      label={t('the key')}
      lines={[key]}
      use={use}
      onClose={onClose}
    >
      {replaced !== undefined &&
        (worksUntil === undefined
          ? rich('It replaces {replaced}, which no longer works.', { replaced: old })
          : rich('It replaces {replaced}, which works until {at}.', {
              replaced: old,
              at: <Time at={worksUntil} />,
            }))}{' '}
      {audience === 'all'
        ? t('Send it only to its owner.')
        : t('Store it in a secret manager. The server stores only a hash of it.')}
    </ShownOnceDialog>
  );
}

const GRACES: readonly SelectOption[] = [
  { value: '0', label: t('None: revoke it now') },
  { value: '3600', label: t('1 hour') },
  { value: '86400', label: t('24 hours') },
  { value: '604800', label: t('7 days') },
];

/** Operators rotate without a grace period. */
function RotateDialog({ record, audience, onShown, onClose }: Props) {
  const [grace, setGrace] = useState('0');
  const isNow = grace === '0';
  const isOwn = audience === 'account';
  const counted = isNow
    ? t(
        'The number of active keys stays the same. The new key counts toward your hourly creation limit.',
      )
    : t(
        'During the grace period, both keys count toward the limit of your plan. The new key counts toward your hourly creation limit.',
      );
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
        isOwn
          ? counted
          : t('If possible, let the owner rotate the key, so that only the owner sees it.'),
      ]}
      act={async () => {
        const body = isOwn ? { grace_seconds: Number(grace) } : undefined;
        const { created, replaced } = await post<RotatedKeyRecord>(
          `/keys/${record.id}/rotate`,
          body,
        );
        onShown({
          key: created.key,
          replaced: record.masked,
          worksUntil: replaced.status === 'active' ? (replaced.expires_at ?? undefined) : undefined,
        });
      }}
      onClose={onClose}
    >
      {isOwn && (
        <SelectField
          label={t('Grace period of the old key')}
          options={GRACES}
          value={grace}
          onChange={setGrace}
        />
      )}
    </ConfirmDialog>
  );
}

const REASONS: readonly SelectOption[] = ['operator', 'leak_report', 'user', 'account_closed'].map(
  (value) => ({ value, label: humanize(codeWords(value)) }),
);

/** Operators give a reason. */
function RevokeDialog({ record, audience, ...dialog }: Props) {
  const [reason, setReason] = useState('operator');
  const isOwn = audience === 'account';
  const name = fullName(record);
  return (
    <ConfirmDialog
      title={t('Revoke this key?')}
      danger
      confirm={t('Revoke key')}
      consequences={[
        rich('Within 1 second, requests with {name} are rejected with 401 invalid_api_key.', {
          name: <strong>{name}</strong>,
        }),
        t('Requests in progress finish normally.'),
        t('This can’t be undone. If you still need the key, rotate it instead.'),
      ]}
      act={() => post(`/keys/${record.id}/revoke`, isOwn ? undefined : { reason })}
      done={t('Key {name} revoked.', { name })}
      {...dialog}
    >
      {!isOwn && (
        <SelectField
          label={t('Reason')}
          hint={t('The owner sees it.')}
          options={REASONS}
          value={reason}
          onChange={setReason}
        />
      )}
    </ConfirmDialog>
  );
}
