// What a request reserved: the facts that both applications show.

import type { RequestHistoryRecord } from '../../records/customer-request.ts';
import { t } from '../text/t.ts';
import { Amount } from './amount.tsx';
import { tokenCount } from './format.ts';
import type { Fact } from './parts.tsx';

type Hold = Pick<
  RequestHistoryRecord['hold'],
  'estimated_prompt_tokens' | 'output_bound' | 'first_amount' | 'grown_by' | 'amount'
>;

export function holdItems(hold: Hold): readonly Fact[] {
  return [
    [t('Estimated prompt'), tokenCount(hold.estimated_prompt_tokens)],
    [t('Max output'), tokenCount(hold.output_bound)],
    [t('Initial hold'), <Amount key="first" tokens={hold.first_amount} detail="exact" />],
    [t('Hold increases'), <Amount key="grown" tokens={hold.grown_by} detail="exact" />],
    [t('Total hold'), <Amount key="all" tokens={hold.amount} detail="exact" />],
  ];
}
