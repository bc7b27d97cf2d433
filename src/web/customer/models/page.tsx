// The models of the service with prices, capabilities, and whether the plan includes them.

import { useState } from 'preact/hooks';
import type { CustomerModelRecord, ModelListRecord } from '../../../dashboard/records/model.ts';
import { t } from '../../text/t.ts';
import { Price } from '../../ui/amount.tsx';
import { CheckField, TextField } from '../../ui/field.tsx';
import { formatCompact, tokenCount } from '../../ui/format.ts';
import { Card, Loaded, Page } from '../../ui/parts.tsx';
import { useResource } from '../../ui/resource.ts';
import { NoMatch, Table } from '../../ui/table.tsx';
import { Badge } from '../../ui/text.tsx';
import { Features } from './features.tsx';
import { fits } from './search.ts';

export function View() {
  const models = useResource<ModelListRecord>('/models');
  const [search, setSearch] = useState('');
  const [mine, setMine] = useState(false);
  return (
    <Page
      title={t('Models')}
      lead={t('Prices in USD per 1M tokens. Each response states its exact cost.')}
    >
      <div class="filters">
        <TextField
          label={t('Search')}
          wide
          type="search"
          placeholder={t('Name, alias or feature')}
          value={search}
          onInput={setSearch}
        />
        <CheckField label={t('In my plan only')} checked={mine} onChange={setMine} />
      </div>
      <Card flush>
        <Loaded resource={models}>
          {({ data, plan }) => {
            const rows = data.filter((model) => (!mine || model.available) && fits(model, search));
            if (rows.length > 0) return <ModelTable rows={rows} plan={plan.name} />;
            return (
              <NoMatch
                clear={() => {
                  setSearch('');
                  setMine(false);
                }}
              />
            );
          }}
        </Loaded>
      </Card>
    </Page>
  );
}

function ModelTable({
  rows,
  plan,
}: {
  readonly rows: readonly CustomerModelRecord[];
  readonly plan: string;
}) {
  const price = (label: string, name: 'input' | 'cached_input' | 'output') => ({
    label,
    card: name === 'cached_input' ? ('hidden' as const) : ('detail' as const),
    end: true,
    show: ({ pricing }: CustomerModelRecord) => <Price usd={pricing[name]} />,
    sortBy: ({ pricing }: CustomerModelRecord) => Number(pricing[name]),
  });
  return (
    <Table
      caption={t('Models')}
      name="models"
      rows={rows}
      rowKey={({ id }) => id}
      href={({ id }) => `/models/${id}`}
      columns={[
        {
          label: t('Model'),
          sortBy: ({ id }) => id,
          show: ({ id, display_name }) => (
            <>
              <div>
                <strong>{display_name}</strong>
              </div>
              {display_name !== id && (
                <div>
                  <code class="soft">{id}</code>
                </div>
              )}
            </>
          ),
        },
        {
          label: t('In {plan}', { plan }),
          card: 'state',
          show: ({ available, status }) => (
            <div class="row">
              {available ? (
                <Badge tone="good">{t('Included')}</Badge>
              ) : (
                <Badge tone="neutral">{t('Not included')}</Badge>
              )}
              {status === 'degraded' && <Badge tone="warning">{t('Limits lowered')}</Badge>}
            </div>
          ),
        },
        price(t('Input'), 'input'),
        price(t('Cached'), 'cached_input'),
        price(t('Output'), 'output'),
        {
          label: t('Context'),
          card: 'value',
          end: true,
          show: ({ effective_context }) => (
            <span title={tokenCount(effective_context)}>{formatCompact(effective_context)}</span>
          ),
          sortBy: ({ effective_context }) => effective_context,
        },
        {
          label: t('Capabilities'),
          card: 'hidden',
          wrap: true,
          show: ({ features }) => <Features features={features} />,
        },
      ]}
    />
  );
}
