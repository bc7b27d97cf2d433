// The sign-in pages of both applications.

import { t } from '../../text/t.ts';
import type { PageEntry } from '../page.ts';

export const SIGN_IN_PAGES: readonly PageEntry[] = [
  {
    path: '/sign-in',
    title: t('Sign in'),
    signedOut: true,
    load: () => import('./sign-in.tsx'),
  },
  {
    path: '/forgot',
    title: t('Forgot your password?'),
    signedOut: true,
    load: async () => ({ View: (await import('./recovery.tsx')).ForgotPage }),
  },
  {
    path: '/reset',
    title: t('Choose a new password'),
    signedOut: true,
    load: async () => ({ View: (await import('./recovery.tsx')).ResetPage }),
  },
];
