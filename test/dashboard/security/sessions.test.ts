// Sessions over the socket: what the cookie is, when there is a new one, and how soon an old one
// opens nothing any more. Expiry is tested beside `src/identity/sign-in/`.

import { beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import {
  type Customer,
  createOperator,
  newPassword,
  type Operator,
  openSignUp,
  signIn,
  signUp,
  tokenOf,
} from '../../support/customer.ts';
import { closeAtEnd, type Gateway, startGateway } from '../../support/gateway.ts';
import { type Mailbox, openMailbox } from '../../support/mailbox.ts';
import { type ApiSession, openApi } from '../../support/session.ts';

const SECOND_MS = 1_000;

setDefaultTimeout(30_000);

let mailbox: Mailbox;
let gateway: Gateway;
let operator: Operator;
let customer: Customer;

beforeAll(async () => {
  mailbox = await openMailbox();
  gateway = await startGateway({ environment: openSignUp(mailbox) });
  operator = await createOperator(gateway);
  customer = await signUp(gateway, mailbox);
});
closeAtEnd(() => [mailbox, gateway]);

const isSignedIn = async (session: ApiSession) => {
  const path = session.realm === 'customer' ? '/account' : '/overview';
  return (await session.get(path)).status === 200;
};

/** That `session` is over within a second of what `act` does. */
async function expectOver(session: ApiSession, act: () => Promise<unknown>): Promise<void> {
  const copy = session.copy();
  expect(await isSignedIn(copy)).toBe(true);
  await act();
  const deadline = performance.now() + SECOND_MS;
  while (performance.now() < deadline && (await isSignedIn(copy))) await Bun.sleep(20);
  expect((await copy.get('/auth/sessions')).status).toBe(401);
}

test('a thief of a session who uses up the changes of a minute is thrown out all the same', async () => {
  const owner = await signUp(gateway, mailbox);
  const thief = owner.session.copy();
  const session = await signIn(gateway, owner);
  let status = 0;
  for (let count = 0; count < 70 && status !== 429; count += 1) {
    ({ status } = await thief.send('POST', '/keys/revoke', { ids: ['key_none'] }));
  }
  expect(status).toBe(429);
  for (let count = 0; count < 62; count += 1) {
    ({ status } = await thief.send('DELETE', '/auth/sessions/sess_none'));
  }
  expect(status).toBe(429);
  await expectOver(thief, () => session.send('DELETE', '/auth/sessions'));
  expect(await isSignedIn(session)).toBe(true);
});

describe('the cookie', () => {
  test.each(['customer', 'operator'] as const)(
    'of a %s is for this server alone',
    async (realm) => {
      const who = realm === 'customer' ? customer : operator;
      const { email, password } = who;
      const session = openApi(who.session.url, realm);
      const answer = await session.send('POST', '/auth/login', { email, password });
      const name = realm === 'customer' ? '__Host-tollgate' : '__Host-tollgate-operator';
      const [line = '', ...more] = answer.headers
        .getSetCookie()
        .filter((set) => !/Max-Age=0/i.test(set));
      expect(more).toEqual([]);
      const [pair = '', ...attributes] = line.split('; ');
      expect(pair).toMatch(new RegExp(`^${name}=[A-Za-z0-9_%.-]{43,}$`));
      expect(attributes.map((attribute) => attribute.toLowerCase()).sort()).toEqual([
        'httponly',
        'max-age=604800',
        'path=/',
        'samesite=lax',
        'secure',
      ]);
      const out = await session.send('POST', '/auth/logout');
      expect(out.headers.getSetCookie()).toContain(
        `${name}=; Max-Age=0; Path=/; HttpOnly; Secure; SameSite=Lax`,
      );
    },
  );

  test('planted before sign-in is not the one after it (B-169)', async () => {
    const planted = await signIn(gateway, customer);
    const before = planted.cookie();
    const thief = planted.copy();
    const { email, password } = customer;
    await planted.send('POST', '/auth/login', { email, password });
    expect(planted.cookie()).not.toBe(before);
    expect(await isSignedIn(planted)).toBe(true);
    expect(await isSignedIn(thief)).toBe(false);
    const made = openApi(gateway.url, 'customer', new Map([['__Host-tollgate', 'A'.repeat(43)]]));
    await made.send('POST', '/auth/login', { email, password });
    expect(made.cookie()).not.toContain('AAAAAAAAAA');
  });

  test('is another one after the password was proven again, and the one before opens nothing', async () => {
    const session = await signIn(gateway, customer);
    const thief = session.copy();
    await session.send('POST', '/auth/step-up', { password: customer.password });
    expect(await isSignedIn(session)).toBe(true);
    expect(await isSignedIn(thief)).toBe(false);
  });
});

describe('a session is over within a second (B-183)', () => {
  test('of signing out', async () => {
    const session = await signIn(gateway, customer);
    await expectOver(session, () => session.send('POST', '/auth/logout'));
  });

  test('of signing out everywhere', async () => {
    const [here, there] = [await signIn(gateway, customer), await signIn(gateway, customer)];
    await expectOver(there, () => here.send('DELETE', '/auth/sessions'));
    expect(await isSignedIn(here)).toBe(true);
  });

  test('of a changed password', async () => {
    const someone = await signUp(gateway, mailbox);
    const elsewhere = await signIn(gateway, someone);
    const body = { current: someone.password, password: newPassword() };
    await expectOver(elsewhere, () => someone.session.send('POST', '/auth/password/change', body));
    expect(await isSignedIn(someone.session)).toBe(true);
  });

  test('of a password that was reset by the mailed link', async () => {
    const someone = await signUp(gateway, mailbox);
    const visitor = openApi(gateway.url, 'customer');
    await visitor.send('POST', '/auth/password/forgot', { email: someone.email });
    const token = tokenOf(await mailbox.linkTo(someone.email, 2));
    const body = { token, password: newPassword() };
    await expectOver(someone.session, () => visitor.send('POST', '/auth/password/reset', body));
  });

  test('of the removal of an operator', async () => {
    const second = await createOperator(gateway);
    await expectOver(second.session, () => gateway.run('operator', 'remove', second.email));
  });

  test('in what it may write, of the suspension of its account', async () => {
    const someone = await signUp(gateway, mailbox);
    await gateway.run('account', 'suspend', someone.accountId);
    const deadline = performance.now() + SECOND_MS;
    let status = 200;
    while (status === 200 && performance.now() < deadline) {
      status = (await someone.session.send('POST', '/keys', {})).status;
    }
    expect(status).toBe(403);
  });
});

describe('the mailed link of a forgotten password (B-182)', () => {
  test('uses the configured base URL, not the host of the request', async () => {
    const someone = await signUp(gateway, mailbox);
    const poison = { host: 'elsewhere.example', origin: 'http://elsewhere.example' };
    const trick = { 'x-forwarded-host': 'elsewhere.example', forwarded: 'host=elsewhere.example' };
    const visitor = openApi(gateway.url, 'customer');
    const body = { email: someone.email };
    await visitor.send('POST', '/auth/password/forgot', body, { ...poison, ...trick });
    const link = await mailbox.linkTo(someone.email, 2);
    expect(link).toStartWith(`${gateway.url}/dashboard/`);
  });

  test('opens once, and nothing of the console', async () => {
    const someone = await signUp(gateway, mailbox);
    const visitor = openApi(gateway.url, 'customer');
    await visitor.send('POST', '/auth/password/forgot', { email: someone.email });
    const token = tokenOf(await mailbox.linkTo(someone.email, 2));
    const password = newPassword();
    const console = openApi(gateway.operatorUrl(), 'operator');
    const statuses = [
      await console.send('POST', '/auth/password/reset', { token, password }),
      await visitor.send('POST', '/auth/password/reset', { token, password }),
      await visitor.send('POST', '/auth/password/reset', { token, password: newPassword() }),
    ].map(({ status }) => status < 300);
    expect(statuses).toEqual([false, true, false]);
    expect(await isSignedIn(await signIn(gateway, { email: someone.email, password }))).toBe(true);
  });
});
