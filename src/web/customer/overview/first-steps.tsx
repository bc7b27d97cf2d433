// The steps of a new customer to the first answer, with those done checked off.

import type { ComponentChildren } from 'preact';
import type { OverviewRecord } from '../../../dashboard/records/customer-overview.ts';
import { t } from '../../text/t.ts';
import { LinkButton } from '../../ui/button.tsx';
import { Card } from '../../ui/parts.tsx';
import { Badge } from '../../ui/text.tsx';
import { AddBalance } from '../add-balance.tsx';
import { CreateKeyButton } from '../keys/create.tsx';
import { Snippets } from '../keys/snippets-view.tsx';

export function FirstSteps({
  overview,
  reload,
}: {
  readonly overview: OverviewRecord;
  readonly reload: () => unknown;
}) {
  const { first_steps: steps, connection } = overview;
  return (
    <Card title={t('Your first request')}>
      <ol class="plain stack">
        <Step
          title={t('Create an API key')}
          done={steps.has_key}
          action={<CreateKeyButton kind={steps.has_key ? 'plain' : 'primary'} onCreated={reload} />}
        >
          {t('Shown once. Store it in a secret manager.')}
        </Step>
        <Step
          title={t('Add balance')}
          done={steps.has_balance}
          action={steps.has_balance ? undefined : <AddBalance onAdded={reload} />}
        >
          {t('Your requests are paid from it.')}
        </Step>
        <Step
          title={t('Send a request')}
          done={steps.has_request}
          action={<LinkButton href="/playground">{t('Try it in the playground')}</LinkButton>}
        >
          {t('Paste this with your key, or use your own client library or agent.')}
        </Step>
      </ol>
      <Snippets connection={connection} />
    </Card>
  );
}

function Step({
  title,
  done,
  action,
  children,
}: {
  readonly title: string;
  readonly done: boolean;
  readonly action?: ComponentChildren;
  readonly children: ComponentChildren;
}) {
  return (
    <li class="row apart">
      <div>
        <div class="row">
          <strong>{title}</strong>
          <Badge tone={done ? 'good' : 'neutral'}>{done ? t('Done') : t('To do')}</Badge>
        </div>
        <div class="soft">{children}</div>
      </div>
      {action}
    </li>
  );
}
