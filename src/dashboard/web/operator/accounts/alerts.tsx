// What holds an account back now, each with the way out of it.

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
          Its requests are refused with 403 account_inactive.
        </Alert>
      )}
      {standing === 'pending_deletion' && (
        <Alert
          tone="warning"
          title="Marked for deletion"
          actions={button('active', 'Take the deletion back')}
        >
          {deletion === null ? (
            'An operator did that. Its requests are refused with 403 account_inactive.'
          ) : (
            <>
              Its owner asked for it <Time relative at={deletion.asked_at} />. Who they are is
              forgotten <Time relative at={deletion.due_at} />; its books are kept.
            </>
          )}
        </Alert>
      )}
      {block !== null && (
        <Alert
          tone="warning"
          title="On the blocklist"
          actions={button('unblock', 'Take the block back')}
        >
          Its requests are refused with 403 account_blocked, whatever its standing is.
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
          title="The e-mail address is not verified"
          actions={button('verify', 'Take it for verified')}
        >
          Its requests are refused with 403 email_not_verified.
        </Alert>
      )}
    </>
  );
}
