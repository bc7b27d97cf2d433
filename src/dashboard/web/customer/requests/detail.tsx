// The full history of one request: parameters, hold, usage, charge and receipt.

import type { RequestHistoryRecord } from '../../../records/customer-request.ts';
import {
  Alert,
  Button,
  Card,
  CopyButton,
  Facts,
  formatCount,
  formatMilliseconds,
  formatTokens,
  formatUsd,
  Loaded,
  Nothing,
  Page,
  type PageProps,
  Stat,
  Stats,
  Table,
  Time,
  Tokens,
  useResource,
} from '../../ui/index.ts';
import { OutcomeBadge } from './columns.tsx';
import { chargeWords, countWords, endingWords, PRICE_NAMES } from './labels.ts';
import { ReceiptCard } from './receipt.tsx';

const BACK = { href: '/requests', label: 'Requests' };

export function RequestPage({ params }: PageProps) {
  const id = params['id'] ?? '';
  const history = useResource<RequestHistoryRecord>(`/requests/${encodeURIComponent(id)}`);
  return (
    <Page
      title="Request"
      back={BACK}
      lead={
        <span class="row">
          <code>{id}</code>
          <CopyButton text={id} label="Copy request id" kind="quiet" />
        </span>
      }
    >
      <Loaded resource={history} lines={8}>
        {(data) => <RequestView history={data} reload={history.reload} />}
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
        <Ended request={request} usage={usage} booked={booked} />
      ) : (
        <Alert
          title="This request is in progress"
          actions={
            <Button size="small" onClick={() => void reload()}>
              Refresh
            </Button>
          }
        >
          Nothing is charged yet. The reserved amount is shown below.
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
  request,
  usage,
  booked,
}: {
  readonly [Part in 'request' | 'usage' | 'booked']: NonNullable<RequestHistoryRecord[Part]>;
}) {
  const { outcome, first_content_ms: firstMs } = request;
  const tookMs = Date.parse(request.ended_at) - Date.parse(request.started_at);
  return (
    <>
      <Alert tone={outcome === 'completed' ? 'good' : 'warning'} title={endingWords(outcome)}>
        {chargeWords(outcome, booked)}
      </Alert>
      <Stats>
        <Stat
          label="Spent"
          value={formatTokens(booked.debited)}
          unit="tokens"
          hint={formatUsd(booked.debited_usd)}
        />
        <Stat
          label="Input"
          value={formatCount(usage.input_tokens)}
          hint={`${formatCount(usage.cached_input_tokens)} cached`}
        />
        <Stat
          label="Output"
          value={formatCount(usage.output_tokens)}
          hint={`${formatCount(usage.reasoning_tokens)} reasoning`}
        />
        <Stat
          label="Duration"
          value={formatMilliseconds(tookMs)}
          hint={
            firstMs === null
              ? 'No content received'
              : `First content after ${formatMilliseconds(Math.min(firstMs, tookMs))}`
          }
        />
      </Stats>
    </>
  );
}

function AskedCard({ history }: { readonly history: RequestHistoryRecord }) {
  const { request, model, attempts } = history;
  return (
    <Card title="Request">
      <Facts
        items={[
          ['Model', model.requested],
          [
            'Served by',
            model.served === null ? (
              <Nothing>None</Nothing>
            ) : history.fallback_used ? (
              `${model.served} (fallback)`
            ) : (
              model.served
            ),
          ],
          [
            'Outcome',
            request === null ? 'In progress' : <OutcomeBadge outcome={request.outcome} />,
          ],
          [
            'Format',
            request === null ? '–' : `${request.format}${request.stream ? ', streamed' : ''}`,
          ],
          ['Attempts', formatCount(attempts)],
          ['Key', <code key="key">{history.key_id}</code>],
          ['End user', request?.end_user || <Nothing>None</Nothing>],
          ['Started', <Time key="start" at={history.hold.created_at} detail="second" />],
          ['Ended', <Time key="end" at={history.hold.ended_at} detail="second" />],
        ]}
      />
    </Card>
  );
}

function HeldCard({ history: { hold } }: { readonly history: RequestHistoryRecord }) {
  return (
    <Card title="Hold">
      <Facts
        items={[
          ['Estimated prompt', `${formatCount(hold.estimated_prompt_tokens)} tokens`],
          ['Max output', `${formatCount(hold.output_bound)} tokens`],
          ['Initial hold', <Tokens key="first" amount={hold.first_amount} />],
          ['Added later', <Tokens key="later" amount={hold.grown_by} />],
          ['Total', <Tokens key="all" amount={hold.amount} />],
          ['Price version', <code key="price">{hold.price_version}</code>],
        ]}
      />
      <p class="soft small">
        A hold reserves balance for the longest possible answer. The unused part is released when
        the request ends.
      </p>
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
    <Card title="Charge">
      <div class="stack">
        <p>{countWords(usage)}</p>
        {calculations.map((each) => (
          <div key={each.price_version}>
            <p>
              At the price of {each.model} (<code>{each.price_version}</code>):
            </p>
            <Table
              caption={`Charge at the price of ${each.model}`}
              rows={each.buckets.filter(({ tokens }) => tokens > 0)}
              rowKey={({ name }) => name}
              columns={[
                { label: 'Type', show: ({ name }) => PRICE_NAMES[name] },
                { label: 'Tokens', end: true, show: ({ tokens }) => formatCount(tokens) },
                { label: 'Unit price', end: true, show: ({ price }) => formatTokens(price) },
                { label: 'Service tokens', end: true, show: ({ amount }) => formatTokens(amount) },
              ]}
            />
            <p class="end">
              Together {formatTokens(each.exact)}
              {each.exact !== each.rounded && `, rounded to ${formatTokens(each.rounded)}`}
            </p>
          </div>
        ))}
        {calculations.length > 1 && <p>The lower of the two is charged.</p>}
        {booked !== null && (
          <Facts
            items={[
              ['Charged', <Tokens key="charged" amount={booked.charged} />],
              ['Debited', <Tokens key="debited" amount={booked.debited} />],
              ...(booked.waived === '0'
                ? []
                : ([['Waived', <Tokens key="waived" amount={booked.waived} />]] as const)),
              ['Balance after', <Tokens key="balance" amount={booked.balance_after} />],
            ]}
          />
        )}
      </div>
    </Card>
  );
}
