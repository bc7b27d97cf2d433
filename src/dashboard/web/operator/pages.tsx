// The pages of the operator console, in the order of the navigation.

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
    path: '/alerts',
    title: 'Alerts',
    load: async () => (await import('./overview/alerts.tsx')).AlertsPage,
  },
  {
    path: '/accounts',
    title: 'Accounts',
    group: 'Customers',
    load: async () => (await import('./accounts/page.tsx')).AccountsPage,
  },
  {
    path: '/accounts/:id',
    title: 'Account',
    load: async () => (await import('./accounts/account.tsx')).AccountPage,
  },
  {
    path: '/requests',
    title: 'Requests',
    group: 'Customers',
    load: async () => (await import('./requests/page.tsx')).RequestsPage,
  },
  {
    path: '/requests/:id',
    title: 'Request',
    load: async () => (await import('./requests/request.tsx')).RequestPage,
  },
  {
    path: '/keys',
    title: 'Keys',
    group: 'Customers',
    load: async () => (await import('./keys/page.tsx')).KeysPage,
  },
  {
    path: '/blocks',
    title: 'Blocks',
    group: 'Customers',
    load: async () => (await import('./blocks/page.tsx')).BlocksPage,
  },
  {
    path: '/codes',
    title: 'Redemption codes',
    group: 'Customers',
    load: async () => (await import('./codes.tsx')).CodesPage,
  },
  {
    path: '/invites',
    title: 'Invitations',
    group: 'Customers',
    load: async () => (await import('./invites.tsx')).InvitesPage,
  },
  {
    path: '/models',
    title: 'Models',
    group: 'Service',
    load: async () => (await import('./models/page.tsx')).ModelsPage,
  },
  {
    path: '/models/:id',
    title: 'Model',
    load: async () => (await import('./models/detail.tsx')).ModelPage,
  },
  {
    path: '/upstreams',
    title: 'Upstreams',
    group: 'Service',
    load: async () => (await import('./upstreams/page.tsx')).UpstreamsPage,
  },
  {
    path: '/upstreams/:id',
    title: 'Upstream',
    load: async () => (await import('./upstreams/detail.tsx')).UpstreamPage,
  },
  {
    path: '/prices',
    title: 'Prices',
    group: 'Service',
    load: async () => (await import('./prices/page.tsx')).PricesPage,
  },
  {
    path: '/catalog',
    title: 'Catalog',
    group: 'Service',
    load: async () => (await import('./system/catalog.tsx')).CatalogPage,
  },
  {
    path: '/nodes',
    title: 'Nodes',
    group: 'Service',
    load: async () => (await import('./system/nodes.tsx')).NodesPage,
  },
  {
    path: '/maintenance',
    title: 'Maintenance',
    group: 'Service',
    load: async () => (await import('./maintenance.tsx')).MaintenancePage,
  },
  {
    path: '/money',
    title: 'Money',
    group: 'Ledger',
    load: async () => (await import('./money/page.tsx')).MoneyPage,
  },
  {
    path: '/self-audit',
    title: 'Ledger audit',
    group: 'Ledger',
    load: async () => (await import('./system/self-audit.tsx')).SelfAuditPage,
  },
  {
    path: '/audit',
    title: 'Audit trail',
    group: 'Ledger',
    load: async () => (await import('./audit/page.tsx')).AuditPage,
  },
  {
    path: '/operators',
    title: 'Operators',
    group: 'Account',
    load: async () => (await import('./operators.tsx')).OperatorsPage,
  },
  {
    path: '/security',
    title: 'Your sign-in',
    group: 'Account',
    load: async () => (await import('./security.tsx')).SecurityPage,
  },
  {
    path: '/welcome',
    title: 'Set your password',
    signedOut: true,
    load: async () => (await import('../ui/auth/recovery.tsx')).WelcomePage,
  },
  ...SIGN_IN_PAGES,
];
