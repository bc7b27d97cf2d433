// The words of audit events, the same for the account and for operators.

import type { AuditEventRecord } from '../../../dashboard/records/operator-lists.ts';
import { listed, t } from '../../text/t.ts';
import { amountText } from '../../ui/amount-text.ts';
import { formatInstant, humanize } from '../../ui/format.ts';
import { labelOf } from '../../ui/labels.ts';

export const ACTIONS: Readonly<Record<string, string>> = {
  'account.created': t('Account created'),
  'account.plan_changed': t('Plan changed'),
  'account.standing_changed': t('Account standing changed'),
  'account.email_verified': t('E-mail address verified'),
  'api_key.created': t('API key created'),
  'api_key.renamed': t('API key renamed'),
  'api_key.bounds_changed': t('Limits of an API key changed'),
  'api_key.budget_set': t('Budget of an API key changed'),
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
  'user.created': t('Password set'),
  'user.signed_in': t('Sign-in succeeded'),
  'user.second_factor_failed': t('Sign-in failed: correct password, wrong two-factor code'),
  'user.signed_out': t('Signed out'),
  'user.password_changed': t('Password changed'),
  'user.password_reset': t('Password reset by e-mail'),
  'user.two_factor_enabled': t('Two-factor authentication turned on'),
  'user.two_factor_disabled': t('Two-factor authentication turned off'),
  'user.recovery_codes_made': t('New recovery codes created'),
  'user.sessions_ended': t('Other sessions signed out'),
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
export function detailWords({
  action,
  detail: { from, to, kind, value, ...rest },
}: Pick<AuditEventRecord, 'action' | 'detail'>): string {
  const isStanding = action === 'account.standing_changed';
  const wordsOf = (value: Value) => (isStanding ? labelOf(String(value)) : valueWords(value));
  const change = [from, to].filter((value) => value !== undefined).map(wordsOf);
  const isTarget = typeof kind === 'string' && value !== undefined;
  const target = isTarget ? [`${labelOf(kind)} ${value}`] : [];
  const others = Object.entries(isTarget ? rest : { ...rest, kind, value })
    .filter(([, member]) => member !== null && member !== undefined && member !== '')
    .map(([name, member]) => `${nameWords(name)}: ${memberWords(name, member)}`);
  return [...(change.length === 0 ? [] : [change.join(' → ')]), ...target, ...others].join('; ');
}

const NAMES: Readonly<Record<string, string>> = {
  amount: t('amount'),
  email: t('e-mail'),
  email_verified: t('e-mail verified'),
  ended: t('sessions'),
  expires_at: t('expires'),
  kind: t('kind'),
  masked: t('key'),
  models: t('models'),
  name: t('name'),
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
  scopes: t('scopes'),
  spent: t('spent'),
  value: t('value'),
  with: t('with'),
  works_until: t('works until'),
};

/** Event members use snake case or camel case. */
function nameWords(name: string): string {
  const code = name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  return NAMES[code] ?? humanize(code).toLowerCase();
}

/** Codes of reasons, ways to sign in, roles and switches. Operators type reasons, too. */
const CODES: Readonly<Record<string, string>> = {
  'command line': t('command line'),
  'credited by the operator': t('credited by the operator'),
  'password and code': t('password and code'),
  'recovery code': t('recovery code'),
  account_closed: t('account closed'),
  admin: t('Admin'),
  finance: t('Finance'),
  leak_report: t('reported as leaked'),
  off: t('off'),
  on: t('on'),
  operator: t('by the operator'),
  password: t('password'),
  rotated: t('rotated'),
  runaway: t('spend far above its habit'),
  'sign-up': t('sign-up'),
  support: t('Support'),
  user: t('by its owner'),
  viewer: t('Viewer'),
};

const CODED = new Set(['reason', 'with', 'role', 'runaway_guard']);

/** A text that is no code stays. */
export const codeWords = (code: string): string => CODES[code] ?? code;

/** The record has the type of most; a budget has a limit for each of its periods. */
type Value = AuditEventRecord['detail'][string] | undefined | Readonly<Record<string, unknown>>;

function memberWords(name: string, value: Value): string {
  const isInstant = name.endsWith('_at') || name === 'works_until';
  const at = isInstant ? new Date(Object(value).valueOf()) : undefined;
  if (at && !Number.isNaN(at.getTime())) return formatInstant(at.toISOString());
  if (name === 'amount' || name === 'spent') return amountText({ tokens: String(value) });
  const words = valueWords(value);
  return CODED.has(name) ? codeWords(words) : words;
}

function valueWords(value: Value): string {
  if (value === null || value === undefined) return t('none');
  if (typeof value === 'object') {
    const limits = Object.entries(value).flatMap(([period, tokens]) =>
      tokens === null ? [] : `${amountText({ tokens: String(tokens) })} ${PERIODS[period]}`,
    );
    return listed(limits) || t('none');
  }
  if (typeof value === 'boolean') return value ? t('yes') : t('no');
  // A list is JSON, which the server cuts where it is long.
  return String(value).replace(/^\["(.*?)("\])?$/, (_, list) => list.replaceAll('","', ', '));
}

const PERIODS: Readonly<Record<string, string>> = {
  total: t('in total'),
  day: t('per day'),
  month: t('per month'),
};

/** The display name of the actor. Only an account has `you` and operators without a name. */
export function actorWords(actor: string, isOwn = false): string {
  if (actor.startsWith('operator:')) return actor.slice('operator:'.length);
  if (actor.startsWith('acct_')) return t('Owner');
  return (isOwn && actor === 'operator' ? t('Operator') : ACTORS[actor]) ?? actor;
}

const ACTORS: Readonly<Record<string, string>> = {
  operator: t('Command line'),
  system: t('System'),
  visitor: t('Visitor'),
  you: t('You'),
};
