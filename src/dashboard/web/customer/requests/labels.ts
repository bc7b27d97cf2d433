// Sentences for the history of a request.

import type { RequestHistoryRecord } from '../../../records/customer-request.ts';
import { formatTokens } from '../../ui/index.ts';

type Usage = NonNullable<RequestHistoryRecord['usage']>;
type Booked = NonNullable<RequestHistoryRecord['booked']>;

const ENDINGS: Readonly<Record<string, string>> = {
  completed: 'Completed.',
  stopped_balance: 'Stopped early: your balance did not cover more output.',
  client_cancelled: 'The client disconnected before the answer was complete.',
  upstream_failed: 'The model failed, and no fallback could answer.',
  gateway_failed: 'The gateway could not finish this request.',
};

export function endingWords(outcome: string): string {
  return ENDINGS[outcome] ?? 'The request has ended.';
}

export function chargeWords(outcome: string, { debited, waived }: Booked): string {
  if (debited === '0') return 'Nothing was charged.';
  const charged = `${formatTokens(debited)} service tokens were charged`;
  const part = outcome === 'completed' ? '' : ' for the output up to then';
  const rest =
    waived === '0'
      ? ''
      : ` Your balance did not cover another ${formatTokens(waived)}, which you don’t owe.`;
  return `${charged}${part}.${rest}`;
}

/** The source of the token counts, and the reason for it. */
export function countWords({ basis, doubt }: Usage): string {
  if (basis === 'recovered') {
    return 'The gateway was interrupted. Tokens are counted up to its last record, and the charge never exceeds the hold.';
  }
  if (basis === 'estimated') {
    const why = doubt === null ? 'the model reported none' : DOUBTS[doubt];
    return `The gateway counted the tokens, because ${why}.`;
  }
  const zero = doubt === 'zero' ? ' It reported no usage, which is accepted.' : '';
  return `The model reported the tokens.${zero}`;
}

const DOUBTS: Readonly<Record<NonNullable<Usage['doubt']>, string>> = {
  malformed: 'the model reported invalid counts',
  inconsistent: 'the model reported contradictory counts',
  implausible: 'the model reported more tokens than possible',
  zero: 'the model reported no usage',
};

export const PRICE_NAMES: Readonly<
  Record<RequestHistoryRecord['calculations'][number]['buckets'][number]['name'], string>
> = {
  input: 'Input',
  cached_input: 'Cached input',
  cache_write: 'Cache write',
  output: 'Output',
};
