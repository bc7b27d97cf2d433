// The labels of audit events.

import type { AuditEventRecord } from '../../../records/operator-lists.ts';
import { t } from '../../text/t.ts';
import { amountText } from '../../ui/amount-text.ts';
import { formatInstant, humanize } from '../../ui/format.ts';

const ACTIONS: Readonly<Record<string, string>> = {
  'account.created': t('Account created'),
  'account.plan_changed': t('Account plan changed'),
  'account.standing_changed': t('Account standing changed'),
  'account.email_verified': t('Account email verified'),
  'api_key.created': t('API key created'),
  'api_key.renamed': t('API key renamed'),
  'api_key.bounds_changed': t('API key bounds changed'),
  'api_key.budget_set': t('API key budget changed'),
  'api_key.paused': t('API key paused'),
  'api_key.pause_mailed': t('Owner mailed about a paused API key'),
  'api_key.resumed': t('API key resumed'),
  'operator_token.created': t('Operator token created'),
  'operator_token.revoked': t('Operator token revoked'),
  'operator_api.called': t('Operators’ API called'),
  'api_key.replaced': t('API key rotated with a grace period'),
  'api_key.revoked': t('API key revoked'),
  'block.added': t('Block added'),
  'block.removed': t('Block removed'),
  'setting.changed': t('Setting changed'),
  'incident.set': t('Incident set'),
  'incident.cleared': t('Incident cleared'),
  'upstream.disabled': t('Upstream disabled'),
  'upstream.enabled': t('Upstream enabled'),
  'upstream.reset': t('Upstream reset'),
  'upstream.tested': t('Upstream tested'),
  'prices.published': t('Prices published'),
  'catalog.reload_requested': t('Catalog reload requested'),
  'catalog.published': t('Catalog published'),
  'catalog.edited': t('Catalog edited'),
  'code.created': t('Code created'),
  'code.revoked': t('Code revoked'),
  'user.created': t('User created'),
  'user.signed_in': t('User signed in'),
  'user.second_factor_failed': t('Two-factor check failed'),
  'user.signed_out': t('User signed out'),
  'user.password_changed': t('User password changed'),
  'user.password_reset': t('User password reset'),
  'user.two_factor_enabled': t('User two-factor enabled'),
  'user.two_factor_disabled': t('User two-factor disabled'),
  'user.recovery_codes_made': t('User recovery codes created'),
  'user.sessions_ended': t('User sessions ended'),
  'account.deletion_asked': t('Account deletion requested'),
  'account.deletion_taken_back': t('Account deletion cancelled'),
  'account.closed': t('Account closed'),
  'database.restored': t('Database restored from a backup'),
  'operator.invited': t('Operator invited'),
  'operator.reset': t('Operator reset'),
  'operator.removed': t('Operator removed'),
  'invite.created': t('Invite created'),
  'invite.revoked': t('Invite revoked'),
  'code.redeemed': t('Code redeemed'),
  'money.credited': t('Balance credited'),
  'money.granted': t('Balance granted'),
  'money.adjusted': t('Balance adjusted'),
};

/** `api_key.revoked` is `API key revoked`. */
export function actionWords(action: string): string {
  return ACTIONS[action] ?? humanize(action.replaceAll('.', ' '));
}

/** The details of an event: the change first, then other members by name. */
export function detailWords(detail: AuditEventRecord['detail']): string {
  const { from, to, ...rest } = detail;
  const change = to === undefined ? [] : [`${valueWords(from)} → ${valueWords(to)}`];
  const others = Object.entries(rest)
    .filter(([, value]) => value !== null && value !== '')
    .map(([name, value]) => `${nameWords(name)}: ${memberWords(name, value)}`);
  return [...change, ...others].join('; ');
}

const NAMES: Readonly<Record<string, string>> = {
  amount: t('amount'),
  email: t('e-mail'),
  email_verified: t('e-mail verified'),
  expires_at: t('expires'),
  kind: t('kind'),
  masked: t('key'),
  models: t('models'),
  networks: t('networks'),
  plan: t('plan'),
  reason: t('reason'),
  replaced_by: t('replaced by'),
  requests_per_minute: t('requests per minute'),
  tokens_per_minute: t('tokens per minute'),
  concurrent_requests: t('concurrent requests'),
  role: t('role'),
  rotated_from: t('rotated from'),
  runaway_guard: t('runaway guard'),
  value: t('value'),
  with: t('with'),
  works_until: t('works until'),
};

/** Event members use snake case or camel case. */
function nameWords(name: string): string {
  const code = name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  return NAMES[code] ?? humanize(code).toLowerCase();
}

type Value = AuditEventRecord['detail'][string] | undefined;

function memberWords(name: string, value: Value): string {
  const isInstant = name.endsWith('_at') && typeof value === 'number';
  if (isInstant) return formatInstant(new Date(value).toISOString());
  return name === 'amount' ? amountText({ tokens: String(value) }) : valueWords(value);
}

function valueWords(value: Value): string {
  if (value === null || value === undefined) return t('none');
  return typeof value === 'boolean' ? (value ? t('yes') : t('no')) : String(value);
}

/** The display name of the actor. */
export function actorWords(actor: string): string {
  if (actor.startsWith('operator:')) return actor.slice('operator:'.length);
  if (actor.startsWith('acct_')) return t('Owner');
  return ACTORS[actor] ?? actor;
}

const ACTORS: Readonly<Record<string, string>> = {
  operator: t('Command line'),
  system: t('System'),
  visitor: t('Visitor'),
};
