// Sentences for the history of a request.

import type { RequestHistoryRecord } from '../../../dashboard/records/customer-request.ts';
import { t } from '../../text/t.ts';
import { amountText } from '../../ui/amount-text.ts';

type Usage = NonNullable<RequestHistoryRecord['usage']>;
type Booked = NonNullable<RequestHistoryRecord['booked']>;

const ENDINGS: Readonly<Record<string, string>> = {
  completed: t('Completed.'),
  stopped_balance: t('Stopped early: your balance did not cover more output.'),
  client_cancelled: t('The client disconnected before the answer was complete.'),
  upstream_failed: t('The model could not answer.'),
  gateway_failed: t('The gateway could not finish this request.'),
};

export function endingWords(outcome: string): string {
  return ENDINGS[outcome] ?? t('The request has ended.');
}

export function chargeWords(outcome: string, { debited, waived }: Booked): string {
  if (debited === '0') return t('Nothing was charged.');
  const charged = t('{debited} was charged', { debited: amountText({ tokens: debited }) });
  const part = outcome === 'completed' ? '' : t(' for what was made until then');
  const rest =
    waived === '0'
      ? ''
      : t(' Your balance did not cover another {waived}, which you don’t owe.', {
          waived: amountText({ tokens: waived }),
        });
  return `${charged}${part}.${rest}`;
}

/** The source of the token counts, and the reason for it. */
export function countWords({ basis, doubt, estimate }: Usage): string {
  if (basis === 'recovered') {
    return t(
      'The gateway was interrupted. Tokens are counted up to its last record, and the charge never exceeds the hold.',
    );
  }
  if (basis === 'estimated') {
    const why = doubt === null ? t('the model’s report did not come') : DOUBTS[doubt];
    const counted = t('The gateway counted the tokens, because {why}.', { why });
    const unseen = t(' What the model made without sending it is estimated.');
    return estimate === undefined ? counted : `${counted}${unseen}`;
  }
  const zero = doubt === 'zero' ? t(' It reported no usage, which is accepted.') : '';
  return t('The model reported the tokens.{zero}', { zero });
}

const DOUBTS: Readonly<Record<NonNullable<Usage['doubt']>, string>> = {
  malformed: t('the model reported invalid counts'),
  inconsistent: t('the model reported contradictory counts'),
  implausible: t('the model reported more tokens than possible'),
  zero: t('the model reported no usage'),
  service_tier: t('the model named an unknown service tier'),
};
