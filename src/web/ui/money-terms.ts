// What one service token costs and how the pages write money; set when the session is loaded.

import { signal } from '@preact/signals';

export const moneyTerms = signal({
  /** What a million service tokens cost in USD. */
  usdPerMillion: '1',
  currency: { code: 'USD', perUsd: '1' },
});
