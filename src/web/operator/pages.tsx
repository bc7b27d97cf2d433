// The pages of the operator console, in the order of the navigation.

import {
  Ban,
  Bell,
  Boxes,
  CircleDollarSign,
  FileCog,
  Gauge,
  History,
  KeyRound,
  KeySquare,
  LayoutDashboard,
  List,
  MailPlus,
  Network,
  Scale,
  Server,
  ShieldCheck,
  Tag,
  Ticket,
  UserCheck,
  UserCog,
  Users,
  Wrench,
} from 'lucide';
import { recoveryPage, SIGN_IN_PAGES } from '../auth/pages.ts';
import { t } from '../text/t.ts';
import { type PageEntry, pagesOf, signedOutPages } from '../ui/page.ts';
import { OpenCount } from './open-count.tsx';

const entryForm = () => import('./catalog/form.tsx');

export const PAGES: readonly PageEntry[] = [
  ...pagesOf('', [
    ['/', t('Overview'), LayoutDashboard, () => import('./overview/page.tsx')],
    ['/alerts', t('Alerts'), Bell, () => import('./overview/alerts.tsx'), undefined, OpenCount],
  ]),
  ...pagesOf(t('Customers'), [
    ['/accounts', t('Accounts'), Users, () => import('./accounts/page.tsx')],
    ['/requests', t('Requests'), List, () => import('./requests/page.tsx')],
    ['/keys', t('Keys'), KeyRound, () => import('./keys.tsx')],
    ['/blocks', t('Blocks'), Ban, () => import('./blocks/page.tsx')],
    ['/codes', t('Redemption codes'), Ticket, () => import('./codes.tsx')],
    ['/approvals', t('Approvals'), UserCheck, () => import('./approvals.tsx')],
    ['/invites', t('Invitations'), MailPlus, () => import('./invites.tsx')],
  ]),
  ...pagesOf(t('Service'), [
    ['/models', t('Models'), Boxes, () => import('./models/page.tsx')],
    ['/upstreams', t('Upstreams'), Server, () => import('./upstreams/page.tsx')],
    ['/plans', t('Plans'), Gauge, () => import('./plans/page.tsx')],
    ['/prices', t('Prices'), Tag, () => import('./prices/page.tsx')],
    ['/catalog', t('Catalog'), FileCog, () => import('./catalog/page.tsx')],
    ['/nodes', t('Nodes'), Network, () => import('./system/nodes.tsx')],
    ['/maintenance', t('Maintenance'), Wrench, () => import('./maintenance.tsx')],
  ]),
  ...pagesOf(t('Ledger'), [
    ['/money', t('Money'), CircleDollarSign, () => import('./money/page.tsx')],
    ['/self-audit', t('Ledger audit'), Scale, () => import('./system/self-audit.tsx')],
    ['/audit', t('Audit trail'), History, () => import('./audit.tsx')],
  ]),
  ...pagesOf(t('Account'), [
    ['/operators', t('Operators'), UserCog, () => import('./operators.tsx')],
    ['/tokens', t('API tokens'), KeySquare, () => import('./tokens.tsx'), 'tokens.manage'],
    ['/security', t('Your sign-in'), ShieldCheck, () => import('./security.tsx')],
  ]),
  // Reached by links only.
  ...pagesOf(undefined, [
    ['/accounts/:id', t('Account'), Users, () => import('./accounts/account.tsx')],
    ['/requests/:id', t('Request'), List, () => import('./requests/request.tsx')],
    ['/models/:id', t('Model'), Boxes, () => import('./models/detail.tsx')],
    ['/upstreams/:id', t('Upstream'), Server, () => import('./upstreams/detail.tsx')],
    ['/catalog/new/:kind', t('New catalog entry'), undefined, entryForm],
    ['/catalog/edit/:kind/:id', t('Edit catalog entry'), undefined, entryForm],
  ]),
  ...signedOutPages([['/welcome', t('Set your password'), recoveryPage('WelcomePage')]]),
  ...SIGN_IN_PAGES,
];
