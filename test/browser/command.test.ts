// Going to pages and records by what is typed, in both applications, and the one list of open problems.

import { afterAll, beforeAll, expect, test } from 'bun:test';
import type { Page } from 'playwright-core';
import { TRANSLATIONS } from '../../src/dashboard/texts/compile.ts';
import { describeInBrowser } from '../support/browser.ts';
import { waitUntil } from '../support/upstream.ts';
import { expectClean, expectPath, expectText, openRig, openSignedIn, type Rig } from './rig.ts';

async function goTo(page: Page, typed: string, option: string | RegExp): Promise<void> {
  await page.keyboard.press('Control+K');
  await page.locator('dialog [role=combobox]:focus').waitFor();
  await page.keyboard.type(typed);
  await page.getByRole('option', { name: option }).first().click();
}

const IS_CURRENT_SHOWN = `(() => {
  const current = document.querySelector('nav [aria-current=page]');
  const bottom = (element) => element.getBoundingClientRect().bottom;
  return bottom(current) <= bottom(current.closest('nav'));
})()`;

/** Follows a link of the navigation and presses the key at once, before the browser has painted. */
const PRESS_BEFORE_PAINT = `(async () => {
  const aside = document.querySelector('aside');
  document.querySelector('nav a[href$="/usage"]').click();
  await null;
  document.body.dispatchEvent(
    new KeyboardEvent('keydown', { key: 'k', ctrlKey: true, bubbles: true, cancelable: true }),
  );
  return aside.isConnected;
})()`;

describeInBrowser('the command key', (browser) => {
  let rig: Rig;
  beforeAll(async () => {
    rig = await openRig(['ok']);
  });
  afterAll(() => rig.close());

  test('leads customers to pages, requests, models and the documents', async () => {
    const customer = await rig.newCustomer();
    await using visitor = await browser.visit(`${rig.gateway.url}/dashboard`);
    const { page } = visitor;
    await openSignedIn(visitor, customer, '/settings');
    await page.getByRole('heading', { level: 1 }).waitFor();
    await goTo(page, 'usage', 'Usage');
    await expectPath(page, '/dashboard/usage');
    await goTo(page, 'ok', /Model$/);
    await expectPath(page, '/dashboard/models/ok');
    await page.keyboard.press('Control+K');
    await page.locator('dialog [role=combobox]').fill('sk-secret');
    expect(await page.locator('dialog [role=option]').allTextContents()).toEqual([]);
    expect(await visitor.accessibilityFindings()).toEqual([]);
    await page.keyboard.press('Escape');
    await page.keyboard.press('Escape');
    await page.locator('dialog').waitFor({ state: 'detached' });
    await goTo(page, 'limits', /^Documentation/);
    await expectPath(page, '/docs/search');
    await expectText(page, 'Sections with limits');
    await expectClean(visitor);
  });

  test('works while a page is being opened, around which the frame stays', async () => {
    const customer = await rig.newCustomer();
    await using visitor = await browser.visit(`${rig.gateway.url}/dashboard`);
    const { page } = visitor;
    await openSignedIn(visitor, customer, '/settings');
    await page.getByRole('heading', { level: 1 }).waitFor();
    expect(await page.evaluate<boolean>(PRESS_BEFORE_PAINT)).toBe(true);
    await page.locator('dialog [role=combobox]:focus').waitFor();
    await expectPath(page, '/dashboard/usage');
    await page.goBack();
    await page.locator('dialog').waitFor({ state: 'detached' });
    await expectClean(visitor);
  });

  test('leads operators to accounts by their address, and to requests', async () => {
    const customer = await rig.newCustomer();
    await using visitor = await browser.visit(`${rig.operator.session.url}/operator`);
    const { page } = visitor;
    await openSignedIn(visitor, rig.operator, '/security');
    await page.getByRole('heading', { level: 1 }).waitFor();
    // The last entry of the navigation, which is higher than its place in the window.
    await waitUntil(() => page.evaluate<boolean>(IS_CURRENT_SHOWN), 5_000);
    await goTo(page, customer.email, /Account$/);
    await expectPath(page, `/operator/accounts/${customer.accountId}`);
    await goTo(page, 'req_1234', /req_1234/);
    await expectPath(page, '/operator/requests/req_1234');
  });

  test('what is wrong is one list in the navigation, on the overview and with the alerts', async () => {
    await rig.gateway.run('upstream', 'disable', 'scripted');
    await using visitor = await browser.visit(`${rig.operator.session.url}/operator`, {
      locale: 'de',
    });
    const { page } = visitor;
    await openSignedIn(visitor, rig.operator, '/alerts');
    const text = (TRANSLATIONS.de['upstream {upstream} is out of service'] ?? '').replace(
      '{upstream}',
      'scripted',
    );
    await expectText(page, text);
    const count = page.locator('.side .item .badge');
    expect(await count.textContent()).toStartWith('1');
    await page.goto(`${rig.operator.session.url}/operator`);
    await page.getByRole('link', { name: text }).click();
    await expectPath(page, '/operator/upstreams/scripted');
    await rig.gateway.run('upstream', 'enable', 'scripted');
    await waitUntil(async () => {
      const { json } = await rig.operator.session.get('/open');
      return (json['problems'] as unknown[]).length === 0;
    });
    // Read again for each page, and not only as often as the clock says.
    await page.locator('.side').getByRole('link', { name: 'Modelle' }).click();
    await count.waitFor({ state: 'detached', timeout: 5_000 });
    await expectClean(visitor);
  });
});
