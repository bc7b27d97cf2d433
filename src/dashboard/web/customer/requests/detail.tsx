// The full history of one request: parameters, hold, usage, charge and receipt.

import { Link } from 'wouter-preact';
import type {
  RefusedRequestRecord,
  RequestHistoryRecord,
} from '../../../records/customer-request.ts';
import { rich } from '../../text/rich.ts';
import { t } from '../../text/t.ts';
import { Amount, OtherAmount } from '../../ui/amount.tsx';
import { Button, CopyButton } from '../../ui/button.tsx';
import { ChargeTable, chargeTotal } from '../../ui/charge-table.tsx';
import { formatCount, formatMilliseconds } from '../../ui/format.ts';
import { holdItems } from '../../ui/hold-items.tsx';
import { useOpenedFrom } from '../../ui/kept-list.ts';
import { Neighbours } from '../../ui/neighbours.tsx';
import type { PageProps } from '../../ui/page.ts';
import { Alert, Card, Facts, Loaded, Page, Stat, Stats } from '../../ui/parts.tsx';
import { ProblemAlert } from '../../ui/problem-view.tsx';
import { useResource } from '../../ui/resource.ts';
import { Nothing, StateBadge, Time } from '../../ui/text.tsx';
import { chargeWords, countWords, endingWords } from './labels.ts';
import { KeyLink } from './links.tsx';
import { ReceiptCard } from './receipt.tsx';
import { RefusedView } from './refused.tsx';

export function View({ params }: PageProps) {
  const id = params['id'] ?? '';
  const history = useResource<RequestHistoryRecord | RefusedRequestRecord>(
    `/requests/${encodeURIComponent(id)}`,
  );
  const from = useOpenedFrom('/requests');
  const data = history.data.value;
  const others = data?.object === 'request' ? data : undefined;
  return (
    <Page
      title={t('Request')}
      back={{ href: `/requests${from?.search ?? ''}`, label: t('Requests') }}
      lead={
        <span class="row">
          <code>{id}</code>
          <CopyButton text={id} label={t('Copy request id')} kind="quiet" />
        </span>
      }
      actions={<Neighbours id={id} ids={from?.ids} others={others} />}
    >
      <Loaded resource={history} lines={8}>
        {(data) =>
          data.object === 'request' ? (
            <RequestView history={data} reload={history.reload} />
          ) : (
            <RefusedView refused={data} />
          )
        }
      </Loaded>
    </Page>
  );
}

function RequestView({
  history,
  reload,
}: {
  readonly history: RequestHistoryRecord;
  readonly reload: () => unknown;
}) {
  const { request, usage, booked } = history;
  return (
    <>
      {request !== null && usage !== null && booked !== null ? (
        <Ended history={history} request={request} usage={usage} booked={booked} />
      ) : (
        <Alert
          title={t('This request is in progress')}
          actions={
            <Button size="small" onClick={() => void reload()}>
              {t('Refresh')}
            </Button>
          }
        >
          {t('Nothing is charged yet. The reserved amount is shown below.')}
        </Alert>
      )}
      <div class="grid">
        <AskedCard history={history} />
        <HeldCard history={history} />
      </div>
      {usage !== null && <ChargeCard history={history} usage={usage} />}
      {history.receipt !== null && (
        <ReceiptCard id={history.request_id} sequence={history.receipt.sequence} />
      )}
    </>
  );
}

