// The reasons why an account's requests are rejected, each with its remedy.

import type { AccountDetailRecord } from '../../../dashboard/records/operator-account.ts';
import { rich } from '../../text/rich.ts';
import { t } from '../../text/t.ts';
import { Alert } from '../../ui/parts.tsx';
import { Time } from '../../ui/text.tsx';
import type { AccountAction } from './action.ts';
import { buttonsFor } from './cards.tsx';

export function AccountAlerts({
  account: { standing_without_block: standing, block, email_verified, deletion },
  act,
}: {
  readonly account: AccountDetailRecord;
  readonly act: (action: AccountAction) => void;
}) {
  const button = (action: AccountAction, label: string) =>
    buttonsFor(act)(action, label, { size: 'small' });
  return (
    <>
      {standing === 'suspended' && (
        <Alert tone="warning" title={t('Suspended')} actions={button('active', t('Activate'))}>
          {t('Its requests are rejected with 403 account_inactive.')}
        </Alert>
      )}
      {standing === 'pending_deletion' && (
        <Alert
          tone="warning"
          title={t('Marked for deletion')}
          actions={button('active', t('Cancel deletion'))}
        >
          {deletion === null
            ? t('Marked by an operator. Its requests are rejected with 403 account_inactive.')
            : rich(
                'Requested by its owner {askedAt}. Personal data is deleted {dueAt}; ledger entries are kept.',
                {
                  askedAt: <Time relative at={deletion.asked_at} />,
                  dueAt: <Time relative at={deletion.due_at} />,
                },
              )}
        </Alert>
      )}
      {block !== null && (
        <Alert tone="warning" title={t('Blocked')} actions={button('unblock', t('Unblock'))}>
          {t('Its requests are rejected with 403 account_blocked.')}{' '}
          {block.reason !== '' && t('Reason: {reason}.', { reason: block.reason })}{' '}
          {block.expires_at !== null &&
            rich('The block ends {expiresAt}.', {
              expiresAt: <Time relative at={block.expires_at} />,
            })}
        </Alert>
      )}
      {!email_verified && (
        <Alert
          tone="warning"
          title={t('E-mail address not verified')}
          actions={button('verify', t('Mark as verified'))}
        >
          {t('Its requests are rejected with 403 email_not_verified.')}
        </Alert>
      )}
    </>
  );
}
