// The first run of a stranger: an account with money, a key, and lines that work when pasted. Later
// runs find the account and say so; its key cannot be shown again, because only a digest is kept.

import type { Accounts } from '../identity/accounts.ts';
import { authorOf } from '../identity/audit.ts';
import type { Keys } from '../identity/keys.ts';
import type { Settings } from '../identity/settings.ts';
import type { Ledger } from '../ledger/contract.ts';
import { OPERATOR } from './command.ts';
import { programName } from './runtime.ts';

const DEMO_EMAIL = 'demo@tollgate.example';
const DEMO_PLAN = 'pro';

/** One million service tokens, in 10⁻⁶ of one. */
const DEMO_CREDIT = 1_000_000_000_000n;

type DemoDependencies = {
  readonly accounts: Accounts;
  readonly keys: Keys;
  readonly ledger: Ledger;
  readonly settings: Settings;
};

/** The lines to print at a start with `--demo`. Makes the account only if there is none yet. */
export async function welcomeDemo(
  dependencies: DemoDependencies,
  baseUrl: string,
): Promise<string[]> {
  const urls = [
    '',
    `  chat completions   base URL ${baseUrl}/v1`,
    `  messages           base URL ${baseUrl}`,
  ];
  if (dependencies.settings.get('demo_account') !== undefined) {
    return [
      ...urls,
      '',
      `The demonstration account is ${DEMO_EMAIL}. Its key was shown at the first start and is`,
      `not kept. For another one: ${programName()} key create ${DEMO_EMAIL}`,
      '',
    ];
  }
  const key = await createDemoAccount(dependencies);
  return [...urls, `  key                ${key}`, '', 'Try it:', '', curl(baseUrl, key), ''];
}

async function createDemoAccount(dependencies: DemoDependencies): Promise<string> {
  const { accounts, keys, ledger, settings } = dependencies;
  const account = accounts.create(
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
  const { key } = keys.create({ accountId: account.id, name: 'demo' }, OPERATOR);
  settings.set('demo_account', account.id, OPERATOR);
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
