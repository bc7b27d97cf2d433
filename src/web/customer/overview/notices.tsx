// Banners for what the customer should know or do, each with its action.

import type { NoticeRecord, OverviewRecord } from '../../../dashboard/records/customer-overview.ts';
import { rich } from '../../text/rich.ts';
import { t } from '../../text/t.ts';
import { LinkButton } from '../../ui/button.tsx';
import { Alert } from '../../ui/parts.tsx';
import { Time } from '../../ui/text.tsx';
import { AddBalance } from '../add-balance.tsx';

export function Notices({
  overview,
  reload,
}: {
  readonly overview: OverviewRecord;
  readonly reload: () => unknown;
}) {
  // The first steps already show a new customer the missing balance.
  const isNew = !overview.first_steps.has_request;
  const shown = overview.notices.filter(({ kind }) => !(isNew && kind === 'balance_empty'));
  if (shown.length === 0) return null;
  return (
    <div class="stack">
      {shown.map((notice) => (
        <Notice key={notice.kind} notice={notice} reload={reload} />
      ))}
    </div>
  );
}

function Notice({
  notice,
  reload,
}: {
  readonly notice: NoticeRecord;
  readonly reload: () => unknown;
}) {
  switch (notice.kind) {
    case 'inactive':
      return notice.standing === 'suspended' ? (
        <Alert tone="danger" title={t('This account is suspended')}>
          {t('Its requests are rejected. Contact the operator.')}
        </Alert>
      ) : (
        <Alert
          tone="danger"
          title={t('This account will be deleted')}
          actions={
            <LinkButton size="small" href="/settings">
              {t('Keep account')}
            </LinkButton>
          }
        >
          {t('Its requests are rejected. You can cancel the deletion in the settings.')}
        </Alert>
      );
    case 'maintenance':
      return (
        <Alert tone="warning" title={t('The service is under maintenance')}>
          {notice.message ?? t('Requests are rejected until maintenance ends.')}
        </Alert>
      );
    case 'email_unverified':
      return (
        <Alert tone="warning" title={t('Your e-mail address is not verified')}>
          {notice.mail_in_log
            ? t(
                'Requests are rejected until you verify it. This server sends no mail: ask the operator for the link, which is in the server log.',
              )
            : t(
                'Requests are rejected until you verify it. Open the link in the mail we sent you.',
              )}
        </Alert>
      );
    case 'balance_empty':
      return (
        <Alert
          tone="danger"
          title={t('Your balance is used up')}
          actions={<AddBalance size="small" onAdded={reload} />}
        >
          {t('Requests are rejected until you add balance.')}
        </Alert>
      );
    case 'balance_low':
      return (
        <Alert
          tone="warning"
          title={t('Your balance is running low')}
          actions={<AddBalance size="small" onAdded={reload} />}
        >
          {notice.lasts_days < 1
            ? t('At your 7-day average, it lasts less than 1 day.')
            : t(
                'At your 7-day average, it lasts {days, plural, one {# more day} other {# more days}}.',
                { days: notice.lasts_days },
              )}
        </Alert>
      );
    case 'keys_expiring':
      return (
        <Alert
          tone="warning"
          title={
            notice.keys.length === 1 ? t('A key is about to expire') : t('Keys are about to expire')
          }
          actions={<ViewKeys />}
        >
          <ul>
            {notice.keys.slice(0, 5).map(({ id, name, masked, expires_at }) => (
              <li key={id}>
                {rich('{name} expires {expiresAt}', {
                  name: name ?? masked,
                  expiresAt: <Time relative at={expires_at} />,
                })}
              </li>
            ))}
          </ul>
        </Alert>
      );
    case 'keys_paused':
      return (
        <Alert
          tone="danger"
          title={t(
            '{count, plural, one {A key was paused} other {# keys were paused}} because of unusual spend',
            { count: notice.keys.length },
          )}
          actions={<ViewKeys />}
        >
          <p>
            {t(
              'Requests with a paused key are rejected. Check what uses it, then resume or revoke it.',
            )}
          </p>
          <ul>
            {notice.keys.slice(0, 5).map(({ id, name, masked, paused_at }) => (
              <li key={id}>
                {rich('{name}, paused {pausedAt}', {
                  name: name ?? masked,
                  pausedAt: <Time relative at={paused_at} />,
                })}
              </li>
            ))}
          </ul>
        </Alert>
      );
    case 'incident_limits':
      return (
        <Alert title={t('Some models have lower limits now')}>
          {t('Capacity is reduced for {models}.', { models: notice.models.join(', ') })}
        </Alert>
      );
  }
}

function ViewKeys() {
  return (
    <LinkButton size="small" href="/keys">
      {t('View keys')}
    </LinkButton>
  );
}
