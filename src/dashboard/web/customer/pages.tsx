// The pages of the customer application, in the order of the navigation.

import {
  Boxes,
  Braces,
  ChartColumn,
  CircleUser,
  History,
  KeyRound,
  LayoutDashboard,
  List,
  MessagesSquare,
  ReceiptText,
} from 'lucide';
import { t } from '../text/t.ts';
import { SIGN_IN_PAGES } from '../ui/auth/pages.ts';
import type { PageEntry } from '../ui/page.ts';

export const PAGES: readonly PageEntry[] = [
  {
    path: '/',
    title: t('Overview'),
    group: '',
    icon: LayoutDashboard,
    load: async () => (await import('./overview/page.tsx')).OverviewPage,
  },
  {
    path: '/playground',
    title: t('Playground'),
    group: '',
    icon: MessagesSquare,
    load: async () => (await import('./playground/page.tsx')).PlaygroundPage,
  },
  {
    path: '/keys',
    title: t('API keys'),
    group: '',
    icon: KeyRound,
    load: async () => (await import('./keys/page.tsx')).KeysPage,
  },
  {
    path: '/models',
    title: t('Models'),
    group: '',
    icon: Boxes,
    load: async () => (await import('./models/page.tsx')).ModelsPage,
  },
  {
    path: '/models/:id',
    title: t('Model'),
    icon: Boxes,
    load: async () => (await import('./models/detail.tsx')).ModelPage,
  },
  {
    path: '/api-docs',
    title: t('API docs'),
    group: '',
    icon: Braces,
    load: async () => (await import('./api-docs.tsx')).ApiDocsPage,
  },
  {
    path: '/usage',
    title: t('Usage'),
    group: t('Activity'),
    icon: ChartColumn,
    load: async () => (await import('./usage/page.tsx')).UsagePage,
  },
  {
    path: '/requests',
    title: t('Requests'),
    group: t('Activity'),
    icon: List,
    load: async () => (await import('./requests/page.tsx')).RequestsPage,
  },
  {
    path: '/requests/:id',
    title: t('Request'),
    icon: List,
    load: async () => (await import('./requests/detail.tsx')).RequestPage,
  },
  {
    path: '/ledger',
    title: t('Ledger and receipts'),
    group: t('Activity'),
    icon: ReceiptText,
    load: async () => (await import('./ledger/page.tsx')).LedgerPage,
  },
  {
    path: '/audit',
    title: t('Audit trail'),
    group: t('Account'),
    icon: History,
    load: async () => (await import('./audit.tsx')).AuditPage,
  },
  {
    path: '/settings',
    title: t('Account and security'),
    group: t('Account'),
    icon: CircleUser,
    load: async () => (await import('./settings.tsx')).SettingsPage,
  },
  {
    path: '/signup',
    title: t('Create an account'),
    signedOut: true,
    load: async () => (await import('./sign-up.tsx')).SignUpPage,
  },
  {
    path: '/verify',
    title: t('Confirm your address'),
    signedOut: true,
    load: async () => (await import('./sign-up.tsx')).VerifyPage,
  },
  ...SIGN_IN_PAGES,
];
