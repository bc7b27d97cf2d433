// Password guessing from many networks does not delay the owner of an address who signs in with a
// mailed or printed link: sign-up, reset, or an operator's invitation.

import { beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { newEmail, newPassword, openSignUp, tokenOf } from '../support/customer.ts';
import { closeAtEnd, type Gateway, startGateway } from '../support/gateway.ts';
import { type Mailbox, openMailbox } from '../support/mailbox.ts';
import { type ApiSession, openApi, type Realm } from '../support/session.ts';

setDefaultTimeout(60_000);

let mailbox: Mailbox;
let gateway: Gateway;

beforeAll(async () => {
  mailbox = await openMailbox();
  gateway = await startGateway({
    environment: { ...openSignUp(mailbox), TRUSTED_PROXIES: '127.0.0.1' },
  });
});
closeAtEnd(() => [mailbox, gateway]);

const HOME = { 'x-forwarded-for': '203.0.113.9' };
const CAFE = { 'x-forwarded-for': '198.51.100.200' };

const visitor = (realm: Realm): ApiSession =>
  openApi(realm === 'customer' ? gateway.url : gateway.operatorUrl(), realm);

/** Guesses until the name is delayed wherever it is not known. */
async function guess(realm: Realm, email: string): Promise<void> {
  for (let network = 1; network <= 30; network += 1) {
    const from = { 'x-forwarded-for': `192.0.2.${network}` };
    const password = newPassword();
    const { status } = await visitor(realm).send('POST', '/auth/login', { email, password }, from);
    if (status === 429) return;
  }
  throw new Error('the stranger was never delayed');
}

async function signIn(realm: Realm, email: string, password: string, from: Record<string, string>) {
  const body = { email, password };
  return (await visitor(realm).send('POST', '/auth/login', body, from)).status;
}

/** Whether the owner gets in at once, from home and from where they have never been. */
async function expectFree(realm: Realm, email: string, password: string): Promise<void> {
  await guess(realm, email);
  expect(await signIn(realm, email, password, CAFE)).toBe(429);
  expect(await signIn(realm, email, password, HOME)).toBe(200);
}

test('after signing up', async () => {
  const [email, password] = [newEmail(), newPassword()];
  const session = visitor('customer');
  await session.send('POST', '/auth/signup', { email, password }, HOME);
  const token = tokenOf(await mailbox.linkTo(email));
  const verified = await session.send('POST', '/auth/verify-email', { token, password }, HOME);
  expect(verified.status).toBe(200);
  await expectFree('customer', email, password);
});

test('after a first password by "forgot password"', async () => {
  const { email } = await gateway.createAccount();
  const password = newPassword();
  const session = visitor('customer');
  await session.send('POST', '/auth/password/forgot', { email }, HOME);
  const token = tokenOf(await mailbox.linkTo(email));
  const reset = await session.send('POST', '/auth/password/reset', { token, password }, HOME);
  expect(reset.status).toBeLessThan(300);
  await expectFree('customer', email, password);
});

test("after an operator's printed link", async () => {
  const [email, password] = [newEmail(), newPassword()];
  const made = await gateway.run('operator', 'create', email);
  const token = String(made['token']);
  const session = visitor('operator');
  const reset = await session.send('POST', '/auth/password/reset', { token, password }, HOME);
  expect(reset.status).toBeLessThan(300);
  await expectFree('operator', email, password);
});
