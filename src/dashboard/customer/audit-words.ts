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
  'code.redeemed': () => 'A code was redeemed.',
  'money.credited': () => 'Balance was added.',
  'money.granted': () => 'Balance was given.',
  'money.adjusted': () => 'The balance was corrected.',
};

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

/** `two_factor.turned_on` is told as “Two factor: turned on.” until it has words of its own. */
function plain(action: string): string {
  const [subject = '', what = ''] = action.replaceAll('_', ' ').split('.');
  return `${subject.charAt(0).toUpperCase()}${subject.slice(1)}: ${what}.`;
}
