// The whole history of one request: who was asked, what was used, what it cost whom, and why.

import { Link } from 'wouter-preact';
import type { OperatorRequestRecord } from '../../../records/operator-account.ts';
import {
  Alert,
  Card,
  Empty,
  Facts,
  formatCount,
  humanize,
  Loaded,
  Nothing,
  Page,
  type PageProps,
  Stat,
  StateBadge,
  Stats,
  Time,
  Tokens,
  Usd,
  useResource,
} from '../../ui/index.ts';
import { Attempts } from './attempts.tsx';
import { Calculations } from './calculations.tsx';

export function RequestPage({ params }: PageProps) {
  const id = params['id'] ?? '';
  const resource = useResource<OperatorRequestRecord>(`/requests/${encodeURIComponent(id)}`);
  return (
    <Page title="Request" back={{ href: '/requests', label: 'Requests' }} lead={<code>{id}</code>}>
      <Loaded resource={resource} lines={10}>
        {(history) => <RequestView history={history} />}
      </Loaded>
    </Page>
  );
}

function RequestView({ history }: { readonly history: OperatorRequestRecord }) {
  const { request, booked, upstream_costs: costs } = history;
  return (
    <>
      {request === null && (
        <Alert title="Under way">Nothing is charged yet; load this page again later.</Alert>
      )}
      {booked !== null && (
        <Stats>
          <Stat
            label="Debited"
            value={<Tokens amount={booked.debited} />}
            hint={
              <>
                Service tokens, <Usd amount={booked.debited_usd} />
              </>
            }
          />
          <Stat
            label="Costs of the upstreams"
            value={costs === null ? '–' : <Tokens amount={costs.total} />}
            hint={costsHint(costs)}
          />
          <Stat
            label="Margin"
            value={costs?.margin == null ? '–' : <Tokens amount={costs.margin} />}
            hint="What is left of the charge."
          />
          <Stat
            label="Loss"
            value={<Tokens amount={booked.loss} />}
            hint="What the balance could not pay."
          />
        </Stats>
      )}
      <div class="grid">
        <Card title="Request">
          <RequestFacts history={history} />
        </Card>
        <Card title="Reservation">
          <HoldFacts history={history} />
        </Card>
      </div>
      <Card title="Attempts" flush>
        {history.attempts.length === 0 ? (
          <Empty title="No attempt is on record">
            Attempts are written down when the request has ended.
          </Empty>
        ) : (
          <Attempts attempts={history.attempts} />
        )}
      </Card>
      <Card title="Usage">
        <UsageFacts usage={history.usage} />
      </Card>
      {history.calculations.length > 0 && <Calculations calculations={history.calculations} />}
    </>
  );
}

function costsHint(costs: OperatorRequestRecord['upstream_costs']): string {
  if (costs === null) return 'The catalog says none.';
  return costs.complete ? 'All attempts together.' : 'The catalog lacks one of them.';
}

function RequestFacts({
  history: { account_id, key_id, model, request, receipt },
}: {
  readonly history: OperatorRequestRecord;
}) {
  const isFallback = model.served !== null && model.served !== model.requested;
  return (
    <Facts
      items={[
        [
          'Account',
          <Link key="account" href={`/accounts/${account_id}`}>
            <code>{account_id}</code>
          </Link>,
        ],
        ['Key', <code key="key">{key_id}</code>],
        ['Model', model.requested],
        ['Served by', isFallback ? `${model.served} (fallback)` : (model.served ?? <Nothing />)],
        ['Upstream', request?.upstream ?? <Nothing />],
        ['Outcome', request === null ? 'Under way' : <StateBadge state={request.outcome} />],
        [
          'Format',
          request === null ? (
            <Nothing />
          ) : (
            `${humanize(request.format)}${request.stream ? ', streamed' : ''}`
          ),
        ],
        ['End user', request?.end_user ?? <Nothing />],
        ['Started', <Time key="start" at={request?.started_at ?? null} detail="second" />],
        ['Ended', <Time key="end" at={request?.ended_at ?? null} detail="second" />],
        ['Receipt', receipt === null ? <Nothing /> : `No. ${formatCount(receipt.sequence)}`],
      ]}
    />
  );
}

function HoldFacts({ history: { hold, booked } }: { readonly history: OperatorRequestRecord }) {
  return (
    <Facts
      items={[
        ['State', <StateBadge key="phase" state={hold.phase} />],
        ['Estimated prompt', `${formatCount(hold.estimated_prompt_tokens)} tokens`],
        ['Most of output', `${formatCount(hold.output_bound)} tokens`],
        ['Held at first', <Tokens key="first" amount={hold.first_amount} />],
        ['Grown by', <Tokens key="grown" amount={hold.grown_by} />],
        ['Held in all', <Tokens key="all" amount={hold.amount} />],
        ['Charged', <Tokens key="charged" amount={booked?.charged ?? null} />],
        ['Balance after it', <Tokens key="after" amount={booked?.balance_after ?? null} />],
        ['Held', <Time key="held" at={hold.created_at} detail="second" />],
        ['Last checkpoint', <Time key="seen" at={hold.checkpoint?.at ?? null} detail="second" />],
        ['Ended', <Time key="ended" at={hold.ended_at} detail="second" />],
      ]}
    />
  );
}

function UsageFacts({ usage }: { readonly usage: OperatorRequestRecord['usage'] }) {
  if (usage === null) return <p class="soft">It is counted when the request has ended.</p>;
  return (
    <Facts
      items={[
        ['Counted by', BASES[usage.basis] ?? usage.basis],
        ['Input', `${formatCount(usage.input_tokens)} tokens`],
        ['Of it cached', `${formatCount(usage.cached_input_tokens)} tokens`],
        ['Of it written to the cache', `${formatCount(usage.cache_write_tokens)} tokens`],
        ['Output', `${formatCount(usage.output_tokens)} tokens`],
        ['Of it reasoning', `${formatCount(usage.reasoning_tokens)} tokens`],
        [
          'The upstream reported',
          usage.reported === null ? (
            <Nothing key="none">Nothing</Nothing>
          ) : (
            <code key="report">{JSON.stringify(usage.reported)}</code>
          ),
        ],
        [
          'Doubt',
          usage.doubt === null ? (
            <Nothing key="doubt" />
          ) : (
            `${humanize(usage.doubt)}: ${DOUBTS[usage.doubt] ?? 'not charged'}`
          ),
        ],
      ]}
    />
  );
}

const BASES: Readonly<Record<string, string>> = {
  reported: 'the upstream',
  estimated: 'the gateway',
  recovered: 'the gateway, after it had died',
};

/** What was done with such a report. */
const DOUBTS: Readonly<Record<string, string>> = {
  malformed: 'not charged, since a count in it is missing or is none',
  inconsistent: 'not charged, since its counts do not make up their total',
  implausible:
    'more than the model could have read, or was allowed to write; the larger of the own count and the bound of the request is charged',
  zero: 'charged as it is, although there was something to count',
};
