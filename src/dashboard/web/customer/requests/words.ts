// The story of a request in sentences.

import type { RequestStoryRecord } from '../../../records/customer-request.ts';
import { formatTokens } from '../../ui/index.ts';

type Usage = NonNullable<RequestStoryRecord['usage']>;
type Booked = NonNullable<RequestStoryRecord['booked']>;

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

/** Where the counts come from. */
export const BASES: Readonly<Record<Usage['basis'], string>> = {
  reported: 'The tokens are those that the model reported.',
  estimated: 'The model reported nothing to go by, so the tokens are the gateway’s own count.',
  recovered:
    'The gateway was interrupted. The tokens are what it knew of, never more than was reserved.',
};

export const DOUBTS: Readonly<Record<NonNullable<Usage['doubt']>, string>> = {
  malformed: 'Its report had counts that are none.',
  inconsistent: 'The counts of its report contradicted each other.',
  implausible: 'Its report was more than could have been used.',
  zero: 'It reported nothing used, and that is what counts.',
};

export const PRICE_NAMES: Readonly<
  Record<RequestStoryRecord['calculations'][number]['buckets'][number]['name'], string>
> = {
  input: 'Input',
  cached_input: 'Input from the cache',
  cache_write: 'Input written to the cache',
  output: 'Output',
};
