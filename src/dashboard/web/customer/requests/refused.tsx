// A refused request, or several equal ones of one minute: what the client received, and what to do.

import type { RefusedRequestRecord } from '../../../records/customer-request.ts';
import { RefusedRequest } from '../../shared/requests/problem-view.tsx';
import { t } from '../../text/t.ts';
import { formatCount } from '../../ui/format.ts';
import { Nothing, Time } from '../../ui/text.tsx';
import { KeyLink } from './links.tsx';

export function RefusedView({ refused }: { readonly refused: RefusedRequestRecord }) {
  const { problem, count, model, route } = refused;
  return (
    <RefusedRequest
      problem={problem}
      note={t('The request reached no model and cost nothing.')}
      facts={[
        [t('Equal requests in this minute'), formatCount(count)],
        [t('Model'), model ?? <Nothing>{t('None')}</Nothing>],
        [t('Key'), <KeyLink key="key" id={refused.key_id} name={refused.key_name} />],
        [t('Endpoint'), <code key="route">{ENDPOINTS[route] ?? route}</code>],
        [t('Started'), <Time key="start" at={refused.started_at} detail="second" />],
        ...(count > 1
          ? ([[t('Last'), <Time key="last" at={refused.last_at} detail="second" />]] as const)
          : []),
      ]}
    />
  );
}

const ENDPOINTS: Readonly<Record<string, string>> = {
  chat_completions: '/v1/chat/completions',
  messages: '/v1/messages',
  count_tokens: '/v1/messages/count_tokens',
  models: '/v1/models',
  model: '/v1/models/{id}',
  account: '/v1/account',
  api_keys: '/v1/api-keys',
  receipt: '/v1/receipts/{request_id}',
  playground_chat_completions: t('Playground'),
  playground_messages: t('Playground'),
};
