// The usage of an account over the last 30 days by model, as its owner sees it.

import { useState } from 'preact/hooks';
import type { UsageMeasure, UsageRecord } from '../../../records/customer-usage.ts';
import { t } from '../../text/t.ts';
import { Card, Chart, Empty, Loaded, Segments, useResource, withQuery } from '../../ui/index.ts';
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
