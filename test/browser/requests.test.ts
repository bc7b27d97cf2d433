// The request lists in the browser: failed and refused requests say what their client received and
// what to do, going back keeps the place, and the operator's log follows all accounts.

import { afterAll, beforeAll, expect, test } from 'bun:test';
import { describeInBrowser } from '../support/browser.ts';
import { generate } from '../support/client.ts';
import type { Customer } from '../support/customer.ts';
import { waitUntil } from '../support/upstream.ts';
import { expectClean, expectText, openRig, openSignedIn, type Rig } from './rig.ts';

/** Of a page of the log. */
const PAGE_ROWS = 100;
const MANY = PAGE_ROWS + 40;

let rig: Rig;
let customer: Customer;
let caller: { readonly url: string; readonly key: string };

describeInBrowser('requests in the page', ({ visit }) => {
  beforeAll(async () => {
    rig = await openRig(['ok', 'status-400', 'status-500']);
    customer = await rig.newCustomer();
    await rig.gateway.run('account', 'plan', customer.accountId, 'business');
    const { json } = await customer.session.send('POST', '/keys', { name: 'laptop' });
    caller = { url: rig.gateway.url, key: json['key'] as string };
    for (let n = 0; n < MANY; n += 1) await generate(caller, 'chat', 'ok', { user: `user-${n}` });
    await generate(caller, 'chat', 'status-400');
    await generate(caller, 'chat', 'status-500');
    await generate(caller, 'chat', 'no-such-model');
    const isListed = async (): Promise<boolean> => {
      const { json: found } = await customer.session.get('/requests?outcome=refused');
      return (found['data'] as unknown[]).length > 0;
    };
    await waitUntil(isListed);
  }, 60_000);
  afterAll(() => rig.close());

  test('a request that the model rejected says so, with status, code and what to do', async () => {
    await using visitor = await visit(`${rig.gateway.url}/dashboard`);
    const { page } = visitor;
    await openSignedIn(visitor, customer, '/requests?status=400');
    await expectText(page, /^invalid_request$/);
    await page.locator('tbody .badge.danger').getByText('Failed', { exact: true }).waitFor();
    await page.locator('tbody .row-link').first().click();
    await page.getByRole('link', { name: 'Open page' }).click();
    await expectText(page, /^The model refused this request as invalid\./);
    await expectText(page, 'Correct the request. Sent again unchanged, it fails again.');
    await expectText(page, 'The client received status 400 with the error invalid_request.');
    expect(await page.getByText('The model reported the tokens.').count()).toBe(0);
    await page.getByRole('link', { name: 'laptop' }).click();
    await page.waitForURL(/\/requests\?key=key_/);
    await expectClean(visitor);
  });

  test('a refused request is in the list, in its chart, and has a page', async () => {
    await using visitor = await visit(`${rig.gateway.url}/dashboard`);
    const { page } = visitor;
    await openSignedIn(visitor, customer, '/requests');
    await page.getByRole('figure', { name: /^Requests per/ }).waitFor();
    await expectText(page, `${MANY + 3} requests`);
    const row = page.locator('tr:has(+ tr.note)', { hasText: 'Refused' });
    await page.locator('tr.note', { hasText: 'model_not_found' }).waitFor();
    await row.getByText('Refused', { exact: true }).waitFor();
    await row.getByText('404', { exact: true }).waitFor();
    await row.locator('.row-link').click();
    await expectText(page, 'The request reached no model and cost nothing.');
    await expectText(page, 'Choose a model from the list of models.');
    // The path of the count, which is no request.
    await page.goto(`${rig.gateway.url}/dashboard/requests?open=count`);
    await expectText(page, 'There is no request with this id.');
    await expectClean(visitor);
  });

  test('going back keeps the page of the list, the scroll position and the filters', async () => {
    await using visitor = await visit(`${rig.gateway.url}/dashboard`);
    const { page } = visitor;
    await openSignedIn(visitor, customer, '/requests?outcome=completed');
    const rows = page.locator('tbody .row-link');
    await page.getByRole('button', { name: 'Next' }).click();
    await waitUntil(async () => (await rows.count()) === MANY - PAGE_ROWS);
    const link = rows.nth(MANY - PAGE_ROWS - 8);
    await link.scrollIntoViewIfNeeded();
    const top = await page.evaluate('scrollY');
    expect(Number(top)).toBeGreaterThan(500);
    await link.click();
    await page.getByRole('link', { name: 'Open page' }).click();
    await page.getByRole('link', { name: '← Requests' }).waitFor();
    await page.getByRole('link', { name: 'Older →' }).waitFor();
    const first = page.url();
    await page.getByRole('link', { name: 'Older →' }).click();
    await waitUntil(() => page.url() !== first);
    await page.getByRole('link', { name: '← Newer' }).click();
    await waitUntil(() => page.url() === first);
    await page.getByRole('link', { name: '← Requests' }).click();
    await page.waitForURL(/\?outcome=completed&open=req_/);
    await waitUntil(async () => (await rows.count()) === MANY - PAGE_ROWS);
    await waitUntil(async () => (await page.evaluate('scrollY')) === top);
    await page.getByRole('link', { name: 'Open page' }).click();
    await page.getByRole('link', { name: '← Requests' }).waitFor();
    await page.goBack();
    await waitUntil(async () => (await rows.count()) === MANY - PAGE_ROWS);
    await waitUntil(async () => (await page.evaluate('scrollY')) === top);
    await expectClean(visitor);
  });

  test("the operator's log follows all accounts, is filtered, and can be paused", async () => {
    const { operator } = rig;
    await using visitor = await visit(`${operator.session.url}/operator`);
    const { page } = visitor;
    await openSignedIn(visitor, operator, '/requests');
    await expectText(page, 'Live');
    await page.getByRole('link', { name: customer.email }).first().waitFor();
    await generate(caller, 'chat', 'ok', { user: 'live' });
    const newest = page.locator('tbody .row-link').first();
    const href = await newest.getAttribute('href');
    await generate(caller, 'chat', 'status-500');
    await waitUntil(async () => (await newest.getAttribute('href')) !== href);
    await page.getByRole('button', { name: 'Pause' }).click();
    await page.getByRole('button', { name: 'Follow' }).waitFor();
    await page.getByLabel('Status', { exact: true }).selectOption('5xx');
    await page.waitForURL(/status=5xx/);
    await waitUntil(async () => (await page.locator('tbody .row-link').count()) === 2);
    await expectText(page, /^provider_unavailable$/);
    await page
      .locator('tbody .badge.danger')
      .getByText('Failed', { exact: true })
      .first()
      .waitFor();
    await newest.click();
    await expectText(page, 'Cause: Server error');
    // One row says once how the attempt failed, and took no less time than its first byte.
    const attempt = page.getByRole('table', { name: 'Attempts' }).locator('tbody tr').first();
    expect((await attempt.textContent())?.match(/status 500/g)).toHaveLength(1);
    const [firstByte = '', duration = ''] = await attempt.locator('td.end').allTextContents();
    expect(Number.parseFloat(duration)).toBeGreaterThanOrEqual(Number.parseFloat(firstByte));
    const panel = page.getByRole('dialog');
    await panel.getByRole('link', { name: customer.email }).waitFor();
    await panel.getByRole('link', { name: 'laptop' }).waitFor();
    await expectClean(visitor);
  });
});
