// Every page of the customers' application, in the order of the navigation.

import type { PageEntry } from '../ui/page.ts';

export const PAGES: readonly PageEntry[] = [
  {
    path: '/',
    title: 'Overview',
    group: '',
    load: async () => (await import('./home.tsx')).HomePage,
  },
  {
    path: '/playground',
    title: 'Playground',
    group: '',
    load: async () => (await import('./playground.tsx')).PlaygroundPage,
  },
];
