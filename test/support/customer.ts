// Creates signed-in users through the JSON that pages use: customers by sign-up and the mailed
// link, operators by the command line.

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

/** A new operator, signed in; the first of them opens the console. */
export async function createOperator(gateway: Gateway): Promise<Operator> {
  const email = newEmail();
  const password = newPassword();
  await addOperator(gateway, email, password);
  const session = openApi(gateway.operatorUrl(), 'operator');
  await succeed(session.send('POST', '/auth/login', { email, password }));
  return { email, password, session };
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
