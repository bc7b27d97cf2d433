// The facts of a request that both audiences see.

import type { RequestHistoryRecord } from '../../../dashboard/records/customer-request.ts';
import { t } from '../../text/t.ts';
import { Amount, OtherAmount } from '../../ui/amount.tsx';
import { tokenCount } from '../../ui/format.ts';
import { labelOf } from '../../ui/labels.ts';
import { type Fact, Stat } from '../../ui/parts.tsx';
import { Nothing, StateBadge } from '../../ui/text.tsx';
import type { Audience } from '../audience.ts';

type Hold = Pick<
  RequestHistoryRecord['hold'],
  'estimated_prompt_tokens' | 'output_bound' | 'first_amount' | 'grown_by' | 'amount'
>;

/** What a request reserved. */
export function holdItems(hold: Hold): readonly Fact[] {
  return [
    [t('Estimated prompt'), tokenCount(hold.estimated_prompt_tokens)],
    [t('Max output'), tokenCount(hold.output_bound)],
    [t('Initial hold'), <Amount key="first" tokens={hold.first_amount} detail="exact" />],
    [t('Hold increases'), <Amount key="grown" tokens={hold.grown_by} detail="exact" />],
    [t('Total hold'), <Amount key="all" tokens={hold.amount} detail="exact" />],
  ];
}

/** The requested model, and the one that served. */
export function modelItems({ requested, served }: RequestHistoryRecord['model']): readonly Fact[] {
  const isFallback = served !== null && served !== requested;
  return [
    [t('Model'), requested],
    [
      t('Served by'),
      isFallback ? t('{served} (fallback)', { served }) : (served ?? <Nothing key="served" />),
    ],
  ];
}

type Ended = Pick<NonNullable<RequestHistoryRecord['request']>, 'outcome' | 'format' | 'stream'>;

/** `request` is null while it is in progress. Customers see the format's name in the API. */
export function outcomeItems(audience: Audience, request: Ended | null): readonly Fact[] {
  if (request === null) {
    return [
      [t('Outcome'), t('In progress')],
      [t('Format'), <Nothing key="format" />],
    ];
  }
  const { outcome, format, stream } = request;
  const name = audience === 'all' ? labelOf(format) : format;
  return [
    [t('Outcome'), <StateBadge key="outcome" state={outcome} />],
    [t('Format'), `${name}${stream ? t(', streamed') : ''}`],
  ];
}

/** What the request cost its account. */
export function DebitedStat({
  label,
  booked: { debited, debited_usd: usd },
}: {
  readonly label: string;
  readonly booked: Pick<NonNullable<RequestHistoryRecord['booked']>, 'debited' | 'debited_usd'>;
}) {
  return (
    <Stat
      label={label}
      value={<Amount tokens={debited} usd={usd} />}
      hint={<OtherAmount tokens={debited} usd={usd} />}
    />
  );
}
