// The API at a glance: base URLs of the formats, a first request, error codes, limits, and where to
// read more.

import type { OwnAccountRecord } from '../../dashboard/records/account.ts';
import type { ConnectionRecord } from '../../dashboard/records/key.ts';
import type { ErrorCodeRecord, ReferenceRecord } from '../../dashboard/records/reference.ts';
import { rich } from '../text/rich.ts';
import { t } from '../text/t.ts';
import { CopyButton } from '../ui/button.tsx';
import { formatCount, tokenCount } from '../ui/format.ts';
import { Card, Facts, Loaded, Page } from '../ui/parts.tsx';
import { useResource } from '../ui/resource.ts';
import { Table } from '../ui/table.tsx';
import { Snippets } from './keys/snippets-view.tsx';

export function View() {
  const connection = useResource<ConnectionRecord>('/connection');
  const account = useResource<OwnAccountRecord>('/account');
  const reference = useResource<ReferenceRecord>('/reference');
  return (
    <Page
      title={t('API docs')}
      lead={t('All request formats with one key. Use the client library that you know.')}
      actions={
        <>
          <a class="button" href="/openapi.json">
            {t('OpenAPI')}
          </a>
          <a class="button primary" href="/docs">
            {t('Documentation')}
          </a>
        </>
      }
    >
      <Card title={t('Base URLs')}>
        <Loaded resource={connection} lines={3}>
          {(data) => <BaseUrls connection={data} />}
        </Loaded>
      </Card>
      <Card title={t('Send a request')}>
        <Loaded resource={connection}>{(data) => <Snippets connection={data} />}</Loaded>
      </Card>
      <Card title={t('Your limits')}>
        <Loaded resource={account}>
          {({ limits }) => (
            <>
              <Facts
                items={[
                  [t('Requests per minute'), formatCount(limits.requests_per_minute)],
                  [t('Tokens per minute'), formatCount(limits.tokens_per_minute)],
                  [t('Concurrent requests'), formatCount(limits.concurrent_requests)],
                  [t('Max context'), tokenCount(limits.max_context_tokens)],
                ]}
              />
              <p class="soft">
                {rich('<link>How limits count</link>, and the headers that report them.', {
                  link: (text) => <a href="/docs/limits">{text}</a>,
                })}
              </p>
            </>
          )}
        </Loaded>
      </Card>
      <Card title={t('Error codes')} flush>
        <Loaded resource={reference}>{({ errors }) => <Errors errors={errors} />}</Loaded>
      </Card>
      <Card title={t('Read more')}>
        <ul class="plain doc-links">
          {TOPICS.map(([topic, label]) => (
            <li key={topic}>
              <a href={`/docs/${topic}`}>{label}</a>
            </li>
          ))}
        </ul>
      </Card>
    </Page>
  );
}

const TOPICS = [
  ['quickstart', t('Quickstart')],
  ['chat-completions', t('Chat completions')],
  ['messages', t('Messages')],
  ['responses', t('Responses')],
  ['streaming', t('Streaming')],
  ['models', t('Models')],
  ['errors', t('Errors and retries')],
  ['limits', t('Limits')],
  ['bill', t('The bill')],
  ['agents', t('Coding agents')],
  ['api', t('All routes and fields')],
] as const;

function BaseUrls({
  connection: { base_url: baseUrl, responses },
}: {
  readonly connection: ConnectionRecord;
}) {
  const url = (text: string, label: string) => (
    <span class="row" key={text}>
      <code>{text}</code>
      <CopyButton text={text} label={label} />
    </span>
  );
  return (
    <Facts
      items={[
        [
          responses ? t('Chat completions, Responses') : t('Chat completions'),
          url(`${baseUrl}/v1`, t('Copy base URL for chat completions')),
        ],
        [t('Messages'), url(baseUrl, t('Copy base URL for Messages'))],
        [t('Key'), <code key="key">Authorization: Bearer sk-…</code>],
      ]}
    />
  );
}

const RETRY: Readonly<Record<ErrorCodeRecord['retry'], string>> = {
  never: t('No: fix the cause'),
  after: t('After retry-after'),
  backoff: t('With back-off'),
};

function Errors({ errors }: { readonly errors: readonly ErrorCodeRecord[] }) {
  return (
    <Table
      caption={t('Error codes')}
      rows={errors}
      rowKey={({ code }) => code}
      columns={[
        {
          label: t('Code'),
          wrap: true,
          show: ({ code, message }) => (
            <>
              <code>{code}</code>
              <div class="soft" lang="en">
                {message}
              </div>
            </>
          ),
        },
        { label: t('Retry'), fit: 'whole', show: ({ retry }) => RETRY[retry] },
        { label: t('Status'), end: true, show: ({ status }) => status },
      ]}
    />
  );
}
