// The JSON of sign-in, over the sockets of a running gateway: the body of each answer and its
// cookie. The rules behind it are tested in test/identity/sign-in.

import { beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import {
  addOperator,
  newEmail,
  newPassword,
  openSignUp,
  signIn,
  signUp,
  tokenOf,
} from '../support/customer.ts';
import { describeOnEachDatabase } from '../support/database.ts';
import { closeAtEnd, type Gateway, startGateway } from '../support/gateway.ts';
import { type Mailbox, openMailbox } from '../support/mailbox.ts';
import { codeOf } from '../support/one-time-code.ts';
import { openApi } from '../support/session.ts';

/** What a process has used of the processor, in steps of 10 ms. */
function cpuMs(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

describeOnEachDatabase('sign-in over HTTP', () => {
  setDefaultTimeout(30_000);

  const BASE_URL = 'https://gate.example';
  const SIGNED_IN = { object: 'sign_in', status: 'signed_in' };

  let mailbox: Mailbox;
  let gateway: Gateway;

  beforeAll(async () => {
    mailbox = await openMailbox();
    gateway = await startGateway({ environment: { ...openSignUp(mailbox), BASE_URL } });
  }, 30_000);

  closeAtEnd(() => [mailbox, gateway]);

  const visitor = () => openApi(gateway.url, 'customer');
  const codeIn = ({ json }: { json: Record<string, unknown> }) =>
    (json['error'] as { readonly code?: string } | undefined)?.code;

  describe('who is signed in', () => {
    test('has no session at first', async () => {
      expect((await visitor().get('/auth/session')).json).toEqual({
        object: 'session',
        realm: 'customer',
        sign_up: 'open',
        usd_per_million: '1',
        mail: 'smtp',
        user: null,
      });
    });

    test('is a customer with an account after a sign-up', async () => {
      const { email, accountId, session } = await signUp(gateway, mailbox);
      expect((await session.get('/auth/session')).json['user']).toEqual({
        email,
        session_id: expect.stringMatching(/^sess_\w{24}$/),
        two_factor: false,
        recovery_codes_left: null,
        role: null,
        permissions: [],
        proven_until: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
        expires_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
        account: {
          id: accountId,
          plan: { slug: 'pay-as-you-go', name: 'Pay as you go' },
          standing: 'active',
          deletion_due_at: null,
        },
      });
      const account = await gateway.run('account', 'show', email);
      expect(account['account']).toMatchObject({ id: accountId, email_verified: true });
    });
  });

  describe('a sign-in', () => {
    test('sets one cookie, and none where it is refused', async () => {
      const { email, password } = await signUp(gateway, mailbox);
      const right = await visitor().send('POST', '/auth/login', { email, password });
      expect([right.status, right.json]).toEqual([200, SIGNED_IN]);
      expect(right.headers.getSetCookie()).toEqual([
        expect.stringMatching(
          /^__Host-tollgate=[\w-]{43}; Max-Age=604800; Path=\/; HttpOnly; Secure; SameSite=Lax$/,
        ),
      ]);
      const wrong = await visitor().send('POST', '/auth/login', {
        email,
        password: `${password}x`,
      });
      const unknown = await visitor().send('POST', '/auth/login', { email: newEmail(), password });
      expect([wrong.status, codeIn(wrong), wrong.headers.getSetCookie()]).toEqual([
        401,
        'invalid_credentials',
        [],
      ]);
      const words = ({ text }: { text: string }) => text.replace(/req_\w+/, '');
      expect([unknown.status, words(unknown)]).toEqual([wrong.status, words(wrong)]);
    });

    test.each([
      [{ email: ['a@example.com'], password: 'correct horse battery' }, 'email'],
      [{ email: 'a@example.com', password: { $ne: '' } }, 'password'],
      [{ email: 'a@example.com', password: 'x'.repeat(257) }, 'password'],
      [{ email: 'a@example.com', password: 'x'.repeat(8_000) }, 'password'],
      [{ email: 'a@example.com' }, 'password'],
      [{ email: 'a@example.com', password: 'correct horse battery', role: 'operator' }, 'role'],
    ])('with a body of another form is refused unhashed: %#', async (body, param) => {
      const before = cpuMs(gateway.pid);
      const { status, json } = await visitor().send('POST', '/auth/login', body);
      expect([status, json['error']]).toEqual([
        400,
        expect.objectContaining({ code: 'invalid_request', param }),
      ]);
      expect(cpuMs(gateway.pid) - before).toBeLessThan(150);
    });
  });

  test('a second factor is asked for, taken, and turned off', async () => {
    const { email, password, session } = await signUp(gateway, mailbox);
    const started = (await session.send('POST', '/auth/two-factor')).json;
    const secret = String(started['secret']);
    const confirmed = await session.send('POST', '/auth/two-factor/confirm', {
      code: codeOf(secret, Date.now()),
    });
    expect(confirmed.json).toMatchObject({ object: 'recovery_codes' });
    expect((await session.get('/auth/session')).json['user']).toMatchObject({
      two_factor: true,
      recovery_codes_left: 10,
    });
    const other = visitor();
    const half = await other.send('POST', '/auth/login', { email, password });
    expect(half.json).toEqual({ object: 'sign_in', status: 'second_factor_required' });
    expect((await other.get('/auth/session')).json['user']).toBeNull();
    const wrong = await other.send('POST', '/auth/login/second-factor', { code: '000000' });
    expect([wrong.status, codeIn(wrong)]).toEqual([401, 'invalid_code']);
    const [code] = confirmed.json['codes'] as string[];
    const right = await other.send('POST', '/auth/login/second-factor', { code });
    expect([right.status, right.json]).toEqual([200, SIGNED_IN]);
    const renewed = await other.send('POST', '/auth/two-factor/recovery-codes');
    expect(renewed.json['codes']).toHaveLength(10);
    expect((await other.send('DELETE', '/auth/two-factor')).status).toBe(204);
    const { json } = await visitor().send('POST', '/auth/login', { email, password });
    expect(json).toEqual(SIGNED_IN);
  });

  test('passwords are changed and reset, and sessions end with them', async () => {
    const customer = await signUp(gateway, mailbox);
    const { email, password, session } = customer;
    const elsewhere = await signIn(gateway, customer);
    const stolen = session.copy();
    const next = newPassword();
    const change = { current: password, password: next };
    expect((await session.send('POST', '/auth/password/change', change)).status).toBe(204);
    const whoIs = async (at: typeof session) => (await at.get('/auth/sessions')).status;
    expect(await Promise.all([session, elsewhere, stolen].map(whoIs))).toEqual([200, 401, 401]);
    const asked = await visitor().send('POST', '/auth/password/forgot', { email });
    expect([asked.status, asked.json]).toEqual([200, { object: 'mailed', mail: 'smtp' }]);
    const mails = await mailbox.mailsTo(email, 3);
    const link = mails.flatMap(({ links }) => links).find((each) => each.includes('/reset?'));
    const reset = { token: tokenOf(link ?? ''), password: newPassword() };
    expect((await visitor().send('POST', '/auth/password/reset', reset)).status).toBe(204);
    expect(await whoIs(session)).toBe(401);
    const again = await visitor().send('POST', '/auth/password/reset', reset);
    expect([again.status, codeIn(again)]).toEqual([400, 'invalid_token']);
    await signIn(gateway, { email, password: reset.password });
  });

  test('sessions are listed and ended', async () => {
    const customer = await signUp(gateway, mailbox);
    const elsewhere = await signIn(gateway, customer);
    const { data } = (await customer.session.get('/auth/sessions')).json as {
      data: readonly { readonly id: string; readonly current: boolean }[];
    };
    expect(data.map(({ current }) => current).sort()).toEqual([false, true]);
    expect(data[0] as unknown).toEqual({
      id: expect.any(String),
      object: 'listed_session',
      current: expect.any(Boolean),
      created_at: expect.any(String),
      last_seen_at: expect.any(String),
      expires_at: expect.any(String),
      address: '127.0.0.1',
      user_agent: expect.stringContaining('Bun'),
    });
    const other = data.find(({ current }) => !current)?.id;
    expect((await customer.session.send('DELETE', `/auth/sessions/${other}`)).status).toBe(204);
    expect((await elsewhere.get('/auth/sessions')).status).toBe(401);
    const gone = await customer.session.send('DELETE', `/auth/sessions/${other}`);
    expect([gone.status, codeIn(gone)]).toEqual([404, 'session_not_found']);
    const third = await signIn(gateway, customer);
    expect((await customer.session.send('DELETE', '/auth/sessions')).status).toBe(204);
    expect((await third.get('/auth/sessions')).status).toBe(401);
    const stolen = customer.session.copy();
    expect((await customer.session.send('POST', '/auth/logout')).status).toBe(204);
    expect(customer.session.cookie()).toBe('');
    expect((await stolen.get('/auth/sessions')).status).toBe(401);
  });

  test('a deletion refuses everything but looking after it, and is taken back', async () => {
    const { session } = await signUp(gateway, mailbox);
    const asked = await session.send('POST', '/auth/deletion');
    expect(asked.json).toEqual({ object: 'deletion', due_at: expect.any(String) });
    expect((await session.get('/auth/session')).json['user']).toMatchObject({
      account: { standing: 'pending_deletion', deletion_due_at: asked.json['due_at'] },
    });
    const refused = await session.send('POST', '/keys', { name: 'k' });
    expect([refused.status, codeIn(refused)]).toEqual([403, 'account_inactive']);
    expect((await session.send('DELETE', '/auth/deletion')).status).toBe(204);
    expect((await session.get('/auth/session')).json['user']).toMatchObject({
      account: { standing: 'active', deletion_due_at: null },
    });
  });

  test('the console is nothing before there is an operator, and then opens to operators alone', async () => {
    await using own = await startGateway();
    const console = openApi(own.operatorUrl(), 'operator');
    const before = await console.get('/auth/session');
    expect([before.status, codeIn(before)]).toEqual([404, 'not_found']);
    const made = await own.run('operator', 'create', 'op@example.com');
    const password = newPassword();
    const token = String(made['token']);
    expect(String(made['link'])).toEndWith(`/operator/welcome?token=${token}`);
    const chosen = await console.send('POST', '/auth/password/reset', { token, password });
    expect(chosen.json).toEqual(SIGNED_IN);
    const given = { email: 'op@example.com', password };
    expect((await console.get('/auth/session')).json).toMatchObject({
      realm: 'operator',
      sign_up: 'closed',
      mail: 'log',
      user: {
        email: 'op@example.com',
        role: 'admin',
        permissions: expect.arrayContaining(['view', 'money.move', 'operators.manage']),
        account: null,
      },
    });
    // Only a new operator has no second factor for sure.
    const { token: again } = await own.run('operator', 'reset', 'op@example.com');
    const other = openApi(own.operatorUrl(), 'operator');
    const reset = await other.send('POST', '/auth/password/reset', { token: again, password });
    expect([reset.status, other.cookie()]).toEqual([204, '']);
    expect((await console.send('POST', '/auth/login', given)).json).toEqual(SIGNED_IN);
    const customer = await openApi(own.url, 'customer').send('POST', '/auth/login', given);
    expect(customer.status).toBe(401);
    expect((await console.send('POST', '/auth/signup', given)).status).toBe(404);
    await addOperator(own, newEmail(), newPassword());
    await own.run('operator', 'remove', 'op@example.com');
    expect((await console.get('/auth/sessions')).status).toBe(401);
  });
});
