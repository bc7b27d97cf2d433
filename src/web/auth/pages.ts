// The sign-in pages of both applications.

import { t } from '../text/t.ts';
import { signedOutPages } from '../ui/page.ts';

export const recoveryPage = (page: 'ForgotPage' | 'ResetPage' | 'WelcomePage') => async () => ({
  View: (await import('./recovery.tsx'))[page],
});

export const SIGN_IN_PAGES = signedOutPages([
  ['/sign-in', t('Sign in'), () => import('./sign-in.tsx')],
  ['/forgot', t('Forgot your password?'), recoveryPage('ForgotPage')],
  ['/reset', t('Choose a new password'), recoveryPage('ResetPage')],
]);
