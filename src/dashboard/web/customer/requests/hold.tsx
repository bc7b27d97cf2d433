// What a request reserved.

import type { RequestHistoryRecord } from '../../../records/customer-request.ts';
import { t } from '../../text/t.ts';
import { Amount, Card, Facts, formatCount } from '../../ui/index.ts';

export function HeldCard({ history: { hold } }: { readonly history: RequestHistoryRecord }) {
  return (
    <Card title={t('Hold')}>
      <Facts
        items={[
          [
            t('Estimated prompt'),
            t('{estimatedPromptTokens} tokens', {
              estimatedPromptTokens: formatCount(hold.estimated_prompt_tokens),
            }),
          ],
          [
            t('Max output'),
            t('{outputBound} tokens', { outputBound: formatCount(hold.output_bound) }),
          ],
          [t('Initial hold'), <Amount key="first" tokens={hold.first_amount} detail="exact" />],
          [t('Hold increases'), <Amount key="later" tokens={hold.grown_by} detail="exact" />],
          [t('Total'), <Amount key="all" tokens={hold.amount} detail="exact" />],
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
