// The demonstration account of `--demo`: credit, a key, and lines that work when pasted. Later runs
// find the account and say so; its key cannot be shown again, because only a digest is stored.

import { type RandomBytes, randomText } from '../core/id.ts';
import { micro } from '../core/money.ts';
import type { Accounts } from '../identity/accounts.ts';
import { authorOf } from '../identity/audit.ts';
import type { Keys } from '../identity/keys.ts';
import type { Settings } from '../identity/settings.ts';
import type { People } from '../identity/sign-in/people.ts';
import type { Ledger } from '../ledger/contract.ts';
import { programName } from './runtime.ts';

/** The actor in the audit trail, the same as for commands. */
const OPERATOR = 'operator';

const DEMO_EMAIL = 'demo@tollgate.example';
const DEMO_PLAN = 'pro';

/** Characters of its password: 119 random bits. */
const PASSWORD_LENGTH = 20;

/** One million service tokens, in 10⁻⁶ of one. */
const DEMO_CREDIT = micro(1_000_000_000_000n);

type DemoDependencies = {
  readonly accounts: Accounts;
  readonly keys: Keys;
  readonly ledger: Ledger;
  readonly settings: Settings;
  readonly people: Pick<People, 'addCustomer' | 'ofAccount'>;
  readonly randomBytes: RandomBytes;
};

/**
 * The lines that a start with `--demo` prints. Creates the account, its key and its password only
 * if they do not exist.
 */
export async function welcomeDemo(
  dependencies: DemoDependencies,
  baseUrl: string,
  offersResponses: boolean,
): Promise<string[]> {
  const { settings, accounts } = dependencies;
  const known = await settings.get('demo_account');
  const key = known === undefined ? await createDemoAccount(dependencies) : undefined;
  const password = await createDemoPassword(
    dependencies,
    known ?? (await accounts.find(DEMO_EMAIL)).id,
  );
  const shownOnce = [
    ...(key === undefined ? [] : [`  key                ${key}`]),
    ...(password === undefined ? [] : [`  password           ${password}`]),
  ];
  return [
    '',
    `  chat completions   base URL ${baseUrl}/v1`,
    ...(offersResponses ? [`  responses          base URL ${baseUrl}/v1`] : []),
    `  messages           base URL ${baseUrl}`,
    `  dashboard          ${baseUrl}/dashboard`,
    `  sign in as         ${DEMO_EMAIL}`,
    ...shownOnce,
    '',
    ...(shownOnce.length === 0 ? [] : ['Key and password are shown only now.', '']),
    ...(key === undefined ? afterFirst() : ['Try it:', '', curl(baseUrl, key), '']),
  ];
}

function afterFirst(): string[] {
  return [
    'The key was shown at the first start and is not kept. For another one:',
    `  ${programName()} key create ${DEMO_EMAIL}`,
    'For another password: "Forgot password" on the dashboard, and the link is in this log.',
    '',
  ];
}

/** `undefined` where the account has a user, and so a password, already. */
async function createDemoPassword(
  { accounts, people, randomBytes }: DemoDependencies,
  accountId: string,
): Promise<string | undefined> {
  if ((await people.ofAccount(accountId)) !== undefined) return undefined;
  const password = randomText(PASSWORD_LENGTH, randomBytes);
  await people.addCustomer(await accounts.get(accountId), password, OPERATOR);
  return password;
}

async function createDemoAccount(dependencies: DemoDependencies): Promise<string> {
  const { accounts, keys, ledger, settings } = dependencies;
  const account = await accounts.create(
    { email: DEMO_EMAIL, plan: DEMO_PLAN, emailVerified: true },
    OPERATOR,
  );
  await ledger.credit({
    creditId: `demo:${account.id}`,
    accountId: account.id,
    kind: 'grant',
    amount: DEMO_CREDIT,
    reason: 'demonstration credit',
    by: authorOf(OPERATOR, `demo:${account.id}`),
    nowMs: account.createdAt,
  });
  const { key } = await keys.create({ accountId: account.id, name: 'demo' }, OPERATOR);
  await settings.set('demo_account', account.id, OPERATOR);
  return key;
}

function curl(baseUrl: string, key: string): string {
  const body = `{"model": "demo-chat", "messages": [{"role": "user", "content": "Hello!"}]}`;
  return [
    `  curl ${baseUrl}/v1/chat/completions \\`,
    `    -H 'Authorization: Bearer ${key}' \\`,
    `    -H 'Content-Type: application/json' \\`,
    `    -d '${body}'`,
  ].join('\n');
}
