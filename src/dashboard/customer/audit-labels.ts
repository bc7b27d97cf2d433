// What happened, in one sentence for the customer. Says only what the account may know: reasons and
// names that an operator wrote down for the operator's own trail are left out.

type Told = { readonly action: string; readonly detail: string };

type Detail = Readonly<Record<string, string | number | boolean | null>>;

export function auditWords({ action, detail }: Told): string {
  const words = WORDS[action];
  return words === undefined ? plain(action) : words(JSON.parse(detail) as Detail);
}

const WORDS: Readonly<Record<string, (detail: Detail) => string>> = {
  'account.created': () => 'The account was created.',
  'account.plan_changed': ({ from, to }) => `The plan was changed from ${from} to ${to}.`,
  'account.standing_changed': ({ to }) => standing(to),
  'account.email_verified': () => 'The e-mail address was verified.',
  'api_key.created': ({ masked, rotated_from }) =>
    rotated_from === null
      ? `The API key ${masked} was created.`
      : `The API key ${masked} was created in the place of another.`,
  'api_key.renamed': ({ masked, to }) =>
    to === null
      ? `The API key ${masked} lost its name.`
      : `The API key ${masked} was named “${to}”.`,
  'api_key.revoked': ({ masked, reason }) =>
    `The API key${masked === undefined ? '' : ` ${masked}`} was revoked${revocation(reason)}.`,
  'block.added': () => 'The account was blocked.',
  'block.removed': () => 'The account is no longer blocked.',
  'code.redeemed': ({ amount }) => `A code was redeemed${tokens(amount, ' for ')}.`,
  'money.credited': ({ amount }) => `Balance was added${tokens(amount, ': ')}.`,
  'money.granted': ({ amount }) => `Balance was given${tokens(amount, ': ')}.`,
  'money.adjusted': ({ amount }) => `The balance was corrected${tokens(amount, ' by ')}.`,
  'user.created': () => 'A password was set, with which one can sign in.',
  'user.signed_in': ({ with: how }) => signedIn(how),
  'user.second_factor_failed': () =>
    'Somebody had the right password and a wrong code of the second factor.',
  'user.signed_out': () => 'Somebody signed out.',
  'user.password_changed': () => 'The password was changed.',
  'user.password_reset': () => 'The password was set anew by a mailed link.',
  'user.two_factor_enabled': () => 'The second factor was turned on.',
  'user.two_factor_disabled': () => 'The second factor was turned off.',
  'user.recovery_codes_made': () => 'New recovery codes were made; the ones before are void.',
  'user.sessions_ended': ({ ended }) =>
    ended === 1 ? 'Another session was ended.' : `${ended} other sessions were ended.`,
  'account.deletion_asked': () => 'The deletion of the account was asked for.',
  'account.deletion_taken_back': () => 'The deletion of the account was taken back.',
  'account.closed': () => 'The account was closed.',
};

/** `amount` is in service tokens, as the ledger wrote it. */
function tokens(amount: Detail[string] | undefined, before: string): string {
  if (typeof amount !== 'string') return '';
  const [whole = '', fraction] = amount.split('.');
  const grouped = whole.replace(/\B(?=(?:\d{3})+$)/g, ',');
  return `${before}${fraction === undefined ? grouped : `${grouped}.${fraction}`} service tokens`;
}

function signedIn(how: Detail[string] | undefined): string {
  if (how === undefined) return 'Somebody signed in.';
  if (how === 'sign-up') return 'The owner signed in for the first time.';
  return `Somebody signed in with ${how === 'password' ? 'the password' : how}.`;
}

function standing(to: Detail[string] | undefined): string {
  if (to === 'suspended') return 'The account was suspended.';
  if (to === 'pending_deletion') return 'The account was marked for deletion.';
  return 'The account was activated.';
}

function revocation(reason: Detail[string] | undefined): string {
  if (reason === 'rotated') return ', as another took its place';
  if (reason === 'leak_report') return ', because it was reported as leaked';
  if (reason === 'account_closed') return ', because the account was closed';
  return '';
}

/** `two_factor.turned_on` is told as “Two factor: turned on.” where there are no words for it. */
function plain(action: string): string {
  const [subject = '', what = ''] = action.replaceAll('_', ' ').split('.');
  return `${subject.charAt(0).toUpperCase()}${subject.slice(1)}: ${what}.`;
}
