// One sentence per audit event.

import type { AuditRecord } from '../../records/customer-audit.ts';
import { t } from '../text/t.ts';
import { amountText } from '../ui/amount-text.ts';
import { formatInstant, humanize } from '../ui/format.ts';

type Detail = AuditRecord['detail'];

export function auditWords({ action, detail }: Pick<AuditRecord, 'action' | 'detail'>): string {
  const words = WORDS[action];
  if (words !== undefined) return words(detail);
  const [subject = '', what = ''] = action.replaceAll('_', ' ').split('.');
  return `${humanize(subject)}: ${what}`;
}

const WORDS: Readonly<Record<string, (detail: Detail) => string>> = {
  'account.created': () => t('Account created'),
  'account.plan_changed': ({ from, to }) =>
    t('Plan changed from {from} to {to}', { from: text(from), to: text(to) }),
  'account.standing_changed': ({ to }) => standing(to),
  'account.email_verified': () => t('E-mail address verified'),
  'api_key.created': ({ masked, rotated_from }) =>
    rotated_from === null || rotated_from === undefined
      ? t('API key {masked} created', { masked: text(masked) })
      : t('API key {masked} created by rotation', { masked: text(masked) }),
  'api_key.renamed': ({ masked, to }) =>
    to === null
      ? t('Name of API key {masked} removed', { masked: text(masked) })
      : t('API key {masked} renamed to “{to}”', { masked: text(masked), to: text(to) }),
  'api_key.bounds_changed': ({ masked }) =>
    t('Bounds of the API key {masked} changed', { masked: text(masked) }),
  'api_key.budget_set': () => t('Budget of an API key changed'),
  'api_key.paused': ({ masked, reason, spent }) =>
    reason === 'runaway'
      ? t('API key {masked} paused by the runaway guard: it spent {amount} within ten minutes', {
          masked: text(masked),
          amount: money(spent),
        })
      : t('API key {masked} paused', { masked: text(masked) }),
  'api_key.pause_mailed': ({ masked }) =>
    t('Mail about the paused API key {masked}', { masked: text(masked) }),
  'api_key.resumed': ({ masked }) => t('API key {masked} resumed', { masked: text(masked) }),
  'api_key.replaced': ({ masked, works_until }) =>
    t('API key {masked} rotated; it works until {instant}', {
      masked: text(masked),
      instant: formatInstant(text(works_until)),
    }),
  'api_key.revoked': ({ masked, reason }) => revoked(text(masked), reason),
  'block.added': () => t('Account blocked'),
  'block.removed': () => t('Account unblocked'),
  'code.redeemed': ({ amount }) => t('Code redeemed for {amount}', { amount: money(amount) }),
  'money.credited': ({ amount }) => t('Balance added: {amount}', { amount: money(amount) }),
  'money.granted': ({ amount }) => t('Balance granted: {amount}', { amount: money(amount) }),
  'money.adjusted': ({ amount }) => t('Balance adjusted by {amount}', { amount: money(amount) }),
  'user.created': () => t('Password set'),
  'user.signed_in': ({ with: how }) => signedIn(how),
  'user.second_factor_failed': () => t('Sign-in failed: correct password, wrong two-factor code'),
  'user.signed_out': () => t('Signed out'),
  'user.password_changed': () => t('Password changed'),
  'user.password_reset': () => t('Password reset by e-mail'),
  'user.two_factor_enabled': () => t('Two-factor authentication turned on'),
  'user.two_factor_disabled': () => t('Two-factor authentication turned off'),
  'user.recovery_codes_made': () => t('New recovery codes created'),
  'user.sessions_ended': ({ ended }) =>
    t('{ended, plural, one {# other session} other {# other sessions}} signed out', {
      ended: Number(ended),
    }),
  'account.deletion_asked': () => t('Account deletion requested'),
  'account.deletion_taken_back': () => t('Account deletion cancelled'),
  'account.closed': () => t('Account closed'),
};

type Value = Detail[string] | undefined;

function text(value: Value): string {
  return String(value ?? '');
}

/** Recorded by the ledger in service tokens. */
function money(amount: Value): string {
  return amountText({ tokens: text(amount) });
}

function signedIn(how: Value): string {
  if (how === 'sign-up') return t('Signed in for the first time');
  if (how === 'password') return t('Signed in with password');
  if (how === 'password and code') return t('Signed in with password and code');
  if (how === 'recovery code') return t('Signed in with a recovery code');
  return t('Signed in');
}

function standing(to: Value): string {
  if (to === 'suspended') return t('Account suspended');
  if (to === 'pending_deletion') return t('Account marked for deletion');
  return t('Account activated');
}

function revoked(masked: string, reason: Value): string {
  if (reason === 'rotated') return t('API key {masked} revoked by rotation', { masked });
  if (reason === 'leak_report') {
    return t('API key {masked} revoked (reported as leaked)', { masked });
  }
  if (reason === 'account_closed')
    return t('API key {masked} revoked (account closed)', { masked });
  return t('API key {masked} revoked', { masked });
}
