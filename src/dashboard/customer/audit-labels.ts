// One sentence per audit event for the customer. Leaves out reasons and names that operators
// recorded for their own trail.

type AuditEvent = { readonly action: string; readonly detail: string };

type Detail = Readonly<Record<string, string | number | boolean | null>>;

export function auditWords({ action, detail }: AuditEvent): string {
  const words = WORDS[action];
  return words === undefined ? plain(action) : words(JSON.parse(detail) as Detail);
}

const WORDS: Readonly<Record<string, (detail: Detail) => string>> = {
  'account.created': () => 'Account created',
  'account.plan_changed': ({ from, to }) => `Plan changed from ${from} to ${to}`,
  'account.standing_changed': ({ to }) => standing(to),
  'account.email_verified': () => 'E-mail address verified',
  'api_key.created': ({ masked, rotated_from }) =>
    rotated_from === null ? `API key ${masked} created` : `API key ${masked} created by rotation`,
  'api_key.renamed': ({ masked, to }) =>
    to === null ? `Name of API key ${masked} removed` : `API key ${masked} renamed to “${to}”`,
  'api_key.revoked': ({ masked, reason }) =>
    `API key${masked === undefined ? '' : ` ${masked}`} revoked${revocation(reason)}`,
  'block.added': () => 'Account blocked',
  'block.removed': () => 'Account unblocked',
  'code.redeemed': ({ amount }) => `Code redeemed${tokens(amount, ' for ')}`,
  'money.credited': ({ amount }) => `Balance added${tokens(amount, ': ')}`,
  'money.granted': ({ amount }) => `Balance granted${tokens(amount, ': ')}`,
  'money.adjusted': ({ amount }) => `Balance adjusted${tokens(amount, ' by ')}`,
  'user.created': () => 'Password set',
  'user.signed_in': ({ with: how }) => signedIn(how),
  'user.second_factor_failed': () => 'Sign-in failed: correct password, wrong two-factor code',
  'user.signed_out': () => 'Signed out',
  'user.password_changed': () => 'Password changed',
  'user.password_reset': () => 'Password reset by e-mail',
  'user.two_factor_enabled': () => 'Two-factor authentication turned on',
  'user.two_factor_disabled': () => 'Two-factor authentication turned off',
  'user.recovery_codes_made': () => 'New recovery codes created',
  'user.sessions_ended': ({ ended }) =>
    ended === 1 ? '1 other session signed out' : `${ended} other sessions signed out`,
  'account.deletion_asked': () => 'Account deletion requested',
  'account.deletion_taken_back': () => 'Account deletion cancelled',
  'account.closed': () => 'Account closed',
};

/** `amount` is in service tokens, as recorded by the ledger. */
function tokens(amount: Detail[string] | undefined, before: string): string {
  if (typeof amount !== 'string') return '';
  const [whole = '', fraction] = amount.split('.');
  const grouped = whole.replace(/\B(?=(?:\d{3})+$)/g, ',');
  return `${before}${fraction === undefined ? grouped : `${grouped}.${fraction}`} service tokens`;
}

function signedIn(how: Detail[string] | undefined): string {
  if (how === undefined) return 'Signed in';
  if (how === 'sign-up') return 'Signed in for the first time';
  return `Signed in with ${how}`;
}

function standing(to: Detail[string] | undefined): string {
  if (to === 'suspended') return 'Account suspended';
  if (to === 'pending_deletion') return 'Account marked for deletion';
  return 'Account activated';
}

function revocation(reason: Detail[string] | undefined): string {
  if (reason === 'rotated') return ' by rotation';
  if (reason === 'leak_report') return ' (reported as leaked)';
  if (reason === 'account_closed') return ' (account closed)';
  return '';
}

/** Without a sentence of its own, `two_factor.turned_on` becomes “Two factor: turned on”. */
function plain(action: string): string {
  const [subject = '', what = ''] = action.replaceAll('_', ' ').split('.');
  return `${subject.charAt(0).toUpperCase()}${subject.slice(1)}: ${what}`;
}