function Ended({
  history: { problem },
  request,
  usage,
  booked,
}: {
  readonly history: RequestHistoryRecord;
} & {
  readonly [Part in 'request' | 'usage' | 'booked']: NonNullable<RequestHistoryRecord[Part]>;
}) {
  const { outcome, first_content_ms: firstMs } = request;
  const tookMs = Date.parse(request.ended_at) - Date.parse(request.started_at);
  return (
    <>
      {problem === null ? (
        <Alert tone={outcome === 'completed' ? 'good' : 'warning'} title={endingWords(outcome)}>
          {chargeWords(outcome, booked)}
        </Alert>
      ) : (
        <ProblemAlert problem={problem}>
          <p>{chargeWords(outcome, booked)}</p>
        </ProblemAlert>
      )}
      <Stats>
        <Stat
          label={t('Spent')}
          value={<Amount tokens={booked.debited} usd={booked.debited_usd} detail="exact" />}
          hint={<OtherAmount tokens={booked.debited} usd={booked.debited_usd} detail="exact" />}
        />
        <Stat
          label={t('Input')}
          value={formatCount(usage.input_tokens)}
          hint={t('{amount} cached', { amount: formatCount(usage.cached_input_tokens) })}
        />
        <Stat
          label={t('Output')}
          value={formatCount(usage.output_tokens)}
          hint={t('{amount} reasoning', { amount: formatCount(usage.reasoning_tokens) })}
        />
        <Stat
          label={t('Duration')}
          value={formatMilliseconds(tookMs)}
          hint={
            firstMs === null
              ? t('No content received')
              : t('First content after {firstMs}', {
                  firstMs: formatMilliseconds(Math.min(firstMs, tookMs)),
                })
          }
        />
      </Stats>
    </>
  );
}

function AskedCard({ history }: { readonly history: RequestHistoryRecord }) {
  const { request, model, attempts } = history;
  return (
    <Card title={t('Request')}>
      <Facts
        items={[
          [t('Model'), model.requested],
          [
            t('Served by'),
            model.served === null ? (
              <Nothing>{t('None')}</Nothing>
            ) : history.fallback_used ? (
              t('{served} (fallback)', { served: model.served })
            ) : (
              model.served
            ),
          ],
          [
            t('Outcome'),
            request === null ? t('In progress') : <StateBadge state={request.outcome} />,
          ],
          [
            t('Format'),
            request === null ? '–' : `${request.format}${request.stream ? t(', streamed') : ''}`,
          ],
          [t('Attempts'), formatCount(attempts)],
          [t('Key'), <KeyLink key="key" id={history.key_id} name={history.key_name} />],
          [
            t('End user'),
            request?.end_user ? (
              <Link href={`/requests?end_user=${encodeURIComponent(request.end_user)}`}>
                {request.end_user}
              </Link>
            ) : (
              <Nothing>{t('None')}</Nothing>
            ),
          ],
          [t('Started'), <Time key="start" at={history.hold.created_at} detail="second" />],
          [t('Ended'), <Time key="end" at={history.hold.ended_at} detail="second" />],
        ]}
      />
    </Card>
  );
}

function ChargeCard({
  history: { calculations, booked },
  usage,
}: {
  readonly history: RequestHistoryRecord;
  readonly usage: NonNullable<RequestHistoryRecord['usage']>;
}) {
  return (
    <Card title={t('Charge')}>
      <div class="stack">
        {usage.basis !== null && <p>{countWords(usage)}</p>}
        {calculations.map((each) => (
          <div key={each.price_version}>
            <p>
              {rich('At the price of {model} ({priceVersion}):', {
                model: each.model,
                priceVersion: <code>{each.price_version}</code>,
              })}
            </p>
            <ChargeTable {...each} buckets={each.buckets.filter(({ tokens }) => tokens > 0)} />
            <p class="end">{chargeTotal(each)}</p>
          </div>
        ))}
        {calculations.length > 1 && <p>{t('The lower of the two is charged.')}</p>}
        {booked !== null && (
          <Facts
            items={[
              [t('Charged'), <Amount key="charged" tokens={booked.charged} detail="exact" />],
              [t('Debited'), <Amount key="debited" tokens={booked.debited} detail="exact" />],
              ...(booked.waived === '0'
                ? []
                : ([
                    [t('Waived'), <Amount key="waived" tokens={booked.waived} detail="exact" />],
                  ] as const)),
              [
                t('Balance after'),
                <Amount key="balance" tokens={booked.balance_after} detail="exact" />,
              ],
            ]}
          />
        )}
      </div>
    </Card>
  );
}

function HeldCard({ history: { hold } }: { readonly history: RequestHistoryRecord }) {
  return (
    <Card title={t('Hold')}>
      <Facts
        items={[
          ...holdItems(hold),
          [t('Price version'), <code key="price">{hold.price_version}</code>],
        ]}
      />
      <p class="soft small">
        {t(
          'A hold reserves balance for the longest possible answer. The unused part is released when the request ends.',
        )}
      </p>
    </Card>
  );
}
