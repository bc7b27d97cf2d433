// Changes while a customer's page is open: a credit by the operator, suspension, password guessing.

import { afterAll, beforeAll, expect, test } from 'bun:test';
import { describeInBrowser } from '../support/browser.ts';
import { newPassword } from '../support/customer.ts';
import {
  expectClean,
  expectPath,
  expectRow,
  expectText,
  makeKey,
  openRig,
  openSignedIn,
  type Rig,
} from './rig.ts';

let rig: Rig;

describeInBrowser('an account in the page', ({ visit }) => {
  beforeAll(async () => {
    rig = await openRig();
  });
  afterAll(() => rig.close());

  test("an operator's credit appears in the customer's open page by itself", async () => {
    const customer = await rig.newCustomer();
    await using buyer = await visit(`${rig.gateway.url}/dashboard`);
    await openSignedIn(buyer, customer);
    await expectText(buyer.page, '100,000');
    await using console = await visit(`${rig.gateway.operatorUrl()}/operator`);
    await openSignedIn(console, rig.operator, `/accounts/${customer.accountId}`);
    await console.page.getByRole('button', { name: 'Adjust balance' }).first().click();
    await console.page.getByLabel('Unit', { exact: true }).selectOption('tokens');
    await console.page.getByLabel('Amount').fill('23456');
    await console.page.getByLabel('Reason').fill('Invoice 12');
    await console.page.locator('dialog button[type=submit]').click();
    await expectText(console.page, '123,456');
    await expectText(buyer.page, '123,456');
    await expectClean(console);
    await expectClean(buyer);
  });

  test('a suspended account sees its status, and can only read and revoke keys', async () => {
    const customer = await rig.newCustomer();
    await using visitor = await visit(`${rig.gateway.url}/dashboard`);
    const { page } = visitor;
    await openSignedIn(visitor, customer, '/keys');
    await makeKey(page, 'mine');
    await page.goto(`${rig.gateway.url}/dashboard`);
    await rig.gateway.run('account', 'suspend', customer.accountId);
    await page.reload();
    await expectText(page, 'This account is suspended');
    await expectClean(visitor);
    await page.getByRole('link', { name: 'API keys' }).click();
    await expectText(page, 'mine');
    expect(await page.getByRole('button', { name: 'Create key' }).isDisabled()).toBe(true);
    expect(await page.getByRole('button', { name: 'Edit the key mine' }).isDisabled()).toBe(true);
    await page.getByRole('button', { name: 'Revoke the key mine' }).click();
    await page.getByRole('button', { name: 'Revoke key', exact: true }).click();
    await page.getByLabel('State', { exact: true }).selectOption('revoked');
    await page.locator('tbody').getByText('Revoked').first().waitFor();
  });

  test('password guessing is throttled, and the session of the owner stays valid', async () => {
    const customer = await rig.newCustomer();
    await using visitor = await visit(`${rig.gateway.url}/dashboard/sign-in`);
    const { page } = visitor;
    await page.getByLabel('E-mail address').fill(customer.email);
    const button = page.locator('form button[type=submit]');
    for (let turn = 0; turn < 14; turn += 1) {
      await page.getByLabel('Password', { exact: true }).fill(newPassword());
      const answered = page.waitForResponse((response) => response.url().endsWith('/auth/login'));
      await button.click();
      if ((await answered).status() === 429) break;
    }
    await expectText(page, /^Try again in/);
    expect(await button.isDisabled()).toBe(true);
    await expectClean(visitor);
    // Existing sessions stay valid.
    expect((await customer.session.get('/account')).status).toBe(200);
  });

  test('a page whose session ended asks for sign-in, and returns', async () => {
    const customer = await rig.newCustomer();
    await using visitor = await visit(`${rig.gateway.url}/dashboard`);
    const { page } = visitor;
    await openSignedIn(visitor, customer, '/models');
    await expectRow(page);
    await customer.session.send('DELETE', '/auth/sessions');
    await page.getByRole('link', { name: 'API keys' }).click();
    await expectPath(page, '/dashboard/sign-in');
    await page.getByLabel('E-mail address').fill(customer.email);
    await page.getByLabel('Password', { exact: true }).fill(customer.password);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await expectPath(page, '/dashboard/keys');
    // Sign-in reloads the page; going back works only after that.
    await page.getByRole('heading', { name: 'API keys', level: 1 }).waitFor();
    await page.goBack();
    await expectPath(page, '/dashboard/models');
  });

  test('a page without a server says so, and reloads once the server is back', async () => {
    const customer = await rig.newCustomer();
    await using visitor = await visit(`${rig.gateway.url}/dashboard`);
    const { page, context } = visitor;
    await openSignedIn(visitor, customer, '/models');
    await expectRow(page);
    await page.getByRole('link', { name: 'Ledger and receipts' }).click();
    await expectRow(page);
    await context.setOffline(true);
    await page.getByRole('link', { name: 'Models' }).click();
    await expectText(page, 'Can’t reach the server.');
    await context.setOffline(false);
    await expectRow(page);
  });
});
