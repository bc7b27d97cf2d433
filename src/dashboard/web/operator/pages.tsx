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
