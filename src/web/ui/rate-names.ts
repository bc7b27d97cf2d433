// The rates of a price, in the order of forms and tables. `labelOf` has their labels.

import { t } from '../text/t.ts';

export const RATE_NAMES = [
  ...(['input', 'cached_input', 'cached_input_explicit'] as const),
  ...(['cache_write', 'cache_write_1h', 'output'] as const),
] as const;

/** Those that tables of prices show; lines below a price show the others. */
export const TABLE_RATES = ['input', 'cached_input', 'cache_write', 'output'] as const;

export type RateName = (typeof RATE_NAMES)[number];

/** What an empty field of a rate means; empty where the rate is required. */
export function emptyRate(name: RateName): string {
  if (name === 'input' || name === 'output') return '';
  if (name === 'cached_input_explicit') return t('Same as cached input');
  return name === 'cache_write_1h' ? t('Same as cache write') : t('Same as input');
}
