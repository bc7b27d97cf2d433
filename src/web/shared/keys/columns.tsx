// The columns of lists of keys.

import type { BoundKeyRecord, KeyRecord, ListedKeyRecord } from '../../../dashboard/records/key.ts';
import { rich } from '../../text/rich.ts';
import { t } from '../../text/t.ts';
import { timeColumn } from '../../ui/common-columns.tsx';
import type { Column } from '../../ui/table.tsx';
import { StateBadge, Time } from '../../ui/text.tsx';
import { codeWords } from '../audit/labels.ts';
import { KeyBounds } from './bounds.tsx';

type Row = BoundKeyRecord & Partial<Pick<ListedKeyRecord, 'last_used_address'>>;

export const KEY_COLUMNS: readonly [Column<Row>, ...Column<Row>[]] = [
  {
    label: t('Name'),
    sort: 'name',
    wrap: true,
    show: ({ name, masked }) =>
      name === null ? (
        <code>{masked}</code>
      ) : (
        <>
          <div>{name}</div>
          <code class="soft">{masked}</code>
        </>
      ),
  },
  { label: t('State'), card: 'state', show: (key) => <KeyState record={key} /> },
  {
    label: t('Last used'),
    card: 'labelled',
    sort: 'last_used',
    show: ({ last_used_at: at, last_used_address: address }) => <LastUsed {...{ at, address }} />,
  },
  {
    label: t('Limits'),
    card: 'labelled',
    wrap: true,
    show: (record) => <KeyBounds record={record} />,
  },
  {
    ...timeColumn(t('Created'), 'created_at', { sort: 'created', detail: 'day' }),
    optional: true,
  },
];

export function LastUsed({
  at,
  address,
}: {
  readonly at: string | null;
  readonly address?: string | null | undefined;
}) {
  if (at === null) return <span class="soft">{t('Never')}</span>;
  return (
    <>
      <Time relative at={at} />
      {address && <div class="soft small">{t('from {address}', { address })}</div>}
    </>
  );
}

const SOON_MS = 7 * 86_400_000;

export function KeyState({ record }: { readonly record: KeyRecord }) {
  const { status, expires_at, revoked_at, revoked_reason, replaced_by, ...key } = record;
  const isActive = status === 'active';
  if (replaced_by !== null && expires_at !== null && status !== 'revoked') {
    return (
      <>
        <StateBadge state={isActive ? 'rotated' : 'expired'} />
        {isActive && (
          <div class="soft small">{rich('works until {at}', { at: <Time at={expires_at} /> })}</div>
        )}
      </>
    );
  }
  const isPaused = isActive && key.paused_at !== null;
  const ends = expires_at === null ? Number.POSITIVE_INFINITY : Date.parse(expires_at) - Date.now();
  const end = status === 'revoked' || expires_at === null || <Time relative at={expires_at} />;
  const reason = isPaused ? (key.paused_reason ?? 'user') : revoked_reason;
  return (
    <>
      <StateBadge state={isPaused ? 'paused' : isActive && ends < SOON_MS ? 'expiring' : status} />
      {end !== true && (
        <div class="soft small">{isActive ? rich('expires {at}', { at: end }) : end}</div>
      )}
      {reason !== null && (
        <div class="soft small">
          {codeWords(reason)}, <Time relative at={isPaused ? key.paused_at : revoked_at} />
        </div>
      )}
    </>
  );
}
