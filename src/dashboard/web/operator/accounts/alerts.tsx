// The reasons why an account's requests are rejected, each with its remedy.

import type { AccountDetailRecord } from '../../../records/operator-account.ts';
import { Alert, Button, Time } from '../../ui/index.ts';
import type { AccountAction } from './action.ts';

export function AccountAlerts({
  account: { standing, block, email_verified, deletion },
  act,
}: {
  readonly account: AccountDetailRecord;
  readonly act: (action: AccountAction) => void;
}) {
  const button = (action: AccountAction, label: string) => (
    <Button size="small" onClick={() => act(action)}>
      {label}
    </Button>
  );
  return (
    <>
      {standing === 'suspended' && (
        <Alert tone="warning" title="Suspended" actions={button('active', 'Activate')}>
          Its requests are rejected with 403 account_inactive.
        </Alert>
      )}
      {standing === 'pending_deletion' && (
        <Alert
          tone="warning"
          title="Marked for deletion"
          actions={button('active', 'Cancel deletion')}
        >
          {deletion === null ? (
            'Marked by an operator. Its requests are rejected with 403 account_inactive.'
          ) : (
            <>
              Requested by its owner <Time relative at={deletion.asked_at} />. Personal data is
              deleted <Time relative at={deletion.due_at} />; ledger entries are kept.
            </>
          )}
        </Alert>
      )}
      {block !== null && (
        <Alert tone="warning" title="Blocked" actions={button('unblock', 'Unblock')}>
          Its requests are rejected with 403 account_blocked.
          {block.reason !== '' && ` Reason: ${block.reason}.`}
          {block.expires_at !== null && (
            <>
              {' '}
              The block ends <Time relative at={block.expires_at} />.
            </>
          )}
        </Alert>
      )}
      {!email_verified && (
        <Alert
          tone="warning"
          title="E-mail address not verified"
          actions={button('verify', 'Mark as verified')}
        >
          Its requests are rejected with 403 email_not_verified.
        </Alert>
      )}
    </>
  );
}
