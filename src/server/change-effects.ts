// What each action of the audit trail makes outdated in a running server. Customers and strangers
// write most events, so an action of one account must not drop what is cached of all others.

import type { AuditAction } from '../identity/audit.ts';

/**
 * none      nothing here depends on it, or it is read with each use
 * account   what is cached of the account and its keys
 * key       also which keys are unknown: one of them may be the account's new one
 * removal   what is cached of the account, and the sums of kept thinking and answers, of which its
 *           own may have been removed
 * state     the operators' state, the catalog, and all that is cached of keys and accounts
 * all       everything
 */
export type ChangeEffect = 'none' | 'account' | 'key' | 'removal' | 'state' | 'all';

/** The type of its names makes a new action choose its effect. */
export const CHANGE_EFFECTS: Readonly<Record<AuditAction, ChangeEffect>> = {
  'account.created': 'none',
  // The warnings count the accounts on plans that the catalog does not have.
  'account.plan_changed': 'state',
  'account.standing_changed': 'removal',
  'account.email_verified': 'account',
  'api_key.created': 'key',
  'api_key.renamed': 'none',
  'api_key.bounds_changed': 'account',
  // The ledger checks budgets, with each hold.
  'api_key.budget_set': 'none',
  'api_key.paused': 'account',
  'api_key.pause_mailed': 'none',
  'api_key.resumed': 'account',
  'api_key.replaced': 'account',
  'api_key.revoked': 'account',
  'block.added': 'state',
  'block.removed': 'state',
  'setting.changed': 'state',
  'incident.set': 'state',
  'incident.cleared': 'state',
  'upstream.disabled': 'state',
  'upstream.enabled': 'state',
  'upstream.reset': 'state',
  'prices.published': 'state',
  'catalog.reload_requested': 'state',
  'catalog.published': 'state',
  'catalog.edited': 'state',
  'upstream.tested': 'none',
  'code.created': 'none',
  'code.revoked': 'none',
  'user.created': 'none',
  'user.signed_in': 'none',
  'user.second_factor_failed': 'none',
  'user.signed_out': 'none',
  'user.password_changed': 'none',
  'user.password_reset': 'none',
  'user.two_factor_enabled': 'none',
  'user.two_factor_disabled': 'none',
  'user.recovery_codes_made': 'none',
  'user.sessions_ended': 'none',
  'account.deletion_asked': 'removal',
  // The standing that it changes has an event of its own.
  'account.deletion_taken_back': 'none',
  'account.closed': 'removal',
  'operator.invited': 'none',
  'operator.reset': 'none',
  'operator.removed': 'none',
  'operator.role_changed': 'none',
  'alert.acknowledged': 'none',
  'approval.asked': 'none',
  'approval.approved': 'none',
  'approval.rejected': 'none',
  'approval.withdrawn': 'none',
  'approval.failed': 'none',
  'operator_token.created': 'none',
  'operator_token.revoked': 'none',
  'operator_api.called': 'none',
  'database.restored': 'all',
  'invite.created': 'none',
  'invite.revoked': 'none',
  'code.redeemed': 'none',
  'money.credited': 'none',
  'money.granted': 'none',
  'money.adjusted': 'none',
};

/** An action of another version, of which nothing is known, changes everything. */
export function effectOf(action: string): ChangeEffect {
  return Object.hasOwn(CHANGE_EFFECTS, action) ? CHANGE_EFFECTS[action as AuditAction] : 'all';
}
