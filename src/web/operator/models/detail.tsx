// One model: its upstreams, price and plans, and the lower limits of an incident.

import { useState } from 'preact/hooks';
import type {
  OperatorModelRecord,
  OperatorModelsRecord,
} from '../../../dashboard/records/operator-model.ts';
import { requestsBetween } from '../../shared/requests/addresses.ts';
import { rich } from '../../text/rich.ts';
import { spoken } from '../../text/said.ts';
import { listed, t } from '../../text/t.ts';
import { Amount, OtherAmount, Price } from '../../ui/amount.tsx';
import { remove } from '../../ui/api.ts';
import { Button, LinkButton } from '../../ui/button.tsx';
import { stateColumn } from '../../ui/common-columns.tsx';
import { ConfirmDialog } from '../../ui/dialog.tsx';
import { formatCount, tokenCount } from '../../ui/format.ts';
import type { PageProps } from '../../ui/page.ts';
import { Alert, Card, Empty, Facts, Loaded, Page } from '../../ui/parts.tsx';
import { useResource } from '../../ui/resource.ts';
import { Speeds } from '../../ui/speeds.tsx';
import { Table } from '../../ui/table.tsx';
import { Nothing, StateBadge, Time } from '../../ui/text.tsx';
import { choiceText } from '../catalog/labels.ts';
import { useRefresh } from '../refresh.ts';
import { IncidentDialog, incidentWords } from './incident.tsx';

export function View({ params }: PageProps) {
  const models = useResource<OperatorModelsRecord>('/models');
  useRefresh(models, 15_000);
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

const BACK = { href: '/models', label: t('Models') };

function Gone({ id }: { readonly id: string }) {
  return (
    <Page title={id} back={BACK}>
      <Empty title={t('Model not found')}>{t('The active catalog does not contain it.')}</Empty>
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
          <LinkButton href={`/catalog/edit/model/${model.id}`}>{t('Edit')}</LinkButton>
          <LinkButton href="/prices">{t('Prices')}</LinkButton>
          <Button needs="service.manage" onClick={() => setAsking('limit')}>
            {incident === null ? t('Lower limits') : t('Change limits')}
          </Button>
        </>
      }
    >
      {incident && (
        <Alert
          tone="warning"
          title={t('Limited to {incident} per account', { incident: incidentWords(incident) })}
          actions={
            <Button size="small" needs="service.manage" onClick={() => setAsking('clear')}>
              {t('End incident')}
            </Button>
          }
        >
          <p>
            {rich('Since {at}', { at: <Time at={incident.updated_at} /> })}
            {incident.reason && `: ${incident.reason}`}
          </p>
        </Alert>
      )}
      <div class="grid">
        <About model={model} />
        <Today model={model} />
      </div>
      <Places model={model} />
      <Speeds
        path={`/models/${model.id}/speeds`}
        withModels={false}
        href={(from, to, failed) =>
          requestsBetween(from, to, { served: model.id, outcome: failed ? 'failed' : '' })
        }
      />
      {asking === 'limit' && (
        <IncidentDialog model={model} onDone={reload} onClose={() => setAsking(undefined)} />
      )}
      {asking === 'clear' && (
        <ConfirmDialog
          title={t('End incident?')}
          consequences={[
            t("The plan's limits apply to {id} again at once, for all accounts.", { id: model.id }),
          ]}
          confirm={t('End incident')}
          act={() => remove(`/models/${model.id}/incident`)}
          done={t('Incident ended. Plan limits apply again.')}
          onDone={reload}
          onClose={() => setAsking(undefined)}
        />
      )}
    </Page>
  );
}

function About({ model }: Pick<Props, 'model'>) {
  const { price } = model;
  return (
    <Card title={t('Model')}>
      <Facts
        items={[
          [t('State'), <StateBadge key="state" state={model.state} />],
          [t('Aliases'), model.aliases.join(', ') || <Nothing key="aliases" />],
          [t('Context'), tokenCount(model.context_window)],
          [
            t('Output'),
            t('max {maxOutputTokens} tokens', {
              maxOutputTokens: formatCount(model.max_output_tokens),
            }),
          ],
          [t('Features'), listed(model.features.map(choiceText)) || <Nothing key="features" />],
          [t('Plans'), model.plans.join(', ') || <Nothing key="plans" />],
          [t('Fallbacks'), model.fallbacks.join(', ') || <Nothing key="fallbacks" />],
          [
            t('Price per 1M tokens'),
            <span key="price">
              {rich('{input} input, {cachedInput} cached, {output} output', {
                input: <Price usd={price.input} />,
                cachedInput: <Price usd={price.cached_input} />,
                output: <Price usd={price.output} />,
              })}
            </span>,
          ],
          [t('Next price change'), <Time key="next" at={model.next_change_at} />],
        ]}
      />
    </Card>
  );
}

function Today({ model: { last_day: day, has_catalog_limits: limited } }: Pick<Props, 'model'>) {
  return (
    <Card title={t('Last 24 hours')}>
      <Facts
        items={[
          [t('Requests'), formatCount(day.requests)],
          [t('Failed'), formatCount(day.failed)],
          [t('Output'), tokenCount(day.output_tokens)],
          [
            t('Spent'),
            <span key="spent">
              <Amount tokens={day.spent} usd={day.spent_usd} />{' '}
              <span class="soft">
                (<OtherAmount tokens={day.spent} usd={day.spent_usd} />)
              </span>
            </span>,
          ],
          [t('Catalog limits'), limited ? t('Lower than the plans’ limits') : t('None')],
        ]}
      />
    </Card>
  );
}

function Places({ model: { placements } }: Pick<Props, 'model'>) {
  return (
    <Card title={t('Upstreams')} flush>
      <Table
        caption={t('Upstreams of this model')}
        rows={placements}
        rowKey={({ upstream, upstream_model }) => `${upstream} ${upstream_model}`}
        href={({ upstream }) => `/upstreams/${upstream}`}
        columns={[
          { label: t('Upstream'), show: ({ upstream }) => upstream },
          { label: t('Upstream model'), show: ({ upstream_model }) => upstream_model },
          {
            label: t('Profile'),
            card: 'labelled',
            show: ({ profile, profile_reason: reason }) => (
              <>
                {profile} <span class="soft">({spoken({ text: reason, values: {} })})</span>
              </>
            ),
          },
          { label: t('Weight'), end: true, show: ({ weight }) => String(weight) },
          stateColumn(t('State'), 'state'),
          {
            label: t('Cost set'),
            card: 'labelled',
            show: ({ has_cost: known }) => (known ? t('Yes') : t('No (excluded from margins)')),
          },
        ]}
      />
    </Card>
  );
}
