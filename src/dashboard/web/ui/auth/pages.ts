// The sign-in pages of both applications.

import type { PageEntry } from '../page.ts';

export const SIGN_IN_PAGES: readonly PageEntry[] = [
  {
    path: '/sign-in',
    title: 'Sign in',
    signedOut: true,
    load: async () => (await import('./sign-in.tsx')).SignInPage,
  },
  {
    path: '/forgot',
    title: 'Forgot your password?',
    signedOut: true,
    load: async () => (await import('./recovery.tsx')).ForgotPage,
  },
  {
    path: '/reset',
    title: 'Choose a new password',
    signedOut: true,
    load: async () => (await import('./recovery.tsx')).ResetPage,
  },
];
