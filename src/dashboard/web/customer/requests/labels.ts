// The history of a request in sentences.

import type { RequestHistoryRecord } from '../../../records/customer-request.ts';
import { formatTokens } from '../../ui/index.ts';

type Usage = NonNullable<RequestHistoryRecord['usage']>;
type Booked = NonNullable<RequestHistoryRecord['booked']>;

const ENDINGS: Readonly<Record<string, string>> = {
  completed: 'The answer was completed.',
  stopped_balance: 'The answer was ended early: the balance would not have paid for more.',
  client_cancelled: 'Your program left before the answer was complete.',
  upstream_failed: 'The model failed, and no other one could take its place.',
  gateway_failed: 'The gateway could not finish this request.',
};

export function endingWords(outcome: string): string {
  return ENDINGS[outcome] ?? 'The request has ended.';
}

export function chargeWords(outcome: string, { debited, waived }: Booked): string {
  if (debited === '0') return 'Nothing was charged.';
  const charged = `${formatTokens(debited)} service tokens were charged`;
  const part = outcome === 'completed' ? '' : ' for what had been made by then';
  const rest =
    waived === '0'
      ? ''
      : ` The balance did not cover ${formatTokens(waived)} more, which nobody is asked for.`;
  return `${charged}${part}.${rest}`;
}

/** Where the counts come from, and why from there. */
export function countWords({ basis, doubt }: Usage): string {
  if (basis === 'recovered') {
    return 'The gateway was interrupted. The tokens are those that it knew of, and never cost more than was reserved.';
  }
  if (basis === 'estimated') {
    const why = doubt === null ? 'the model reported none' : DOUBTS[doubt];
    return `The tokens are the gateway’s own count, because ${why}.`;
  }
  const zero = doubt === 'zero' ? ' It reported that nothing was used, and that counts.' : '';
  return `The tokens are those that the model reported.${zero}`;
}

const DOUBTS: Readonly<Record<NonNullable<Usage['doubt']>, string>> = {
  malformed: 'the report of the model had counts that are none',
  inconsistent: 'the counts that the model reported contradicted each other',
  implausible: 'the model reported more than it could have used',
  zero: 'the model reported that nothing was used',
};

export const PRICE_NAMES: Readonly<
  Record<RequestHistoryRecord['calculations'][number]['buckets'][number]['name'], string>
> = {
  input: 'Input',
  cached_input: 'Input from the cache',
  cache_write: 'Input written to the cache',
  output: 'Output',
};
