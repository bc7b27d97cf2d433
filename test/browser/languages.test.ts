// The pages in the visitor's language: by the browser's list, then by the choice in the menu.

import { afterAll, beforeAll, expect, test } from 'bun:test';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { TRANSLATIONS } from '../../src/dashboard/texts/compile.ts';
import { describeInBrowser } from '../support/browser.ts';
import { generate } from '../support/client.ts';
import { expectClean, expectText, openEach, openRig, openSignedIn, type Rig } from './rig.ts';

const german = (text: string): string => TRANSLATIONS.de[text] ?? '';
const chinese = (text: string): string => TRANSLATIONS.zh[text] ?? '';

/** Of programs and plans, texts of operators, addresses, and placeholders in code. */
const NAMES = /https?:\S+|<[^>]*>|Continue|Pay as you go/g;

const ARGUMENT = /\{\w+(, (plural|select),)?|\}/g;

/** Words of our English texts that no German text has. */
const ENGLISH = new Set(
  wordsOf(Object.keys(TRANSLATIONS.de).map((text) => text.replaceAll(ARGUMENT, ' '))),
).difference(new Set(wordsOf(Object.values(TRANSLATIONS.de))));

function wordsOf(texts: readonly string[]): readonly string[] {
  return texts.flatMap(
    (text) =>
      text.replaceAll(NAMES, ' ').match(/(?<![\p{L}\d_.@-])\p{L}\p{Ll}+(?![\p{L}\d_.@-])/gu) ?? [],
  );
}

/** What a visitor reads or hears. Code, values of the API and texts of a named language aside. */
const TEXTS = `[...document.querySelectorAll('body *')]
  .filter((element) => element.localName !== 'option' || element.text !== element.value)
  .filter((element) => !element.closest('code, pre, kbd, script, style, textarea, [lang]:not(html)'))
  .flatMap((element) => [
    ...[...element.childNodes].filter((node) => node.nodeType === 3).map((node) => node.data),
    ...['aria-label', 'placeholder', 'alt'].map((name) => element.getAttribute(name) ?? ''),
  ])
  .filter((text) => text.trim() !== '')`;

/** The texts of a German page with an English word. */
async function englishOn(page: Page): Promise<readonly string[]> {
  const texts = await page.evaluate<string[]>(TEXTS);
  return texts.filter((text) => wordsOf([text]).some((word) => ENGLISH.has(word)));
}

describeInBrowser('languages', (browser) => {
  let rig: Rig;
  beforeAll(async () => {
    rig = await openRig(['ok', 'status-400', 'status-500']);
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

  test.each(['customer', 'operator'] as const)(
    'the pages of the %s have no English words in German',
    async (realm) => {
      const customer = await rig.newCustomer();
      const { json } = await customer.session.send('POST', '/keys', { name: '1' });
      const caller = { url: rig.gateway.url, key: json['key'] as string };
      for (const model of ['ok', 'status-400', 'status-500', 'no-such-model']) {
        await generate(caller, 'chat', model);
      }
      await rig.gateway.run('block', 'add', 'account', (await rig.newCustomer()).accountId);
      const who = realm === 'customer' ? customer : rig.operator;
      await using visitor = await browser.visit(who.session.url, { locale: 'de-DE' });
      await openSignedIn(visitor, who);
      const found = new Set<string>();
      for await (const path of openEach(visitor, who)) {
        for (const text of await visitor.page.evaluate<string[]>(TEXTS)) {
          const words = wordsOf([text]).filter((word) => ENGLISH.has(word));
          if (words.length > 0) found.add(`${path}: ${words.join(' ')}: ${text}`);
        }
      }
      expect([...found]).toEqual([]);
    },
    180_000,
  );

  test('what is wrong with a catalog has no English words in German', async () => {
    const path = join(rig.gateway.directory, 'catalog.toml');
    const file = readFileSync(path, 'utf8');
    await using visitor = await browser.visit(rig.operator.session.url, { locale: 'de-DE' });
    const { page } = visitor;
    await openSignedIn(visitor, rig.operator, '/catalog');
    const english = () => englishOn(page);
    const field = page.getByLabel(german('Catalog file'));
    // Its key is a mark, unlike the one in the file.
    const shown = await field.inputValue();
    const service = '[service]\ntagline = ""';
    const plan = '[plan.klein]\nmax_contxt = 0\nmodels = ["okk"]';
    await field.fill(`${shown.replace('[service]', service)}\n${plan}\n`);
    await expectText(
      page,
      'plan.klein.max_contxt ist kein bekannter Name; meinten Sie max_context?',
    );
    await expectText(page, 'service.tagline erwartet: Text von 1 bis 200 Zeichen in einer Zeile');
    expect(await english()).toEqual([]);
    const cost = 'cost = { input = "99", output = "99" }';
    await field.fill(shown.replace('served_by = [{', `served_by = [{ ${cost}, `));
    await expectText(page, /der aktuelle Preis liegt unter den Kosten von/);
    await expectText(page, 'model ok geändert');
    expect(await english()).toEqual([]);
    writeFileSync(path, `${file}\n[plan.klein]\nmax_context = 0\n`);
    await expect(rig.gateway.run('catalog', 'reload')).rejects.toThrow();
    await page.reload();
    await expectText(
      page,
      /catalog\.toml: plan\.klein\.max_context: erwartet: eine ganze Zahl von 1 bis 100\.000\.000/,
    );
    expect(await english()).toEqual([]);
    writeFileSync(path, file);
    await rig.gateway.run('catalog', 'reload');
    await expectClean(visitor);
  });

  test('what is wrong with a receipt has no English words in German', async () => {
    const customer = await rig.newCustomer();
    await using visitor = await browser.visit(customer.session.url, { locale: 'de-DE' });
    const { page } = visitor;
    await openSignedIn(visitor, customer, '/ledger');
    // A chain that a server has broken in a way.
    await page.route('**/receipts/check?*', async (route) => {
      const response = await route.fetch();
      const detail = 'This receipt belongs to another account.';
      const problems = [{ kind: 'account', sequence: 1, detail }];
      await route.fulfill({ response, json: { ...(await response.json()), problems } });
    });
    await page.getByRole('button', { name: german('Verify all receipts') }).click();
    await expectText(page, 'Beleg 1: Er gehört zu einem anderen Konto.');
    expect(await englishOn(page)).toEqual([]);
    await expectClean(visitor);
  });

  test('the menu changes the language for good, also of mails', async () => {
    const customer = await rig.newCustomer();
    await using visitor = await browser.visit(`${rig.gateway.url}/dashboard`);
    const { page } = visitor;
    await openSignedIn(visitor, customer, '/models');
    await page.getByLabel('Language').selectOption('zh');
    await page.getByRole('heading', { name: chinese('Models'), level: 1 }).waitFor();
    await page.reload();
    await page.getByRole('heading', { name: chinese('Models'), level: 1 }).waitFor();
    expect(await page.evaluate('document.documentElement.lang')).toBe('zh');
    await page.goto(`${rig.gateway.url}/dashboard/forgot`);
    await page.getByLabel(chinese('E-mail address')).fill(customer.email);
    await page.getByRole('button', { name: chinese('Send reset link') }).click();
    const [mail] = await rig.mailbox.mailsTo(customer.email);
    expect(mail?.subject).toBe(chinese('Choose a new password'));
    expect(mail?.text).toContain(chinese('To choose a new password, open this page:'));
    await page.goto(mail?.links[0] ?? '');
    await page.getByRole('heading', { name: chinese('Choose a new password') }).waitFor();
    await expectClean(visitor);
  });
});
