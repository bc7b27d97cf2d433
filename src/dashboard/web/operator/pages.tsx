// Every page of the operator's console, in the order of the navigation.

import type { PageEntry } from '../ui/page.ts';

export const PAGES: readonly PageEntry[] = [
  {
    path: '/',
    title: 'Overview',
    group: '',
    load: async () => (await import('./home.tsx')).HomePage,
  },
];
