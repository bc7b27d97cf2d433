// For somebody new: from nothing to the first answer, step by step, with what is done crossed off.

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
          title="Make an API key"
          done={steps.has_key}
          action={
            <LinkButton kind={steps.has_key ? 'plain' : 'primary'} href="/keys">
              {steps.has_key ? 'See the keys' : 'Make a key'}
            </LinkButton>
          }
        >
          It is shown once; keep it where secrets are kept.
        </Step>
        <Step
          title="Add balance"
          done={steps.has_balance}
          action={
            steps.has_balance ? undefined : <LinkButton href="/ledger">Redeem a code</LinkButton>
          }
        >
          Requests are paid from it as they are answered.
        </Step>
        <Step title="Ask a model" done={steps.has_request}>
          Paste this and put your key in, or use the client library or agent that you have.
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
