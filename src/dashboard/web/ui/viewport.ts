// Whether the window is as narrow as a phone, where tables become cards.

import { signal } from '@preact/signals';

const query = matchMedia('(max-width: 599.98px)');

export const isNarrow = signal(query.matches);

query.addEventListener('change', () => {
  isNarrow.value = query.matches;
});
