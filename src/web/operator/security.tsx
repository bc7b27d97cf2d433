// The security settings of an operator: password, two-factor authentication, sessions.

import type { SessionListRecord } from '../../dashboard/records/auth.ts';
import { PasswordCard } from '../auth/password-card.tsx';
import { SessionsCard } from '../auth/sessions-card.tsx';
import { TwoFactorCard } from '../auth/two-factor-card.tsx';
import { t } from '../text/t.ts';
import { Page } from '../ui/parts.tsx';
import { useResource } from '../ui/resource.ts';
import { session } from '../ui/session.ts';

export function View() {
  const sessions = useResource<SessionListRecord>('/auth/sessions');
  return (
    <Page
      title={t('Your sign-in')}
      lead={t('Signed in as {email}.', { email: session.value?.email ?? '' })}
    >
      <PasswordCard onChanged={sessions.reload} />
      <TwoFactorCard onChanged={sessions.reload} />
      <SessionsCard sessions={sessions} />
    </Page>
  );
}
