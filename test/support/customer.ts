// Creates signed-in users: customers by sign-up and the mailed link, as the pages do it, or, where
// that is not what a test is about, users in the database whose passwords are hashed cheaply. At full
// strength each hash and each sign-in takes a fifth of a second of the processor.

import { createContext } from '../../src/cli/context.ts';
import { openParts } from '../../src/cli/open-operations.ts';
import { DEFAULT_PLAN } from '../../src/core/plan.ts';
import { createPasswords } from '../../src/identity/sign-in/passwords.ts';
import { createPeople, type People } from '../../src/identity/sign-in/people.ts';
import type { OperationDependencies } from '../../src/operations/dependencies.ts';
import { type Gateway, gatewayCommand } from './gateway.ts';
import type { Mailbox } from './mailbox.ts';
import { runProgram } from './program.ts';
import { type ApiSession, openApi } from './session.ts';

export type Customer = {
  readonly email: string;
  readonly password: string;
  readonly accountId: string;
  readonly session: ApiSession;
};

export type Operator = Omit<Customer, 'accountId'>;

/** The settings that signing up needs. */
export function openSignUp(mailbox: Mailbox): Record<string, string> {
  return { SMTP_URL: mailbox.url, MAIL_FROM: 'gate@tollgate.example', SIGNUP: 'open' };
}

export const newEmail = () => `${crypto.randomUUID()}@example.com`;
export const newPassword = () => `correct horse ${crypto.randomUUID()}`;

/** A new customer, signed in. An account that the operator has made for `email` becomes theirs. */
export async function signUp(
  gateway: Gateway,
  mailbox: Mailbox,
  email: string = newEmail(),
): Promise<Customer> {
  const password = newPassword();
  const session = openApi(gateway.url, 'customer');
  await succeed(session.send('POST', '/auth/signup', { email, password }));
  const token = tokenOf(await mailbox.linkTo(email));
  await succeed(session.send('POST', '/auth/verify-email', { token, password }));
  return { email, password, accountId: await accountIdOf(session), session };
}

/** A returning user, in a browser of their own. */
export async function signIn(
  gateway: Gateway,
  { email, password }: { readonly email: string; readonly password: string },
): Promise<ApiSession> {
  const session = openApi(gateway.url, 'customer');
  await succeed(session.send('POST', '/auth/login', { email, password }));
  return session;
}

/** A new customer, signed in, with a verified address. */
export async function createCustomer(gateway: Gateway): Promise<Customer> {
  const email = newEmail();
  const password = newPassword();
  const { id: accountId } = await inDatabase(gateway, async ({ accounts }, people) => {
    const account = await accounts.create(
      { email, plan: DEFAULT_PLAN, emailVerified: true },
      'operator',
    );
    await people.addCustomer(account, password, 'operator');
    return account;
  });
  return { email, password, accountId, session: await signIn(gateway, { email, password }) };
}

/** A new operator, signed in; the first of them opens the console. */
export async function createOperator(gateway: Gateway): Promise<Operator> {
  const email = newEmail();
  const password = newPassword();
  await inDatabase(gateway, (_, { operators }) =>
    operators.create(email, 'admin', password, 'operator'),
  );
  const session = openApi(gateway.operatorUrl(), 'operator');
  await succeed(session.send('POST', '/auth/login', { email, password }));
  return { email, password, session };
}

async function inDatabase<T>(
  { environment, databasePath, directory }: Gateway,
  work: (parts: OperationDependencies, people: People) => Promise<T>,
): Promise<T> {
  const url = { DATABASE_URL: `sqlite:${databasePath}` };
  const context = createContext({ ...url, ...environment }, directory);
  try {
    const parts = await openParts(context);
    const passwords = createPasswords({ memoryCost: 8, timeCost: 1 }).operator;
    return await work(parts, createPeople({ ...parts, passwords }));
  } finally {
    await context.close();
  }
}

/** The password goes through standing input, as it is never an argument. */
export async function addOperator(
  { directory, environment: env }: Gateway,
  email: string,
  password: string,
): Promise<void> {
  const { code, stderr } = await runProgram(
    [...gatewayCommand(), 'operator', 'create', email, '--password-stdin', '--json'],
    { cwd: directory, env, stdin: new Blob([password]) },
  );
  if (code !== 0) throw new Error(`operator create ended with ${code}: ${stderr}`);
}

/** The token in the link of a mail. */
export function tokenOf(link: string): string {
  const token = new URL(link).searchParams.get('token');
  if (token === null) throw new Error(`the link ${link} has no token`);
  return token;
}

async function accountIdOf(session: ApiSession): Promise<string> {
  const { json } = await session.get('/auth/session');
  const user = json['user'] as { readonly account: { readonly id: string } } | null;
  if (user === null) throw new Error('no session');
  return user.account.id;
}

async function succeed(answer: ReturnType<ApiSession['send']>): Promise<void> {
  const { status, text } = await answer;
  if (status >= 300) throw new Error(`refused with ${status}: ${text}`);
}
