// The pages in the visitor's language: by the browser's list, then by the choice in the menu.

import { afterAll, beforeAll, expect, test } from 'bun:test';
import { TRANSLATIONS } from '../../src/dashboard/texts/compile.ts';
import { describeInBrowser } from '../support/browser.ts';
import { expectClean, expectText, openRig, openSignedIn, type Rig } from './rig.ts';

const german = (text: string): string => TRANSLATIONS.de[text] ?? '';
const chinese = (text: string): string => TRANSLATIONS.zh[text] ?? '';

describeInBrowser('languages', (browser) => {
  let rig: Rig;
  beforeAll(async () => {
    rig = await openRig();
  });
  afterAll(() => rig.close());

  test('a browser that prefers German gets German, with German dates and numbers', async () => {
    const customer = await rig.newCustomer();
    await using visitor = await browser.visit(`${rig.gateway.url}/dashboard`, { locale: 'de-AT' });
    const { page } = visitor;
    await page.getByRole('button', { name: german('Sign in') }).waitFor();
    await openSignedIn(visitor, customer, '/keys');
    await page.getByRole('heading', { name: german('API keys'), level: 1 }).waitFor();
    expect(await page.evaluate('document.documentElement.lang')).toBe('de');
    expect(await page.title()).toContain(german('API keys'));
    await page.goto(`${rig.gateway.url}/dashboard/ledger`);
    await expectText(page, /100\.000/);
    await expectClean(visitor);
  });

  test('the menu changes the language for good', async () => {
    const customer = await rig.newCustomer();
    await using visitor = await browser.visit(`${rig.gateway.url}/dashboard`);
    const { page } = visitor;
    await openSignedIn(visitor, customer, '/models');
    await page.getByLabel('Language').selectOption('zh');
    await page.getByRole('heading', { name: chinese('Models'), level: 1 }).waitFor();
    await page.reload();
    await page.getByRole('heading', { name: chinese('Models'), level: 1 }).waitFor();
    expect(await page.evaluate('document.documentElement.lang')).toBe('zh');
    await expectClean(visitor);
  });
});
