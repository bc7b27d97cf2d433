// A second factor in the browser: set up with the secret that the page shows, asked for at the next
// sign-in, and replaced by a recovery code.

import { afterAll, beforeAll, expect, test } from 'bun:test';
import type { Page } from 'playwright-core';
import { describeInBrowser } from '../support/browser.ts';
import { codeOf } from '../support/one-time-code.ts';
import {
  expectAlert,
  expectClean,
  expectPath,
  expectText,
  openRig,
  openSignedIn,
  type Rig,
} from './rig.ts';

let rig: Rig;

async function enterPassword(page: Page, { email, password }: { email: string; password: string }) {
  await page.getByLabel('E-mail address').fill(email);
  await page.getByLabel('Password', { exact: true }).fill(password);
  await page.getByRole('button', { name: 'Sign in' }).click();
}

describeInBrowser('a second factor', ({ visit }) => {
  beforeAll(async () => {
    rig = await openRig();
  });
  afterAll(() => rig.close());

  test('is set up, asked for, and stood in for by a recovery code that works once', async () => {
    const customer = await rig.newCustomer();
    await using visitor = await visit(`${rig.gateway.url}/dashboard`);
    const { page } = visitor;
    await openSignedIn(visitor, customer, '/settings');
    await page.getByRole('button', { name: 'Set up' }).click();
    const secret =
      (await page.locator('dialog .secret code').textContent())?.replaceAll(' ', '') ?? '';
    await expectClean(visitor);
    await page.getByLabel('Code from the app').fill(codeOf(secret, Date.now()));
    await page.getByRole('button', { name: 'Turn on' }).click();
    await expectText(page, 'Two-factor authentication is on');
    const shown = await page.locator('section[aria-label="the recovery codes"]').textContent();
    const codes = (shown ?? '').split('\n');
    expect(codes.length).toBeGreaterThanOrEqual(8);
    await page.getByRole('button', { name: 'Done, I’ve copied it' }).click();
    await page.getByRole('button', { name: 'Sign out', exact: true }).click();
    await expectPath(page, '/dashboard/sign-in');

    await enterPassword(page, customer);
    await expectText(page, 'Enter the code from your authenticator app.');
    await expectClean(visitor);
    await page.getByLabel('Code').fill('000000');
    await page.getByRole('button', { name: 'Continue' }).click();
    await expectAlert(page);
    // The code that set it up is used up: the next one is of the next half minute.
    await page.getByLabel('Code').fill(codeOf(secret, Date.now() + 30_000));
    await page.getByRole('button', { name: 'Continue' }).click();
    await expectPath(page, '/dashboard');
    await expectText(page, 'Balance');
    await page.getByRole('button', { name: 'Sign out', exact: true }).click();
    await expectPath(page, '/dashboard/sign-in');

    const [recovery = ''] = codes;
    await enterPassword(page, customer);
    await page.getByRole('button', { name: 'Use a recovery code instead' }).click();
    await page.getByLabel('Recovery code').fill(recovery);
    await page.getByRole('button', { name: 'Continue' }).click();
    await expectPath(page, '/dashboard');
    await page.getByRole('button', { name: 'Sign out', exact: true }).click();
    await expectPath(page, '/dashboard/sign-in');

    await enterPassword(page, customer);
    await page.getByRole('button', { name: 'Use a recovery code instead' }).click();
    await page.getByLabel('Recovery code').fill(recovery);
    await page.getByRole('button', { name: 'Continue' }).click();
    await expectAlert(page);
    expect(new URL(page.url()).pathname).toBe('/dashboard/sign-in');
  });
});
