// One model: its limits for this account, its current and announced prices, and snippets.

import type { ConnectionRecord } from '../../../dashboard/records/key.ts';
import type {
  CustomerModelRecord,
  ModelListRecord,
  PricingRecord,
} from '../../../dashboard/records/model.ts';
import { PRICE_COLUMNS, priceRows } from '../../shared/prices.tsx';
import { requestsBetween } from '../../shared/requests/addresses.ts';
import { rich } from '../../text/rich.ts';
import { t } from '../../text/t.ts';
import { withQuery } from '../../ui/api.ts';
import { formatCount, groupDigits, tokenCount } from '../../ui/format.ts';
import { formatUsdExact } from '../../ui/format-money.ts';
import { labelOf } from '../../ui/labels.ts';
import type { PageProps } from '../../ui/page.ts';
import { Alert, Card, Empty, Facts, Loaded, Page } from '../../ui/parts.tsx';
import { RATE_NAMES, type RateName } from '../../ui/rate-names.ts';
import { useResource } from '../../ui/resource.ts';
import { Speeds } from '../../ui/speeds.tsx';
import { Table } from '../../ui/table.tsx';
import { Badge, Nothing, Time } from '../../ui/text.tsx';
import { Snippets } from '../keys/snippets-view.tsx';
import { Features } from './features.tsx';

const BACK = { href: '/models', label: t('Models') };

export function View({ params }: PageProps) {
  const models = useResource<ModelListRecord>('/models');
  return (
    <Loaded resource={models}>
      {(list) => {
        const model = list.data.find(({ id }) => id === params['id']);
        if (model !== undefined) return <Shown model={model} list={list} />;
        return (
          <Page title={t('Model not found')} back={BACK}>
            <Empty title={t('No model has this name')}>{t('It may have been removed.')}</Empty>
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
        <Alert
          tone="warning"
          title={t('Your plan, {name}, does not include this model.', { name: list.plan.name })}
        >
          {model.plans.length === 0
            ? t('No plan includes it now.')
            : t('Included in {plans}. Ask the operator to change your plan.', {
                plans: model.plans.map(named).join(', '),
              })}
        </Alert>
      )}
      {limits !== null && (
        <Alert tone="warning" title={t('This model has lower limits now')}>
          {t('Capacity is reduced. The lower of the plan limit and the model limit applies.')}
        </Alert>
      )}
      <div class="grid">
        <Card title={t('Model')}>
          <Facts items={factsOf(model, named)} />
        </Card>
        <Card title={t('Your limits')}>
          <LimitFacts model={model} />
        </Card>
      </div>
      <Card title={t('Prices per 1M tokens')} flush>
        <Prices pricing={pricing} />
      </Card>
      {pricing.schedule.some(({ windows }) => windows.length > 0) || pricing.schedule.length > 1 ? (
        <Card title={t('Price schedule')} flush>
          <Table
            caption={t('Price schedule')}
            rows={priceRows(pricing.schedule)}
            rowKey={({ key }) => key}
            columns={PRICE_COLUMNS}
          />
        </Card>
      ) : null}
      <Speeds
        path={withQuery('/usage/speeds', { model: model.id })}
        withModels={false}
        href={(from, to, failed) =>
          requestsBetween(from, to, { served: model.id, outcome: failed ? 'failed' : '' })
        }
      />
      {available && (
        <Card title={t('Send a request')}>
          <Loaded resource={connection}>
            {(data) => (
              <Snippets
                connection={{ ...data, model: model.id, reasoning: model.features.reasoning }}
              />
            )}
          </Loaded>
        </Card>
      )}
    </Page>
  );
}

function factsOf(model: CustomerModelRecord, named: (slug: string) => string) {
  const { id, aliases, context_window, max_output_tokens, features, plans } = model;
  return [
    [t('Model id'), <code key="id">{id}</code>],
    [t('Aliases'), aliases.length === 0 ? <Nothing /> : <code key="a">{aliases.join(', ')}</code>],
    [t('Context window'), tokenCount(context_window)],
    [t('Max output'), tokenCount(max_output_tokens)],
    [t('Capabilities'), <Features key="can" features={features} />],
    [t('Plans'), plans.length === 0 ? <Nothing /> : plans.map(named).join(', ')],
  ] as const;
}

function LimitFacts({ model }: { readonly model: CustomerModelRecord }) {
  const { effective_limits: now, limits, effective_context } = model;
  const value = (limit: number, unit: string, lowered: number | null | undefined) => (
    <>
      {formatCount(limit)} {unit}{' '}
      {lowered !== null && lowered !== undefined && lowered <= limit && (
        <Badge tone="warning">{t('Lowered')}</Badge>
      )}
    </>
  );
  return (
    <Facts
      items={[
        [
          t('Requests'),
          value(now.requests_per_minute, t('per minute'), limits?.requests_per_minute),
        ],
        [t('Tokens'), value(now.tokens_per_minute, t('per minute'), limits?.tokens_per_minute)],
        [t('Concurrent'), value(now.concurrent_requests, '', limits?.concurrent_requests)],
        [t('Max context'), tokenCount(effective_context)],
      ]}
    />
  );
}

const rateLabel = (name: RateName) =>
  name === 'output' ? t('Output (with reasoning)') : labelOf(name);

type PriceRow = {
  readonly key: string;
  readonly label: string;
  readonly usd: string;
  readonly tokens: string;
};

/** The rates of the price, then those of each tier by prompt length. */
function rateRows(pricing: PricingRecord): PriceRow[] {
  const all = [{ above_tokens: 0, ...pricing }, ...(pricing.tiers ?? [])];
  return all.flatMap((rates) =>
    RATE_NAMES.flatMap((name): PriceRow[] => {
      const { [name]: usd, above_tokens: bound } = rates;
      const tokens = rates.svc_tokens[name];
      if (usd === undefined || tokens === undefined) return [];
      const label = rateLabel(name);
      const above = t('{kind}, prompts above {tokens} tokens', {
        kind: label,
        tokens: formatCount(bound),
      });
      return [{ key: `${bound} ${name}`, label: bound === 0 ? label : above, usd, tokens }];
    }),
  );
}

function Prices({ pricing }: { readonly pricing: PricingRecord }) {
  return (
    <>
      <Table
        caption={t('Prices')}
        rows={rateRows(pricing)}
        rowKey={({ key }) => key}
        columns={[
          { label: t('Tokens'), show: ({ label }) => label },
          {
            label: t('USD per 1M tokens'),
            card: 'value',
            end: true,
            show: ({ usd }) => formatUsdExact(usd),
          },
          {
            label: t('Service tokens per 1M tokens'),
            end: true,
            show: ({ tokens }) => groupDigits(tokens),
          },
        ]}
      />
      {pricing.service_tiers !== undefined && (
        <div class="table-foot">
          <span class="soft">
            {Object.entries(pricing.service_tiers)
              .map(([name, factor]) => t('Service tier {name}: × {factor}', { name, factor }))
              .join('; ')}
          </span>
        </div>
      )}
      {pricing.next_change_at !== null && (
        <div class="table-foot">
          <span class="soft">
            {rich('Next price change: {nextChangeAt}.', {
              nextChangeAt: <Time at={pricing.next_change_at} />,
            })}
          </span>
        </div>
      )}
    </>
  );
}
