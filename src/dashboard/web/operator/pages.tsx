// Every page of the operator's console, in the order of the navigation.

import type { PageEntry } from '../ui/page.ts';

export const PAGES: readonly PageEntry[] = [
  {
    path: '/',
    title: 'Overview',
    group: '',
    load: async () => (await import('./home.tsx')).HomePage,
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
    path: '/maintenance',
    title: 'Maintenance',
    group: 'Records',
    load: async () => (await import('./maintenance.tsx')).MaintenancePage,
  },
  {
    path: '/audit',
    title: 'Audit trail',
    group: 'Records',
    load: async () => (await import('./audit/page.tsx')).AuditPage,
  },
  {
    path: '/security',
    title: 'Your sign-in',
    group: 'Account',
    load: async () => (await import('./security.tsx')).SecurityPage,
  },
  {
    path: '/sign-in',
    title: 'Sign in',
    signedOut: true,
    load: async () => (await import('../ui/auth/sign-in.tsx')).SignInPage,
  },
  {
    path: '/forgot',
    title: 'Forgot your password?',
    signedOut: true,
    load: async () => (await import('../ui/auth/recovery.tsx')).ForgotPage,
  },
  {
    path: '/reset',
    title: 'Choose a new password',
    signedOut: true,
    load: async () => (await import('../ui/auth/recovery.tsx')).ResetPage,
  },
  {
    path: '/welcome',
    title: 'Choose your password',
    signedOut: true,
    load: async () => (await import('../ui/auth/recovery.tsx')).WelcomePage,
  },
];
