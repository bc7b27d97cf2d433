// What the customer should know or do, each as a banner with the way to it.

import type { NoticeRecord, OverviewRecord } from '../../../records/customer-overview.ts';
import { Alert, LinkButton, Time } from '../../ui/index.ts';

export function Notices({ overview }: { readonly overview: OverviewRecord }) {
  // Whoever is new reads of the balance in the first steps.
  const isNew = !overview.first_steps.has_request;
  const shown = overview.notices.filter(({ kind }) => !(isNew && kind === 'balance_empty'));
  if (shown.length === 0) return null;
  return (
    <div class="stack">
      {shown.map((notice) => (
        <Notice key={notice.kind} notice={notice} />
      ))}
    </div>
  );
}

const ADD_BALANCE = (
  <LinkButton size="small" href="/ledger">
    Add balance
  </LinkButton>
);

function Notice({ notice }: { readonly notice: NoticeRecord }) {
  switch (notice.kind) {
    case 'inactive':
      return notice.standing === 'suspended' ? (
        <Alert tone="danger" title="This account is suspended">
          Its requests are refused. Ask the operator.
        </Alert>
      ) : (
        <Alert
          tone="danger"
          title="This account is going to be deleted"
          actions={
            <LinkButton size="small" href="/settings">
              Take it back
            </LinkButton>
          }
        >
          Its requests are refused. You can take the deletion back in the settings.
        </Alert>
      );
    case 'maintenance':
      return (
        <Alert tone="warning" title="The service is under maintenance">
          {notice.message ?? 'Requests are refused until it is over.'}
        </Alert>
      );
    case 'email_unverified':
      return (
        <Alert tone="warning" title="Your e-mail address is not verified">
          {notice.mail_in_log
            ? 'Requests are refused until it is. This server sends no mail: ask its operator for the link, which is in the log.'
            : 'Requests are refused until it is. Follow the link in the mail that you were sent.'}
        </Alert>
      );
    case 'balance_empty':
      return (
        <Alert tone="danger" title="Your balance is used up" actions={ADD_BALANCE}>
          Requests are refused until you add to it.
        </Alert>
      );
    case 'balance_low':
      return (
        <Alert tone="warning" title="Your balance is running low" actions={ADD_BALANCE}>
          {notice.lasts_days < 1
            ? 'At the pace of the last days it lasts less than a day.'
            : `At the pace of the last days it lasts ${notice.lasts_days === 1 ? 'one more day' : `${notice.lasts_days} more days`}.`}
        </Alert>
      );
    case 'keys_expiring':
      return (
        <Alert
          tone="warning"
          title={notice.keys.length === 1 ? 'A key is about to expire' : 'Keys are about to expire'}
          actions={
            <LinkButton size="small" href="/keys">
              See the keys
            </LinkButton>
          }
        >
          <ul>
            {notice.keys.slice(0, 5).map(({ id, name, masked, expires_at }) => (
              <li key={id}>
                {name ?? masked} expires <Time relative at={expires_at} />
              </li>
            ))}
          </ul>
        </Alert>
      );
    case 'incident_limits':
      return (
        <Alert title="Some models have lower limits at the moment">
          There is less capacity than usual for {notice.models.join(', ')}.
        </Alert>
      );
  }
}
