// What strangers see, in a browser: the landing page and the models, in the operator's colours, in
// both themes, on a narrow screen, without a script.

import { afterAll, beforeAll, expect, test } from 'bun:test';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describeInBrowser } from '../support/browser.ts';
import { newEmail, openSignUp, signUp } from '../support/customer.ts';
import { faceCatalog, writeLogo } from '../support/face.ts';
import { type Gateway, startGateway } from '../support/gateway.ts';
import { type Mailbox, openMailbox } from '../support/mailbox.ts';
import { expectClean, expectPath, expectText, openSignedIn } from './rig.ts';

const NARROW = { width: 320, height: 640 };

let gateway: Gateway;
let mailbox: Mailbox;
let directory: string;

describeInBrowser('the face of the service', ({ visit }) => {
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'tollgate-face-'));
    await writeLogo(directory);
    mailbox = await openMailbox();
    const environment = openSignUp(mailbox);
    gateway = await startGateway({ directory, catalog: faceCatalog(), environment });
  });
  afterAll(async () => {
    await gateway[Symbol.asyncDispose]();
    await mailbox[Symbol.asyncDispose]();
    await rm(directory, { recursive: true, force: true });
  });

  test.each(['light', 'dark'] as const)('strangers read models and prices in %s', async (theme) => {
    for (const viewport of [{ width: 1280, height: 800 }, NARROW]) {
      await using visitor = await visit(gateway.url, { colorScheme: theme, viewport });
      const { page } = visitor;
      expect(await page.title()).toBe('Acme <AI> & Sons');
      await expectText(page, 'Demo Reasoner');
      await expectClean(visitor);
      const width = await page.evaluate('document.documentElement.scrollWidth');
      expect(width).toBe(viewport.width);
      const colour = await page.evaluate(
        "getComputedStyle(document.querySelector('main .button.primary')).backgroundColor",
      );
      expect(colour).toBe(theme === 'light' ? 'rgb(122, 31, 75)' : 'rgb(243, 166, 200)');
      await page.getByRole('link', { name: 'Models', exact: true }).click();
      await expectPath(page, '/models');
      await expectText(page, 'thinks aloud before it answers');
      await expectClean(visitor);
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(viewport.width);
    }
  });

  test('leads from the landing page into the dashboard, which has the same face', async () => {
    const customer = await signUp(gateway, mailbox, newEmail());
    await using visitor = await visit(gateway.url);
    const { page } = visitor;
    await page.getByRole('link', { name: 'Sign in' }).first().click();
    await page.getByLabel('E-mail address').fill(customer.email);
    await page.getByLabel('Password', { exact: true }).fill(customer.password);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
    expect(await page.title()).toBe('Overview · Acme <AI> & Sons');
    const logo = "document.querySelector('.side .brand img')";
    expect(await page.evaluate(`${logo}.complete && ${logo}.naturalWidth > 0`)).toBe(true);
    await expectClean(visitor);
    await page.goto(gateway.url);
    await page.getByRole('link', { name: 'Open dashboard' }).first().click();
    await expectPath(page, '/dashboard');
  });

  test('the language menu without a script leads to the same page in that language', async () => {
    await using visitor = await visit(`${gateway.url}/models`);
    const { page } = visitor;
    await page.getByRole('link', { name: 'Deutsch' }).click();
    await page.locator('html[lang=de]').waitFor();
    await expectPath(page, '/models');
    await openSignedIn(visitor, await signUp(gateway, mailbox, newEmail()));
    expect(await page.locator('html').getAttribute('lang')).toBe('de');
  });
});
