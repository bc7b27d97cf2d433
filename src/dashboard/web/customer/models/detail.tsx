// One model: its limits for this account, its current and announced prices, and snippets.

import type { ConnectionRecord } from '../../../records/key.ts';
import type {
  CustomerModelRecord,
  ModelListRecord,
  PriceWindowRecord,
  PricingRecord,
} from '../../../records/model.ts';
import {
  Alert,
  Badge,
  Card,
  Empty,
  Facts,
  formatCount,
  formatTokens,
  formatUsd,
  humanize,
  Loaded,
  Nothing,
  Page,
  type PageProps,
  Table,
  Time,
  useResource,
} from '../../ui/index.ts';
import { Snippets } from '../keys/snippets-view.tsx';
import { Features } from './features.tsx';

const BACK = { href: '/models', label: 'Models' };

export function ModelPage({ params }: PageProps) {
  const models = useResource<ModelListRecord>('/models');
  return (
    <Loaded resource={models}>
      {(list) => {
        const model = list.data.find(({ id }) => id === params['id']);
        if (model !== undefined) return <Shown model={model} list={list} />;
        return (
          <Page title="Model not found" back={BACK}>
            <Empty title="No model has this name">It may have been removed.</Empty>
          </Page>
        );
      }}
    </Loaded>
  );
}

function Shown({
  model,
  list,
}: {
  readonly model: CustomerModelRecord;
  readonly list: ModelListRecord;
}) {
  const connection = useResource<ConnectionRecord>('/connection');
  const { display_name, description, available, pricing, limits } = model;
  const named = (slug: string) => list.plans.find((plan) => plan.slug === slug)?.name ?? slug;
  return (
    <Page title={display_name} lead={description} back={BACK}>
      {!available && (
        <Alert tone="warning" title={`Your plan, ${list.plan.name}, does not include this model.`}>
          {model.plans.length === 0
            ? 'No plan includes it now.'
            : `Included in ${model.plans.map(named).join(', ')}. Ask the operator to change your plan.`}
        </Alert>
      )}
      {limits !== null && (
        <Alert tone="warning" title="This model has lower limits now">
          Capacity is reduced. The lower of the plan limit and the model limit applies.
        </Alert>
      )}
      <div class="grid">
        <Card title="Model">
          <Facts items={factsOf(model, named)} />
        </Card>
        <Card title="Your limits">
          <LimitFacts model={model} />
        </Card>
      </div>
      <Card title="Prices per 1M tokens" flush>
        <Prices pricing={pricing} />
      </Card>
      {pricing.schedule.some(({ windows }) => windows.length > 0) || pricing.schedule.length > 1 ? (
        <Card title="Price schedule" flush>
          <Schedule pricing={pricing} />
        </Card>
      ) : null}
      {available && (
        <Card title="Send a request">
          <Loaded resource={connection}>
            {(data) => <Snippets connection={{ ...data, model: model.id }} />}
          </Loaded>
        </Card>
      )}
    </Page>
  );
}

function factsOf(model: CustomerModelRecord, named: (slug: string) => string) {
  const { id, aliases, context_window, max_output_tokens, features, plans } = model;
  return [
    ['Model id', <code key="id">{id}</code>],
    ['Aliases', aliases.length === 0 ? <Nothing /> : <code key="a">{aliases.join(', ')}</code>],
    ['Context window', `${formatCount(context_window)} tokens`],
    ['Max output', `${formatCount(max_output_tokens)} tokens`],
    ['Capabilities', <Features key="can" features={features} />],
    ['Plans', plans.length === 0 ? <Nothing /> : plans.map(named).join(', ')],
  ] as const;
}

function LimitFacts({ model }: { readonly model: CustomerModelRecord }) {
  const { effective_limits: now, limits, effective_context } = model;
  const value = (limit: number, unit: string, lowered: number | null | undefined) => (
    <>
      {formatCount(limit)} {unit}{' '}
      {lowered !== null && lowered !== undefined && lowered <= limit && (
        <Badge tone="warning">Lowered</Badge>
      )}
    </>
  );
  return (
    <Facts
      items={[
        ['Requests', value(now.requests_per_minute, 'per minute', limits?.requests_per_minute)],
        ['Tokens', value(now.tokens_per_minute, 'per minute', limits?.tokens_per_minute)],
        ['Concurrent', value(now.concurrent_requests, 'requests', limits?.concurrent_requests)],
        ['Max context', `${formatCount(effective_context)} tokens`],
      ]}
    />
  );
}

const KINDS = [
  ['input', 'Input'],
  ['cached_input', 'Cached input'],
  ['cache_write', 'Cache write'],
  ['output', 'Output (with reasoning)'],
] as const;

function Prices({ pricing }: { readonly pricing: PricingRecord }) {
  return (
    <>
      <Table
        caption="Prices"
        rows={KINDS}
        rowKey={([name]) => name}
        columns={[
          { label: 'Tokens', show: ([, label]) => label },
          { label: 'USD', end: true, show: ([name]) => formatUsd(pricing[name]) },
          {
            label: 'Service tokens',
            end: true,
            show: ([name]) => formatTokens(pricing.svc_tokens[name]),
          },
        ]}
      />
      {pricing.next_change_at !== null && (
        <div class="table-foot">
          <span class="soft">
            Next price change: <Time at={pricing.next_change_at} />.
          </span>
        </div>
      )}
    </>
  );
}

type Period = {
  readonly key: string;
  readonly when: preact.ComponentChildren;
  readonly rates: Pick<PricingRecord, 'input' | 'cached_input' | 'output'>;
};

/** The first period is the current one. A window has other rates at some hours of its days. */
function Schedule({ pricing }: { readonly pricing: PricingRecord }) {
  const rows = pricing.schedule.flatMap((period, index): Period[] => [
    {
      key: `${index}`,
      when: (
        <>
          {index === 0 || period.valid_from === null ? 'Now' : <Time at={period.valid_from} />}
          {period.windows.length > 0 && ', other hours'}
        </>
      ),
      rates: period,
    },
    ...period.windows.map((window, place) => ({
      key: `${index} ${place}`,
      when: <span class="soft">{windowName(window)}</span>,
      rates: window,
    })),
  ]);
  return (
    <Table
      caption="Price schedule"
      rows={rows}
      rowKey={({ key }) => key}
      columns={[
        { label: 'From', wrap: true, show: ({ when }) => when },
        { label: 'Input', end: true, show: ({ rates }) => formatUsd(rates.input) },
        { label: 'Cached', end: true, show: ({ rates }) => formatUsd(rates.cached_input) },
        { label: 'Output', end: true, show: ({ rates }) => formatUsd(rates.output) },
      ]}
    />
  );
}

function windowName({ from, to, days }: PriceWindowRecord): string {
  const every = days.length === 7 ? 'every day' : days.map(humanize).join(', ');
  return `${from} to ${to} UTC, ${every}`;
}
