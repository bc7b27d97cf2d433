// Text from strangers stays text: markup in every name that a page shows, redirect addresses,
// frames around the pages, the back button after signing out.

import { afterAll, beforeAll, expect, test } from 'bun:test';
import { describeInBrowser } from '../support/browser.ts';
import { post, requestBody } from '../support/client.ts';
import type { Customer } from '../support/customer.ts';
import {
  expectClean,
  expectPath,
  expectRow,
  expectText,
  openRig,
  openSignedIn,
  type Rig,
} from './rig.ts';

const MARKUP = '<img src=x onerror="globalThis.ran=1"><script>globalThis.ran=1</script>';
/** Turns what follows around, and hides a part of it. */
const BIDI = 'safe\u202Etxt.exe\u2066';

let rig: Rig;
/** Who signs in with an address to go on to. */
let follower: Customer;

describeInBrowser('what strangers write', ({ visit }) => {
  beforeAll(async () => {
    rig = await openRig();
    follower = await rig.newCustomer();
  });
  afterAll(() => rig.close());

  test('is inert in every page that shows it (B-172, B-175)', async () => {
    const { gateway, operator } = rig;
    const customer = await rig.newCustomer();
    const { json } = await customer.session.send('POST', '/keys', { name: MARKUP });
    await customer.session.send('POST', '/keys', { name: BIDI });
    const caller = { url: gateway.url, key: String(json['key']) };
    const body = requestBody('chat', 'ok', { user: MARKUP });
    await (await post(caller, '/v1/chat/completions', body)).text();
    await operator.session.send('POST', `/accounts/${customer.accountId}/movements`, {
      id: crypto.randomUUID(),
      kind: 'credit',
      amount: '1',
      reason: MARKUP,
    });
    await operator.session.send('POST', '/maintenance', { maintenance: 'on', message: MARKUP });
    await operator.session.send('POST', '/maintenance', { maintenance: 'off', message: null });

    await using visitor = await visit(`${gateway.url}/dashboard`);
    await openSignedIn(visitor, customer);
    for (const path of ['/keys', '/requests', '/ledger', '/audit', '/usage']) {
      await visitor.page.goto(`${gateway.url}/dashboard${path}`);
      await visitor.page.locator('h1').waitFor();
      await visitor.page.locator('.skeleton').first().waitFor({ state: 'detached' });
      expect([path, await visitor.page.evaluate('globalThis.ran')]).toEqual([path, undefined]);
    }
    await visitor.page.goto(`${gateway.url}/dashboard/keys`);
    await expectText(visitor.page, MARKUP);
    await expectClean(visitor);

    await using console = await visit(`${gateway.operatorUrl()}/operator`);
    await openSignedIn(console, operator);
    for (const path of [`/accounts/${customer.accountId}`, '/audit', '/money']) {
      await console.page.goto(`${gateway.operatorUrl()}/operator${path}`);
      await console.page.locator('h1').waitFor();
      await console.page.locator('.skeleton').first().waitFor({ state: 'detached' });
      expect([path, await console.page.evaluate('globalThis.ran')]).toEqual([path, undefined]);
    }
    await expectClean(console);
  });

  test.each([
    '//elsewhere.example',
    'https:elsewhere.example',
    '/\\elsewhere.example',
    'javascript:globalThis.ran=1',
    '%2F%2Felsewhere.example',
    '/dashboard/../../operator',
    'https://elsewhere.example/dashboard',
  ])('signing in goes on to no other origin: %s (B-181)', async (next) => {
    await using visitor = await visit(
      `${rig.gateway.url}/dashboard/sign-in?next=${encodeURIComponent(next)}`,
    );
    const { page } = visitor;
    await page.getByLabel('E-mail address').fill(follower.email);
    await page.getByLabel('Password', { exact: true }).fill(follower.password);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('navigation').waitFor();
    expect(new URL(page.url()).origin).toBe(rig.gateway.url);
    expect(new URL(page.url()).pathname).toStartWith('/dashboard');
    expect(visitor.complaints()).toEqual([]);
  });

  test('the pages cannot be framed (B-180)', async () => {
    const stranger = Bun.serve({
      hostname: '127.0.0.1',
      port: 0,
      fetch: () =>
        new Response(`<!doctype html><iframe src="${rig.gateway.url}/dashboard"></iframe>`, {
          headers: { 'content-type': 'text/html' },
        }),
    });
    await using visitor = await visit(stranger.url.href);
    await visitor.page.waitForLoadState('load');
    const frames = visitor.page.frames().filter((frame) => frame !== visitor.page.mainFrame());
    const texts = await Promise.all(frames.map((frame) => frame.content().catch(() => '')));
    expect(texts.filter((text) => text.includes('id="app"'))).toEqual([]);
    await stranger.stop(true);
  });

  test('going back after sign-out shows no page of the old session (B-180)', async () => {
    const customer = await rig.newCustomer();
    await using visitor = await visit(`${rig.gateway.url}/dashboard`);
    const { page } = visitor;
    await openSignedIn(visitor, customer, '/settings');
    await expectRow(page);
    await expectText(page, customer.accountId);
    await page.getByRole('button', { name: 'Sign out', exact: true }).click();
    await expectPath(page, '/dashboard/sign-in');
    // Sign-out reloads the page; going back works only after that.
    await page.getByLabel('E-mail address').waitFor();
    await page.waitForLoadState('load');
    await page.goBack();
    await expectPath(page, '/dashboard/sign-in');
    expect(await page.content()).not.toContain(customer.accountId);
    await expectClean(visitor);
  });
});
