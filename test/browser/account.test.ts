// What happens to a customer while a page is open: money comes from the operator, the account is
// suspended, somebody guesses passwords.

import { afterAll, beforeAll, expect, test } from 'bun:test';
import { describeInBrowser } from '../support/browser.ts';
import { newPassword } from '../support/customer.ts';
import {
  expectClean,
  expectPath,
  expectRow,
  expectText,
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
    await console.page.getByRole('button', { name: 'Add or take money' }).first().click();
    await console.page.getByLabel('Amount').fill('23456');
    await console.page.getByLabel('Reason').fill('Invoice 12');
    await console.page.locator('dialog button[type=submit]').click();
    await expectText(console.page, '123,456');
    await expectText(buyer.page, '123,456');
    await expectClean(console);
    await expectClean(buyer);
  });

  test('a suspended account sees that it is, and can do nothing but look and stop its keys', async () => {
    const customer = await rig.newCustomer();
    await using visitor = await visit(`${rig.gateway.url}/dashboard`);
    const { page } = visitor;
    await openSignedIn(visitor, customer);
    await rig.gateway.run('account', 'suspend', customer.accountId);
    await page.reload();
    await expectText(page, 'This account is suspended');
    await expectClean(visitor);
    await page.getByRole('link', { name: 'API keys' }).click();
    await page.getByRole('button', { name: 'New key' }).first().click();
    await page.getByRole('button', { name: 'Create the key' }).click();
    await expectText(page, 'This account is suspended. Ask the operator.');
  });

  test('who guesses a password is told to wait, and the owner is let in from elsewhere', async () => {
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
    // Whoever is signed in already stays so.
    expect((await customer.session.get('/account')).status).toBe(200);
  });

  test('a page that was open when the session ended asks to sign in, and comes back', async () => {
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
    // Signing in loads the page anew; there is no way back before it is there.
    await page.getByRole('heading', { name: 'API keys', level: 1 }).waitFor();
    await page.evaluate('history.back()');
    await expectPath(page, '/dashboard/models');
  });

  test('a page that reached no server says so, and reads itself once there is one again', async () => {
    const customer = await rig.newCustomer();
    await using visitor = await visit(`${rig.gateway.url}/dashboard`);
    const { page, context } = visitor;
    await openSignedIn(visitor, customer, '/models');
    await expectRow(page);
    await page.getByRole('link', { name: 'Ledger and receipts' }).click();
    await expectRow(page);
    await context.setOffline(true);
    await page.getByRole('link', { name: 'Models' }).click();
    await expectText(page, 'The server cannot be reached.');
    await context.setOffline(false);
    await expectRow(page);
  });
});
