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
import { SIGN_IN_PAGES } from '../auth/pages.ts';
import { t } from '../text/t.ts';
import { type PageEntry, pagesOf, signedOutPages } from '../ui/page.ts';

const signUpPage = (page: 'SignUpPage' | 'VerifyPage') => async () => ({
  View: (await import('./sign-up.tsx'))[page],
});

export const PAGES: readonly PageEntry[] = [
  ...pagesOf('', [
    ['/', t('Overview'), LayoutDashboard, () => import('./overview/page.tsx')],
    ['/playground', t('Playground'), MessagesSquare, () => import('./playground/page.tsx')],
    ['/keys', t('API keys'), KeyRound, () => import('./keys/page.tsx')],
    ['/models', t('Models'), Boxes, () => import('./models/page.tsx')],
    ['/api-docs', t('API docs'), Braces, () => import('./api-docs.tsx')],
  ]),
  ...pagesOf(t('Activity'), [
    ['/usage', t('Usage'), ChartColumn, () => import('./usage/page.tsx')],
    ['/requests', t('Requests'), List, () => import('./requests/page.tsx')],
    ['/ledger', t('Ledger and receipts'), ReceiptText, () => import('./ledger/page.tsx')],
  ]),
  ...pagesOf(t('Account'), [
    ['/audit', t('Audit trail'), History, () => import('./audit.tsx')],
    ['/settings', t('Account and security'), CircleUser, () => import('./settings.tsx')],
  ]),
  // Reached by links only.
  ...pagesOf(undefined, [
    ['/models/:id', t('Model'), Boxes, () => import('./models/detail.tsx')],
    ['/requests/:id', t('Request'), List, () => import('./requests/detail.tsx')],
  ]),
  ...signedOutPages([
    ['/signup', t('Create an account'), signUpPage('SignUpPage')],
    ['/verify', t('Confirm your address'), signUpPage('VerifyPage')],
  ]),
  ...SIGN_IN_PAGES,
];
