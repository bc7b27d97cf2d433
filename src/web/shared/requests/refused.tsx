// A refused request, or several equal ones of one minute: what the client received, and what to do.

import type { RefusedRequestRecord } from '../../../dashboard/records/customer-request.ts';
import type { OperatorRefusalRecord } from '../../../dashboard/records/operator-request.ts';
import { t } from '../../text/t.ts';
import { formatCount } from '../../ui/format.ts';
import { Card, type Fact, Facts } from '../../ui/parts.tsx';
import { Nothing, StateBadge, Time } from '../../ui/text.tsx';
import { AccountLink, KeyLink } from './links.tsx';
import { ProblemAlert } from './problem-view.tsx';

type Refused =
  | { readonly audience: 'account'; readonly refused: RefusedRequestRecord }
  | { readonly audience: 'all'; readonly refused: OperatorRefusalRecord };

export function RefusedView(props: Refused) {
  const { problem } = props.refused;
  const isOwn = props.audience === 'account';
  return (
    <>
      <ProblemAlert problem={problem}>
        <p>
          {isOwn
            ? t('The request reached no model and cost nothing.')
            : t('The request reached no upstream.')}
        </p>
      </ProblemAlert>
      <Card title={t('Request')}>
        <Facts
          items={[
            [t('Outcome'), <StateBadge key="outcome" state="refused" />],
            [t('Status'), problem.status],
            [t('Error code'), <code key="code">{problem.code}</code>],
            ...(isOwn ? ownFacts(props.refused) : loggedFacts(props.refused)),
          ]}
        />
      </Card>
    </>
  );
}

function ownFacts(refused: RefusedRequestRecord): readonly Fact[] {
  const { count, model, route, key_id: key, key_name } = refused;
  return [
    [t('Equal requests in this minute'), formatCount(count)],
    [t('Model'), model ?? <Nothing />],
    [t('Key'), <KeyLink key="key" audience="account" id={key} name={key_name} />],
    [t('Endpoint'), <code key="route">{ENDPOINTS[route] ?? route}</code>],
    [t('Started'), <Time key="start" at={refused.started_at} detail="second" />],
    ...(count > 1
      ? ([[t('Last'), <Time key="last" at={refused.last_at} detail="second" />]] as const)
      : []),
  ];
}

function loggedFacts(refused: OperatorRefusalRecord): readonly Fact[] {
  const { count, model, route, key_id: key, key_name } = refused;
  const { account_id: account, account_email: email } = refused;
  return [
    [t('Equal requests'), formatCount(count)],
    [t('Account'), <AccountLink key="account" id={account} email={email} />],
    [t('Key'), <KeyLink key="key" audience="all" id={key} name={key_name} />],
    [t('Model'), model ?? <Nothing />],
    [t('Route'), <code key="route">{route}</code>],
    [t('First'), <Time key="first" at={refused.started_at} detail="second" />],
    [t('Last'), <Time key="last" at={refused.last_at} detail="second" />],
  ];
}

const ENDPOINTS: Readonly<Record<string, string>> = {
  chat_completions: '/v1/chat/completions',
  messages: '/v1/messages',
  count_tokens: '/v1/messages/count_tokens',
  responses: '/v1/responses',
  input_tokens: '/v1/responses/input_tokens',
  models: '/v1/models',
  model: '/v1/models/{id}',
  account: '/v1/account',
  api_keys: '/v1/api-keys',
  receipt: '/v1/receipts/{request_id}',
  playground_chat_completions: t('Playground'),
  playground_messages: t('Playground'),
  playground_responses: t('Playground'),
};
