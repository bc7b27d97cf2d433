// The steps of a new customer to the first answer, with those done checked off.

import type { ComponentChildren } from 'preact';
import type { OverviewRecord } from '../../../records/customer-overview.ts';
import { Badge, Card, LinkButton } from '../../ui/index.ts';
import { Snippets } from '../keys/snippets-view.tsx';

export function FirstSteps({ overview }: { readonly overview: OverviewRecord }) {
  const { first_steps: steps, connection } = overview;
  return (
    <Card title="Your first request">
      <ol class="plain stack">
        <Step
          title="Create an API key"
          done={steps.has_key}
          action={
            <LinkButton kind={steps.has_key ? 'plain' : 'primary'} href="/keys">
              {steps.has_key ? 'View keys' : 'Create key'}
            </LinkButton>
          }
        >
          Shown once. Store it in a secret manager.
        </Step>
        <Step
          title="Add balance"
          done={steps.has_balance}
          action={
            steps.has_balance ? undefined : <LinkButton href="/ledger">Redeem a code</LinkButton>
          }
        >
          Your requests are paid from it.
        </Step>
        <Step title="Send a request" done={steps.has_request}>
          Paste this with your key, or use your own client library or agent.
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
          <Badge tone={done ? 'good' : 'neutral'}>{done ? 'Done' : 'To do'}</Badge>
        </div>
        <div class="soft">{children}</div>
      </div>
      {action}
    </li>
  );
}
