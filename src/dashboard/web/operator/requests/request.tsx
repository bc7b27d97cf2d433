// The full history of one request: attempts, usage, charge, cost and margin.

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
        <Alert title="In progress">Nothing is charged yet. Reload this page later.</Alert>
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
            label="Upstream cost"
            value={costs === null ? '–' : <Tokens amount={costs.total} />}
            hint={costsHint(costs)}
          />
          <Stat
            label="Margin"
            value={costs?.margin == null ? '–' : <Tokens amount={costs.margin} />}
            hint="Charge minus cost"
          />
          <Stat
            label="Loss"
            value={<Tokens amount={booked.loss} />}
            hint="Not covered by the balance"
          />
        </Stats>
      )}
      <div class="grid">
        <Card title="Request">
          <RequestFacts history={history} />
        </Card>
        <Card title="Hold">
          <HoldFacts history={history} />
        </Card>
      </div>
      <Card title="Attempts" flush>
        {history.attempts.length === 0 ? (
          <Empty title="No attempts recorded">Attempts are recorded when the request ends.</Empty>
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
  if (costs === null) return 'No costs in the catalog';
  return costs.complete ? 'All attempts' : 'Incomplete: a cost is missing in the catalog';
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
        ['Outcome', request === null ? 'In progress' : <StateBadge state={request.outcome} />],
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
        ['Max output', `${formatCount(hold.output_bound)} tokens`],
        ['Initial hold', <Tokens key="first" amount={hold.first_amount} />],
        ['Added later', <Tokens key="grown" amount={hold.grown_by} />],
        ['Total hold', <Tokens key="all" amount={hold.amount} />],
        ['Charged', <Tokens key="charged" amount={booked?.charged ?? null} />],
        ['Balance after', <Tokens key="after" amount={booked?.balance_after ?? null} />],
        ['Created', <Time key="held" at={hold.created_at} detail="second" />],
        ['Last checkpoint', <Time key="seen" at={hold.checkpoint?.at ?? null} detail="second" />],
        ['Ended', <Time key="ended" at={hold.ended_at} detail="second" />],
      ]}
    />
  );
}

function UsageFacts({ usage }: { readonly usage: OperatorRequestRecord['usage'] }) {
  if (usage === null) return <p class="soft">Counted when the request ends.</p>;
  return (
    <Facts
      items={[
        ['Source', BASES[usage.basis] ?? usage.basis],
        ['Input', `${formatCount(usage.input_tokens)} tokens`],
        ['Cached', `${formatCount(usage.cached_input_tokens)} tokens`],
        ['Cache write', `${formatCount(usage.cache_write_tokens)} tokens`],
        ['Output', `${formatCount(usage.output_tokens)} tokens`],
        ['Reasoning', `${formatCount(usage.reasoning_tokens)} tokens`],
        [
          'Upstream report',
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
  reported: 'Upstream',
  estimated: 'Gateway',
  recovered: 'Gateway, after a crash',
};

/** How the charge treats such a report. */
const DOUBTS: Readonly<Record<string, string>> = {
  malformed: 'ignored: a count is missing or invalid',
  inconsistent: 'ignored: the counts don’t add up to their total',
  implausible:
    'exceeds what the model could read or write; the larger of the gateway’s count and the request’s bound is charged',
  zero: 'charged as reported, although tokens were expected',
};
