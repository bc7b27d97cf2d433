// Operator actions on accounts and balances in the console, each checked by the customer's next request.

import { afterAll, beforeAll, expect, test } from 'bun:test';
import type { Page } from 'playwright-core';
import { describeInBrowser } from '../support/browser.ts';
import { newEmail, newPassword } from '../support/customer.ts';
import { waitUntil } from '../support/upstream.ts';
import { askOnce, expectClean, expectText, openRig, openSignedIn, type Rig } from './rig.ts';

let rig: Rig;

/** Presses a button of the page, and the one that confirms it in the dialog. */
async function confirmed(page: Page, name: string): Promise<void> {
  await page.getByRole('button', { name, exact: true }).first().click();
  await submit(page);
}

/** Sends the form of the open dialog, and waits until it is gone. */
async function submit(page: Page): Promise<void> {
  await page.locator('dialog button[type=submit]').click();
  await page.locator('dialog').waitFor({ state: 'detached' });
}

async function expectAnswer(key: string, expected: readonly unknown[]): Promise<void> {
  await waitUntil(async () => Bun.deepEquals(await askOnce(rig, key), expected));
}

describeInBrowser('people and money in the console', ({ visit }) => {
  beforeAll(async () => {
    rig = await openRig();
  });
  afterAll(() => rig.close());

  test('creates an account, credits it once on a double click, suspends and blocks it', async () => {
    await using visitor = await visit(`${rig.gateway.operatorUrl()}/operator`);
    const { page } = visitor;
    await openSignedIn(visitor, rig.operator, '/accounts');
    await page.getByRole('button', { name: 'New account' }).first().click();
    const email = newEmail();
    await page.getByLabel('E-mail address').fill(email);
    await page.getByLabel('Mark the address as verified').check();
    await page.getByRole('button', { name: 'Create account' }).click();
    const key = (await page.locator('dialog pre').textContent()) ?? '';
    expect(key).toMatch(/^sk-[A-Za-z0-9]{48}$/);
    await page.getByRole('button', { name: 'Done, I’ve copied it' }).click();
    expect(await askOnce(rig, key)).toEqual([402, 'insufficient_balance']);

    await page.getByRole('link', { name: email }).click();
    await page.getByRole('button', { name: 'Adjust balance' }).click();
    await page.getByLabel('Unit', { exact: true }).selectOption('tokens');
    await page.getByLabel('Amount').fill('12,345.5');
    await page.getByLabel('Reason').fill('Invoice 7');
    await page.locator('dialog button[type=submit]').dblclick();
    await expectText(page, 'Invoice 7');
    await expectText(page, '12,346 service tokens');
    expect(await page.getByRole('cell', { name: 'Invoice 7' }).count()).toBe(1);
    expect(await askOnce(rig, key)).toEqual([200, undefined]);
    await expectClean(visitor);

    await confirmed(page, 'Suspend');
    await expectText(page, 'Its requests are rejected with 403 account_inactive.');
    await expectAnswer(key, [403, 'account_inactive']);
    await confirmed(page, 'Activate');
    await expectAnswer(key, [200, undefined]);
    await confirmed(page, 'Block');
    await expectText(page, 'Blocked');
    await expectAnswer(key, [403, 'account_blocked']);
    await expectClean(visitor);
    await confirmed(page, 'Unblock');
    await expectAnswer(key, [200, undefined]);

    await page.getByRole('tab', { name: 'Audit trail' }).click();
    await expectText(page, 'amount: $0.0123455; reason: Invoice 7');
    await expectText(page, rig.operator.email);
  });

  test('a new operator is signed in by the first password', async () => {
    await using owner = await visit(`${rig.gateway.operatorUrl()}/operator`);
    await openSignedIn(owner, rig.operator, '/operators');
    await owner.page.getByRole('button', { name: 'New operator' }).click();
    const email = newEmail();
    await owner.page.getByLabel('E-mail address').fill(email);
    await owner.page.getByLabel('Role').selectOption('viewer');
    await owner.page.locator('dialog button[type=submit]').click();
    const link = await owner.page.locator('dialog pre').textContent();
    await using visitor = await visit(link ?? '');
    const { page } = visitor;
    await page.getByLabel('New password', { exact: true }).fill(newPassword());
    await page.getByRole('button', { name: 'Set password' }).click();
    await page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor();
    await page.goto(`${rig.gateway.operatorUrl()}/operator/security`);
    await expectText(page, email);
    await expectClean(visitor);
  });

  test('finds and revokes a pasted key, which the next request is rejected for', async () => {
    const { key } = await rig.gateway.createAccount();
    await using visitor = await visit(`${rig.gateway.operatorUrl()}/operator`);
    const { page } = visitor;
    await openSignedIn(visitor, rig.operator, '/keys');
    await page.getByLabel('Key or key id').fill(key);
    await page.getByRole('button', { name: 'Find key' }).click();
    await expectText(page, 'Last used');
    expect(await page.getByLabel('Key or key id').inputValue()).toBe('');
    expect(await page.content()).not.toContain(key);
    await expectClean(visitor);
    await page.getByRole('button', { name: /^Revoke the key / }).click();
    await page.getByLabel('Reason').selectOption('leak_report');
    await submit(page);
    await expectText(page, /^reported as leaked/);
    await expectAnswer(key, [401, 'invalid_api_key']);
    expect(rig.gateway.output()).not.toContain(key);
  });

  test('creates and rotates a key on the account page, each shown once', async () => {
    const { accountId } = await rig.newCustomer();
    await using visitor = await visit(`${rig.gateway.operatorUrl()}/operator`);
    const { page } = visitor;
    await openSignedIn(visitor, rig.operator, `/accounts/${accountId}`);
    await page.getByRole('tab', { name: 'Keys' }).click();
    await page.getByRole('button', { name: 'Create key' }).first().click();
    await page.getByLabel('Name').fill('agent');
    await page.getByRole('button', { name: 'Create', exact: true }).click();
    const shown = async () => {
      const key = await page.locator('dialog pre').textContent();
      expect(await askOnce(rig, key ?? '')).toEqual([200, undefined]);
      await page.getByRole('button', { name: 'Done, I’ve copied it' }).click();
      await page.locator('dialog').waitFor({ state: 'detached' });
      expect(await page.content()).not.toContain(key ?? '');
      return key ?? '';
    };
    const key = await shown();
    await page.getByRole('button', { name: 'Rotate the key agent' }).first().click();
    await page.getByRole('button', { name: 'Rotate key', exact: true }).click();
    await expectText(page, 'Replacement key');
    expect(await shown()).not.toBe(key);
    await expectAnswer(key, [401, 'invalid_api_key']);
    await expectText(page, 'Revoked');
    await expectClean(visitor);
  });

  test('maintenance rejects all requests with the message of the operator until it is turned off', async () => {
    const { key } = await rig.gateway.createAccount();
    await using visitor = await visit(`${rig.gateway.operatorUrl()}/operator`);
    const { page } = visitor;
    await openSignedIn(visitor, rig.operator, '/maintenance');
    await page.getByRole('button', { name: 'Turn on maintenance' }).click();
    await page.getByLabel('Message').fill('Back at noon.');
    await submit(page);
    await expectText(page, 'Message to clients: Back at noon.');
    await expectAnswer(key, [503, 'maintenance_mode']);
    await expectClean(visitor);
    await confirmed(page, 'Turn off maintenance');
    await expectText(page, 'Maintenance is off');
    await expectAnswer(key, [200, undefined]);
  });

  test('shows codes once; the masked form cannot be redeemed', async () => {
    await using visitor = await visit(`${rig.gateway.operatorUrl()}/operator`);
    const { page } = visitor;
    await openSignedIn(visitor, rig.operator, '/codes');
    await page.getByRole('button', { name: 'New codes' }).first().click();
    await page.getByLabel('Unit', { exact: true }).selectOption('tokens');
    await page.getByLabel('Amount per code').fill('500');
    await page.getByLabel('Number of codes').fill('2');
    await page.getByLabel('Reason').fill('Fair');
    await page.locator('dialog button[type=submit]').click();
    const codes = ((await page.locator('dialog pre').textContent()) ?? '').split('\n');
    expect(codes).toHaveLength(2);
    await page.getByRole('button', { name: 'Done, I’ve copied it' }).click();
    await page.locator('dialog').waitFor({ state: 'detached' });
    for (const code of codes) expect(await page.content()).not.toContain(code);
    const { accountId } = await rig.newCustomer();
    const redeemed = await rig.gateway.run(
      'code',
      'redeem',
      codes[0] ?? '',
      '--account',
      accountId,
    );
    expect(redeemed['redemption']).toMatchObject({ amount: '500' });
    await page.reload();
    await expectText(page, 'Redeemed');
    await expectClean(visitor);
  });
});
