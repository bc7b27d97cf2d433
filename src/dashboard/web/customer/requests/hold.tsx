// What a request reserved.

import type { RequestHistoryRecord } from '../../../records/customer-request.ts';
import { t } from '../../text/t.ts';
import { holdItems } from '../../ui/hold-items.tsx';
import { Card, Facts } from '../../ui/parts.tsx';

export function HeldCard({ history: { hold } }: { readonly history: RequestHistoryRecord }) {
  return (
    <Card title={t('Hold')}>
      <Facts
        items={[
          ...holdItems(hold),
          [t('Price version'), <code key="price">{hold.price_version}</code>],
        ]}
      />
      <p class="soft small">
        {t(
          'A hold reserves balance for the longest possible answer. The unused part is released when the request ends.',
        )}
      </p>
    </Card>
  );
}
