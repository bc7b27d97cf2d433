// The full history of one request: parameters, hold, usage, charge and receipt.

import type {
  RefusedRequestRecord,
  RequestHistoryRecord,
} from '../../../dashboard/records/customer-request.ts';
import { ChargeTable, chargeTotal } from '../../shared/requests/charge-table.tsx';
import { RequestPage, type RequestViewProps } from '../../shared/requests/detail.tsx';
import { DebitedStat, holdItems, modelItems, outcomeItems } from '../../shared/requests/facts.tsx';
import { KeyLink } from '../../shared/requests/links.tsx';
import { ProblemAlert } from '../../shared/requests/problem-view.tsx';
import { RefusedView } from '../../shared/requests/refused.tsx';
import { rich } from '../../text/rich.ts';
import { t } from '../../text/t.ts';
import { Amount } from '../../ui/amount.tsx';
import { Button, CopyButton } from '../../ui/button.tsx';
import { formatCount, formatMilliseconds } from '../../ui/format.ts';
import { Link } from '../../ui/link.tsx';
import { Alert, Card, Facts, Stat, Stats } from '../../ui/parts.tsx';
import { Nothing, Time } from '../../ui/text.tsx';
import { chargeWords, countWords, endingWords } from './labels.ts';
import { ReceiptCard } from './receipt.tsx';

export function View({ params, panel }: RequestViewProps) {
  const id = params['id'] ?? '';
  return (
    <RequestPage<RequestHistoryRecord, RefusedRequestRecord>
      id={id}
      panel={panel}
      lead={
        <span class="row">
          <code>{id}</code>
          <CopyButton text={id} label={t('Copy request id')} kind="quiet" />
        </span>
      }
      history={(history, reload) => <RequestView history={history} reload={reload} />}
      refused={(refused) => <RefusedView audience="account" refused={refused} />}
    />
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
        <DebitedStat label={t('Spent')} booked={booked} />
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
          ...modelItems(model),
          ...outcomeItems('account', request),
          [t('Attempts'), formatCount(attempts)],
          [
            t('Key'),
            <KeyLink key="key" audience="account" id={history.key_id} name={history.key_name} />,
          ],
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
