// The plans: their limits, the accounts on them, and links to their forms.

import type {
  OperatorPlanRecord,
  PlansRecord,
} from '../../../dashboard/records/operator-catalog.ts';
import { t } from '../../text/t.ts';
import { LinkButton } from '../../ui/button.tsx';
import { numberColumn } from '../../ui/common-columns.tsx';
import { formatCount } from '../../ui/format.ts';
import { Card, Loaded, Page } from '../../ui/parts.tsx';
import { may } from '../../ui/permission.ts';
import { useResource } from '../../ui/resource.ts';
import { Table } from '../../ui/table.tsx';
import { Badge, Nothing } from '../../ui/text.tsx';

export function View() {
  const plans = useResource<PlansRecord>('/catalog/plans');
  return (
    <Page
      title={t('Plans')}
      lead={t('Models and limits per plan.')}
      actions={
        may('service.manage') && (
          <LinkButton kind="primary" href="/catalog/new/plan">
            {t('New plan')}
          </LinkButton>
        )
      }
    >
      <Loaded resource={plans}>
        {({ plans: rows }) => (
          <Card flush>
            <PlansTable rows={rows} />
          </Card>
        )}
      </Loaded>
    </Page>
  );
}

const limit = (
  label: string,
  of: (plan: OperatorPlanRecord) => number | null,
  optional = false,
) => ({
  label,
  end: true,
  card: 'detail' as const,
  optional,
  show: (plan: OperatorPlanRecord) => {
    const value = of(plan);
    return value === null ? <Nothing>{t('None')}</Nothing> : formatCount(value);
  },
  sortBy: (plan: OperatorPlanRecord) => of(plan) ?? Number.POSITIVE_INFINITY,
});

function PlansTable({ rows }: { readonly rows: readonly OperatorPlanRecord[] }) {
  const hasCap = (cap: 'daily_tokens' | 'monthly_tokens') => rows.some((row) => row[cap] !== null);
  return (
    <Table
      caption={t('Plans')}
      name="plans"
      rows={rows}
      rowKey={({ id }) => id}
      href={({ id }) => `/catalog/edit/plan/${id}`}
      columns={[
        {
          label: t('Plan'),
          show: ({ id, is_built_in: isBuiltIn, in_file: inFile }) => (
            <span class="row">
              {id}
              {isBuiltIn && (
                <Badge tone="neutral">{inFile ? t('Built in, changed') : t('Built in')}</Badge>
              )}
            </span>
          ),
          sortBy: ({ id }) => id,
        },
        { label: t('Name'), show: ({ name }) => name, optional: true },
        numberColumn<OperatorPlanRecord>(t('Accounts'), ({ accounts }) => accounts, {
          card: 'detail',
        }),
        limit(t('Requests per minute'), (plan) => plan.requests_per_minute),
        limit(t('Tokens per minute'), (plan) => plan.tokens_per_minute),
        limit(t('Concurrent requests'), (plan) => plan.concurrent_requests),
        limit(t('Max prompt tokens'), (plan) => plan.max_context, true),
        limit(t('API keys'), (plan) => plan.max_api_keys, true),
        limit(t('Tokens per day'), (plan) => plan.daily_tokens, !hasCap('daily_tokens')),
        limit(t('Tokens per month'), (plan) => plan.monthly_tokens, !hasCap('monthly_tokens')),
        {
          label: t('Models'),
          show: ({ models }) => (models.includes('*') ? t('All models') : models.join(', ')),
        },
      ]}
    />
  );
}
