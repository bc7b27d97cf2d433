import { describe, expect, test } from 'bun:test';
import { randomBytes } from 'node:crypto';
import { createDashboardApp } from '../../../src/dashboard/edge/app.ts';
import { peopleRoutes } from '../../../src/dashboard/operator/people.ts';
import type { SignedInOperator } from '../../../src/identity/signed-in.ts';
import { createBrowser, createRig, PASSWORD } from '../../identity/sign-in/rig.ts';
import { describeOnEachDatabase, temporaryDirectory } from '../../support/database.ts';
import { codeOf } from '../../support/one-time-code.ts';

const directory = temporaryDirectory();

const ORIGIN = 'http://console.test';
const visit = createBrowser().visit();

/** The console's people over real sign-in, asked by an operator who has just signed in. */
async function open() {
  const rig = await createRig(directory, 'invite');
  const { signIn, accounts, clock, database } = rig;
  const { token } = await signIn.operators.invite('op@example.com', 'admin', 'operator');
  await signIn.operator.resetPassword({ token, password: PASSWORD }, visit);
  const browser = createBrowser();
  const given = { email: 'op@example.com', password: PASSWORD };
  browser.take((await signIn.operator.signIn(given, visit)).cookies);
  const handle = createDashboardApp<SignedInOperator>({
    session: signIn.operator.read,
    isOpen: signIn.operators.exist,
    standing: async () => undefined,
    address: () => '203.0.113.7',
    origin: ORIGIN,
    isHttps: () => false,
    ...{ clock, randomBytes },
    onChange: async () => undefined,
    onInternal(_requestId, error) {
      throw error;
    },
    prefix: '/operator',
    // The routes use nothing else of the store.
    routes: peopleRoutes({ signIn, clock, store: { accounts, database } as never }),
    files: { page: () => new Response(''), serve: () => new Response('') },
  });
  async function ask(method: string, path: string, body?: unknown) {
    const headers = new Headers(browser.visit().headers);
    headers.set('origin', ORIGIN);
    headers.set('content-type', 'application/json');
    const request = new Request(`${ORIGIN}/operator/api${path}`, {
      ...{ method, headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const response = await handle(request, null);
    const text = await response.text();
    return { status: response.status, json: text === '' ? undefined : JSON.parse(text) };
  }
  return { ...rig, ask };
}

describeOnEachDatabase("the console's people", () => {
  describe('invitations', () => {
    test('are made with a link, listed without it, page by page, and revoked', async () => {
      const { ask, signIn } = await open();
      const made = [];
      for (const email of [undefined, 'a@example.com', 'b@example.com']) {
        made.push((await ask('POST', '/invites', { email })).json);
      }
      expect(made[1]).toEqual({
        id: expect.stringMatching(/^inv_\w{24}$/),
        object: 'invite',
        email: 'a@example.com',
        status: 'open',
        created_at: expect.any(String),
        expires_at: expect.any(String),
        link: expect.stringMatching(
          /^https:\/\/gateway\.example\/dashboard\/signup\?invite=[\w-]{43}$/,
        ),
      });
      const token = new URL(made[1].link).searchParams.get('invite') ?? '';
      const first = (await ask('GET', '/invites?limit=2')).json;
      const { link: _, ...record } = made[1];
      expect(first).toEqual({
        object: 'list',
        data: [expect.objectContaining({ email: 'b@example.com' }), record],
        next: expect.any(String),
      });
      const second = (await ask('GET', `/invites?limit=2&after=${first.next}`)).json;
      expect(second).toMatchObject({ data: [{ id: made[0].id, email: null }], next: null });
      const revoked = await ask('POST', `/invites/${made[1].id}/revoke`);
      expect(revoked.json).toEqual({ ...record, status: 'revoked' });
      const signUp = { email: 'a@example.com', password: PASSWORD, invite: token };
      await expect(signIn.customer.signUp(signUp, visit)).rejects.toMatchObject({
        code: 'invalid_invite',
      });
      const unknown = await ask('POST', '/invites/inv_x/revoke');
      expect([unknown.status, unknown.json.error.code]).toEqual([404, 'invite_not_found']);
    });
  });

  describe('operators', () => {
    test('make, reset and remove others by a link, and never themselves', async () => {
      const { ask, signIn } = await open();
      const made = await ask('POST', '/operators', {
        email: 'new@example.com',
        role: 'support',
      });
      expect(made.json).toEqual({
        object: 'operator_link',
        email: 'new@example.com',
        link: expect.stringMatching(
          /^https:\/\/console\.example\/operator\/welcome\?token=[\w-]{43}$/,
        ),
      });
      const token = new URL(made.json.link).searchParams.get('token') ?? '';
      await signIn.operator.resetPassword({ token, password: PASSWORD }, visit);
      const { data } = (await ask('GET', '/operators')).json;
      expect(data.map(({ email }: { email: string }) => email)).toEqual([
        'op@example.com',
        'new@example.com',
      ]);
      const [self, other] = data;
      expect(data.map(({ role }: { role: string }) => role)).toEqual(['admin', 'support']);
      const role = `/operators/${other.id}/role`;
      expect((await ask('POST', role, { role: 'finance' })).json).toMatchObject({
        email: 'new@example.com',
        role: 'finance',
      });
      expect((await ask('POST', role, { role: 'root' })).status).toBe(400);
      expect((await ask('POST', `/operators/${self.id}/role`, { role: 'viewer' })).status).toBe(
        409,
      );
      expect((await ask('POST', `/operators/${other.id}/reset`)).status).toBe(200);
      expect((await ask('DELETE', `/operators/${self.id}`)).status).toBe(409);
      expect((await ask('DELETE', `/operators/${other.id}`)).status).toBe(204);
      expect((await ask('DELETE', `/operators/${other.id}`)).status).toBe(404);
      const again = await ask('POST', '/operators', { email: 'op@example.com', role: 'viewer' });
      expect([again.status, again.json.error.code]).toEqual([409, 'operator_exists']);
    });
  });

  test("a customer's lost second factor is turned off, and their sessions end", async () => {
    const rig = await open();
    const { ask, signIn } = rig;
    const { token: invite } = await signIn.invites.create({}, 'operator');
    const browser = createBrowser();
    const given = { email: 'c@example.com', password: PASSWORD };
    await signIn.customer.signUp({ ...given, invite }, visit);
    const token = await rig.mailedToken(given.email);
    browser.take((await signIn.customer.verifyEmail({ token, password: PASSWORD }, visit)).cookies);
    const who = await signIn.customer.read(browser.visit().headers);
    if (who === undefined) throw new Error('no user is signed in');
    const path = `/accounts/${who.accountId}/second-factor`;
    expect((await ask('DELETE', path)).status).toBe(409);
    const { secret } = await signIn.customer.startTwoFactor(who);
    const on = await signIn.customer.confirmTwoFactor(
      who,
      codeOf(secret, rig.clock()),
      browser.visit(),
    );
    browser.take(on.cookies);
    expect((await ask('DELETE', path)).status).toBe(204);
    expect(await signIn.customer.read(browser.visit().headers)).toBeUndefined();
    expect((await signIn.customer.signIn(given, visit)).status).toBe('signed_in');
    expect((await ask('DELETE', '/accounts/acct_x/second-factor')).status).toBe(404);
  });
});
