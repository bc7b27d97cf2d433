// What the pages do around a session: the first frame before the server answers, tabs that follow each
// other, data that is fresh after coming back, and an account that can no longer be changed.

import { afterAll, beforeAll, expect, test } from 'bun:test';
import { describeInBrowser } from '../support/browser.ts';
import { waitUntil } from '../support/upstream.ts';
import {
  expectClean,
  expectPath,
  expectText,
  makeKey,
  openRig,
  openSignedIn,
  type Rig,
} from './rig.ts';

let rig: Rig;

describeInBrowser('sessions', ({ visit }) => {
  beforeAll(async () => {
    rig = await openRig();
  });
  afterAll(() => rig.close());

  const url = (path: string): string => `${rig.gateway.url}/dashboard${path}`;

  test('no page is empty until the server says who is here', async () => {
    await using visitor = await visit(url('/sign-in'));
    const { page } = visitor;
    await openSignedIn(visitor, await rig.newCustomer());
    await expectText(page, 'Balance');
    await page.route('**/api/auth/session', () => {
      // Never answered.
    });
    await page.goto(url('/keys'));
    await page.getByRole('status', { name: 'Loading' }).waitFor();
    await page.getByRole('navigation').getByRole('link', { name: 'Usage' }).waitFor();
    await expectClean(visitor);
    await using stranger = await visit(url('/sign-in'));
    await stranger.page.route('**/api/auth/session', () => {
      // Never answered.
    });
    await stranger.page.goto(url('/keys'));
    await stranger.page.getByRole('status', { name: 'Loading' }).waitFor();
    expect(await stranger.page.getByRole('navigation').count()).toBe(0);
    await expectClean(stranger);
  });

  test('a user who is signed in does not see the sign-in page', async () => {
    await using visitor = await visit(url('/sign-in'));
    const { page } = visitor;
    await openSignedIn(visitor, await rig.newCustomer());
    await page.goto(url('/sign-in'));
    await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
    await expectPath(page, '/dashboard/');
    await page.goto(url('/sign-in?next=%2Fdashboard%2Fusage'));
    await page.getByRole('heading', { level: 1, name: 'Usage' }).waitFor();
    await page.goto(url('/sign-in?next=%2F%2Fevil.example'));
    await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
  });

  test('says that a session has expired, and returns to the page', async () => {
    await using visitor = await visit(url('/sign-in'));
    const { page, context } = visitor;
    const customer = await rig.newCustomer();
    await openSignedIn(visitor, customer, '/usage');
    await page.getByRole('heading', { level: 1, name: 'Usage' }).waitFor();
    await context.clearCookies();
    await page.reload();
    await expectText(page, 'Your session has expired. Sign in again.');
    await expectClean(visitor);
    await page.getByLabel('E-mail address').fill(customer.email);
    await page.getByLabel('Password', { exact: true }).fill(customer.password);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('heading', { level: 1, name: 'Usage' }).waitFor();
  });

  test('the tabs of a browser sign out and in together', async () => {
    await using visitor = await visit(url('/sign-in'));
    const { page, context } = visitor;
    const customer = await rig.newCustomer();
    await openSignedIn(visitor, customer, '/usage');
    await page.getByRole('heading', { level: 1, name: 'Usage' }).waitFor();
    const other = await context.newPage();
    await other.goto(url('/keys'));
    await other.getByRole('heading', { level: 1, name: 'API keys' }).waitFor();
    await other.getByRole('button', { name: 'Sign out' }).click();
    await expectText(page, 'You were signed out in another tab.');
    await expectPath(other, '/dashboard/sign-in');
    await other.getByLabel('E-mail address').fill(customer.email);
    await other.getByLabel('Password', { exact: true }).fill(customer.password);
    await other.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('heading', { level: 1, name: 'Usage' }).waitFor();
    await other.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
    await expectClean(visitor);
  });

  test('a tab reads its data again when the user comes back to it', async () => {
    await using visitor = await visit(url('/sign-in'));
    const { page, context } = visitor;
    await openSignedIn(visitor, await rig.newCustomer(), '/keys');
    await expectText(page, 'No keys yet');
    const other = await context.newPage();
    await other.goto(url('/keys'));
    await makeKey(other, 'from the other tab');
    // The event that a browser sends when the window comes to the front; data must be older than a
    // moment for it.
    await waitUntil(async () => {
      await page.evaluate("window.dispatchEvent(new Event('focus'))");
      return (await page.getByText('from the other tab').count()) > 0;
    }, 10_000);
  });

  test('an account that will be deleted offers no changes that are refused', async () => {
    await using visitor = await visit(url('/sign-in'));
    const { page } = visitor;
    const customer = await rig.newCustomer();
    await openSignedIn(visitor, customer, '/keys');
    await makeKey(page, 'mine');
    expect((await customer.session.send('POST', '/auth/deletion', {})).status).toBe(200);
    await page.reload();
    await expectText(page, 'mine');
    const isDisabled = (name: string) => page.getByRole('button', { name }).first().isDisabled();
    expect(await isDisabled('Create key')).toBe(true);
    const offered = page.locator('tbody').getByRole('button', { name: /^(Edit|Rotate) the key/ });
    for (const button of await offered.all()) expect(await button.isDisabled()).toBe(true);
    await page.goto(url('/ledger'));
    expect(await page.getByRole('button', { name: 'Add balance' }).isDisabled()).toBe(true);
    await expectClean(visitor);
  });

  test('the API docs page has base URLs, limits and every error code', async () => {
    await using visitor = await visit(url('/sign-in'));
    const { page } = visitor;
    await openSignedIn(visitor, await rig.newCustomer(), '/api-docs');
    await expectText(page, `${rig.gateway.url}/v1`);
    await expectText(page, 'insufficient_balance');
    await expectText(page, 'Requests per minute');
    expect(await page.getByText('operator_only').count()).toBe(0);
    for (const link of await page.locator('main a[href^="/docs"]').all()) {
      const response = await fetch(new URL((await link.getAttribute('href')) ?? '', page.url()));
      expect([response.url, response.status]).toEqual([response.url, 200]);
    }
    await expectClean(visitor);
  });
});
