// The usage of an account over the last 30 days by model, as its owner sees it.

import { useState } from 'preact/hooks';
import type { UsageMeasure, UsageRecord } from '../../../records/customer-usage.ts';
import { t } from '../../text/t.ts';
import { withQuery } from '../../ui/api.ts';
import { Chart } from '../../ui/chart.tsx';
import { Card, Empty, Loaded } from '../../ui/parts.tsx';
import { useResource } from '../../ui/resource.ts';
import { Segments } from '../../ui/tabs.tsx';
import { chartOf, MEASURES, titleOf } from '../../ui/usage-chart.ts';

const NO_FILTER = { model: '', key: '', end_user: '' };

export function AccountUsage({ id }: { readonly id: string }) {
  const [measure, setMeasure] = useState<UsageMeasure>('spent');
  const usage = useResource<UsageRecord>(
    withQuery(`/accounts/${id}/usage`, { days: '30', step: 'day', group_by: 'model', measure }),
  );
  return (
    <Card
      title={titleOf(measure, 'day')}
      actions={
        <Segments<UsageMeasure>
          label={t('Chart')}
          choices={MEASURES}
          active={measure}
          onChange={setMeasure}
        />
      }
    >
      <Loaded resource={usage} lines={6}>
        {(data) =>
          data.total.requests === 0 ? (
            <Empty title={t('No requests')}>{t('No requests in this period.')}</Empty>
          ) : (
            <Chart key={measure} {...chartOf(data, measure, { ...NO_FILTER, account: id })} />
          )
        }
      </Loaded>
    </Card>
  );
}
