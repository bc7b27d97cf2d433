// One model: its limits for this account, its prices now and later, and how to ask for it.

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
          <Page title="There is no such model" back={BACK}>
            <Empty title="No model has this name">It may have been taken out of service.</Empty>
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
            ? 'No plan has it at the moment.'
            : `It is in ${model.plans.map(named).join(', ')}. Ask the operator to change your plan.`}
        </Alert>
      )}
      {limits !== null && (
        <Alert tone="warning" title="The limits of this model are lowered at the moment.">
          There is less capacity than usual. The lower limit of plan and model applies.
        </Alert>
      )}
      <div class="grid">
        <Card title="The model">
          <Facts items={factsOf(model, named)} />
        </Card>
        <Card title="Limits for your account">
          <LimitFacts model={model} />
        </Card>
      </div>
      <Card title="Prices for a million tokens" flush>
        <Prices pricing={pricing} />
      </Card>
      {pricing.schedule.some(({ windows }) => windows.length > 0) || pricing.schedule.length > 1 ? (
        <Card title="When prices change" flush>
          <Schedule pricing={pricing} />
        </Card>
      ) : null}
      {available && (
        <Card title="Ask for it">
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
    ['Name for requests', <code key="id">{id}</code>],
    ['Also called', aliases.length === 0 ? <Nothing /> : <code key="a">{aliases.join(', ')}</code>],
    ['Context window', `${formatCount(context_window)} tokens`],
    ['Longest answer', `${formatCount(max_output_tokens)} tokens`],
    ['Can', <Features key="can" features={features} />],
    ['In the plans', plans.length === 0 ? <Nothing /> : plans.map(named).join(', ')],
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
        ['Requests', value(now.requests_per_minute, 'a minute', limits?.requests_per_minute)],
        ['Tokens', value(now.tokens_per_minute, 'a minute', limits?.tokens_per_minute)],
        ['At once', value(now.concurrent_requests, 'requests', limits?.concurrent_requests)],
        ['Prompt and answer', `${formatCount(effective_context)} tokens at most`],
      ]}
    />
  );
}

const KINDS = [
  ['input', 'Input'],
  ['cached_input', 'Input from the cache'],
  ['cache_write', 'Input written to the cache'],
  ['output', 'Output, reasoning included'],
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
            The price changes next on <Time at={pricing.next_change_at} />.
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

/** The first period is the one in force; a window is dearer or cheaper for some hours of its days. */
function Schedule({ pricing }: { readonly pricing: PricingRecord }) {
  const rows = pricing.schedule.flatMap((period, index): Period[] => [
    {
      key: `${index}`,
      when: (
        <>
          {index === 0 || period.valid_from === null ? 'Now' : <Time at={period.valid_from} />}
          {period.windows.length > 0 && ', at all other hours'}
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
      caption="When prices change"
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
