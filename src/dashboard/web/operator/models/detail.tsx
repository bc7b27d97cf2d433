// One model: its upstreams, price and plans, and the lower limits of an incident.

import { useState } from 'preact/hooks';
import type {
  OperatorModelRecord,
  OperatorModelsRecord,
} from '../../../records/operator-catalog.ts';
import {
  Alert,
  Button,
  Card,
  ConfirmDialog,
  Empty,
  Facts,
  formatCount,
  LinkButton,
  Loaded,
  Nothing,
  Page,
  type PageProps,
  remove,
  StateBadge,
  Table,
  Time,
  Tokens,
  toast,
  Usd,
  useResource,
} from '../../ui/index.ts';
import { useRefresh } from '../refresh.ts';
import { IncidentDialog, incidentWords } from './incident.tsx';

export function ModelPage({ params }: PageProps) {
  const models = useResource<OperatorModelsRecord>('/models');
  useRefresh(models.reload, 15_000);
  const id = params['id'] ?? '';
  return (
    <Loaded resource={models} lines={8}>
      {({ models: rows }) => {
        const model = rows.find((row) => row.id === id || row.aliases.includes(id));
        if (model === undefined) return <Gone id={id} />;
        return <Shown model={model} reload={models.reload} />;
      }}
    </Loaded>
  );
}

const BACK = { href: '/models', label: 'Models' };

function Gone({ id }: { readonly id: string }) {
  return (
    <Page title={id} back={BACK}>
      <Empty title="Model not found">The active catalog does not contain it.</Empty>
    </Page>
  );
}

type Props = { readonly model: OperatorModelRecord; readonly reload: () => Promise<void> };

function Shown({ model, reload }: Props) {
  const [asking, setAsking] = useState<'limit' | 'clear' | undefined>(undefined);
  const { incident } = model;
  return (
    <Page
      title={model.id}
      lead={model.description || undefined}
      back={BACK}
      actions={
        <>
          <LinkButton href="/prices">Prices</LinkButton>
          <Button onClick={() => setAsking('limit')}>
            {incident === null ? 'Lower limits' : 'Change limits'}
          </Button>
        </>
      }
    >
      {incident && (
        <Alert
          tone="warning"
          title={`Limited to ${incidentWords(incident)} per account`}
          actions={
            <Button size="small" onClick={() => setAsking('clear')}>
              End incident
            </Button>
          }
        >
          <p>
            Since <Time at={incident.updated_at} />
            {incident.reason && `: ${incident.reason}`}
          </p>
        </Alert>
      )}
      <div class="grid">
        <About model={model} />
        <Today model={model} />
      </div>
      <Places model={model} />
      {asking === 'limit' && (
        <IncidentDialog model={model} reload={reload} onClose={() => setAsking(undefined)} />
      )}
      {asking === 'clear' && (
        <ConfirmDialog
          title="End incident?"
          consequences={[`The plan's limits apply to ${model.id} again at once, for all accounts.`]}
          confirm="End incident"
          act={async () => {
            await remove(`/models/${model.id}/incident`);
            toast('Incident ended. Plan limits apply again.');
            await reload();
          }}
          onClose={() => setAsking(undefined)}
        />
      )}
    </Page>
  );
}

function About({ model }: Pick<Props, 'model'>) {
  const { price } = model;
  return (
    <Card title="Model">
      <Facts
        items={[
          ['State', <StateBadge key="state" state={model.state} />],
          ['Aliases', model.aliases.join(', ') || <Nothing key="aliases" />],
          ['Context', `${formatCount(model.context_window)} tokens`],
          ['Output', `max ${formatCount(model.max_output_tokens)} tokens`],
          ['Features', model.features.join(', ') || <Nothing key="features" />],
          ['Plans', model.plans.join(', ') || <Nothing key="plans" />],
          ['Fallbacks', model.fallbacks.join(', ') || <Nothing key="fallbacks" />],
          [
            'Price per 1M tokens',
            <span key="price">
              <Usd amount={price.input} /> input, <Usd amount={price.cached_input} /> cached,{' '}
              <Usd amount={price.output} /> output
            </span>,
          ],
          ['Next price change', <Time key="next" at={model.next_change_at} />],
        ]}
      />
    </Card>
  );
}

function Today({ model: { last_day: day, has_catalog_limits: limited } }: Pick<Props, 'model'>) {
  return (
    <Card title="Last 24 hours">
      <Facts
        items={[
          ['Requests', formatCount(day.requests)],
          ['Failed', formatCount(day.failed)],
          ['Output', `${formatCount(day.output_tokens)} tokens`],
          [
            'Spent',
            <span key="spent">
              <Usd amount={day.spent_usd} short /> (<Tokens amount={day.spent} decimals={0} />{' '}
              service tokens)
            </span>,
          ],
          ['Catalog limits', limited ? 'Lower than the plans’ limits' : 'None'],
        ]}
      />
    </Card>
  );
}

function Places({ model: { placements } }: Pick<Props, 'model'>) {
  return (
    <Card title="Upstreams" flush>
      <Table
        caption="Upstreams of this model"
        rows={placements}
        rowKey={({ upstream, upstream_model }) => `${upstream} ${upstream_model}`}
        href={({ upstream }) => `/upstreams/${upstream}`}
        columns={[
          { label: 'Upstream', show: ({ upstream }) => upstream },
          { label: 'Upstream model', show: ({ upstream_model }) => upstream_model },
          { label: 'Weight', end: true, show: ({ weight }) => String(weight) },
          {
            label: 'State',
            show: ({ disabled, breaker }) => (
              <StateBadge
                state={disabled ? 'out_of_service' : STATES[breaker]}
                tone={
                  disabled || breaker === 'half_open'
                    ? 'warning'
                    : breaker === 'open'
                      ? 'danger'
                      : 'good'
                }
              />
            ),
          },
          {
            label: 'Cost set',
            show: ({ has_cost: known }) => (known ? 'Yes' : 'No (excluded from margins)'),
          },
        ]}
      />
    </Card>
  );
}

const STATES = { closed: 'in_service', open: 'left_alone', half_open: 'being_tried' } as const;
