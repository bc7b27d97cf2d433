// The pages of the customer application, in the order of the navigation.

import { SIGN_IN_PAGES } from '../ui/auth/pages.ts';
import type { PageEntry } from '../ui/page.ts';

export const PAGES: readonly PageEntry[] = [
  {
    path: '/',
    title: 'Overview',
    group: '',
    load: async () => (await import('./overview/page.tsx')).OverviewPage,
  },
  {
    path: '/playground',
    title: 'Playground',
    group: '',
    load: async () => (await import('./playground.tsx')).PlaygroundPage,
  },
  {
    path: '/keys',
    title: 'API keys',
    group: '',
    load: async () => (await import('./keys/page.tsx')).KeysPage,
  },
  {
    path: '/models',
    title: 'Models',
    group: '',
    load: async () => (await import('./models/page.tsx')).ModelsPage,
  },
  {
    path: '/models/:id',
    title: 'Model',
    load: async () => (await import('./models/detail.tsx')).ModelPage,
  },
  {
    path: '/usage',
    title: 'Usage',
    group: 'Activity',
    load: async () => (await import('./usage/page.tsx')).UsagePage,
  },
  {
    path: '/requests',
    title: 'Requests',
    group: 'Activity',
    load: async () => (await import('./requests/page.tsx')).RequestsPage,
  },
  {
    path: '/requests/:id',
    title: 'Request',
    load: async () => (await import('./requests/detail.tsx')).RequestPage,
  },
  {
    path: '/ledger',
    title: 'Ledger and receipts',
    group: 'Activity',
    load: async () => (await import('./ledger/page.tsx')).LedgerPage,
  },
  {
    path: '/audit',
    title: 'Audit trail',
    group: 'Account',
    load: async () => (await import('./audit.tsx')).AuditPage,
  },
  {
    path: '/settings',
    title: 'Account and security',
    group: 'Account',
    load: async () => (await import('./settings.tsx')).SettingsPage,
  },
  {
    path: '/signup',
    title: 'Create an account',
    signedOut: true,
    load: async () => (await import('./sign-up.tsx')).SignUpPage,
  },
  {
    path: '/verify',
    title: 'Confirm your address',
    signedOut: true,
    load: async () => (await import('./sign-up.tsx')).VerifyPage,
  },
  ...SIGN_IN_PAGES,
];
