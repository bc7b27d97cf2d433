// The pages of the documentation in a browser: readable in both colours and on a narrow screen, found
// by the search, reached from the navigation of both applications.

import { afterAll, beforeAll, expect, test } from 'bun:test';
import { describeInBrowser } from '../support/browser.ts';
import { BESIDE_BUTTONS, expectClean, openRig, openSignedIn, type Rig } from './rig.ts';

const NARROW = { width: 320, height: 640 };

let rig: Rig;

describeInBrowser('documentation', ({ visit }) => {
  beforeAll(async () => {
    rig = await openRig();
  });
  afterAll(() => rig.close());

  test.each(['light', 'dark'] as const)(
    'is usable in %s, on a wide screen',
    async (colorScheme) => {
      for (const address of [
        `${rig.gateway.url}/docs`,
        `${rig.gateway.url}/docs/errors`,
        `${rig.gateway.url}/docs/tools`,
        `${rig.gateway.url}/docs/search?q=hold`,
        `${rig.gateway.operatorUrl()}/operator/docs/upstreams`,
      ]) {
        await using visitor = await visit(address, { colorScheme });
        const background = await visitor.page.evaluate(
          "getComputedStyle(document.querySelector('main')).backgroundColor",
        );
        expect(background).toBe(colorScheme === 'light' ? 'rgb(255, 255, 255)' : 'rgb(20, 24, 29)');
        await expectClean(visitor);
      }
    },
  );

  test('no page is wider than a narrow screen', async () => {
    const begin = `${rig.gateway.url}/docs`;
    await using visitor = await visit(begin, { viewport: NARROW });
    const { page } = visitor;
    for (const index of [begin, `${rig.gateway.operatorUrl()}/operator/docs`]) {
      await page.goto(index);
      const items = page.locator('nav.side a.item');
      const hrefs = await items.evaluateAll((links) =>
        links.map((link) => link.getAttribute('href')),
      );
      expect(hrefs.length).toBeGreaterThan(10);
      for (const href of hrefs.filter((each) => each?.includes('/docs'))) {
        await page.goto(new URL(href ?? '', index).href);
        const width = await page.evaluate('document.documentElement.scrollWidth');
        expect([href, width]).toEqual([href, NARROW.width]);
        expect([href, await page.evaluate<string[]>(BESIDE_BUTTONS)]).toEqual([href, []]);
      }
    }
  });

  test('the language of the examples is kept from page to page, and what is shown is copied', async () => {
    await using visitor = await visit(`${rig.gateway.url}/docs/quickstart`);
    const { page } = visitor;
    const shown = () =>
      page
        .locator('.code[data-label]:visible')
        .evaluateAll((codes) => codes.map((code) => code.getAttribute('data-label')));
    expect(new Set(await shown())).toEqual(new Set(['curl']));
    await page.getByRole('button', { name: 'Python' }).last().click();
    expect(new Set(await shown())).toEqual(new Set(['Python']));
    await page.getByRole('link', { name: 'Thinking' }).first().click();
    await page.getByRole('heading', { name: 'Thinking', level: 1 }).waitFor();
    expect(new Set(await shown())).toEqual(new Set(['Python']));
    const pressed = page.locator('[data-choose="python"][aria-pressed="true"]');
    expect(await pressed.count()).toBe((await shown()).length);
    await page.locator('.code[data-label]:visible .button').first().click();
    await page.getByRole('button', { name: 'Copied' }).waitFor();
    await page.getByRole('searchbox').press('Control+v');
    expect(await page.getByRole('searchbox').inputValue()).toMatch(
      /^# pip install openai\s?import os\s?from openai/,
    );
    await page.getByText('model="ok"').first().waitFor();
    await expectClean(visitor);
  });

  test('without a script, every language is there with its name', async () => {
    await using visitor = await visit(`${rig.gateway.url}/docs`);
    const { page } = visitor;
    await page.route('**/docs/assets/*.js', (route) => route.abort());
    await page.goto(`${rig.gateway.url}/docs/thinking`);
    const codes = page.locator('.code[data-label]');
    expect(await codes.count()).toBe(6);
    for (const code of await codes.all()) expect(await code.isVisible()).toBe(true);
    expect(await page.getByRole('button', { name: 'Copy' }).count()).toBe(0);
  });

  test('a reader who is signed in sees the masked key beside the calls', async () => {
    const customer = await rig.newCustomer();
    await using visitor = await visit(`${rig.gateway.url}/dashboard`);
    await openSignedIn(visitor, customer);
    await visitor.page.goto(`${rig.gateway.url}/docs/thinking`);
    expect(await visitor.page.getByText('Your key').count()).toBe(0);
    const { key } = (await rig.gateway.run('key', 'create', customer.accountId)) as { key: string };
    await visitor.page.reload();
    await visitor.page
      .getByText(`Your key: ${key.slice(0, 7)}`)
      .first()
      .waitFor();
    expect(await visitor.page.content()).not.toContain(key);
    await expectClean(visitor);
  });

  test('the search leads to a row', async () => {
    await using visitor = await visit(`${rig.gateway.url}/docs`);
    const { page } = visitor;
    await page.getByRole('searchbox').fill('insufficient_balance');
    await page.getByRole('button', { name: 'Search' }).click();
    await page.locator('ol.hits a').filter({ hasText: 'Errors' }).first().click();
    await page.waitForURL(/\/docs\/errors#insufficient_balance$/);
    await expectClean(visitor);
  });

  test('the dashboard and the console link to their part', async () => {
    const { gateway, operator } = rig;
    for (const [who, address, heading] of [
      [await rig.newCustomer(), `${gateway.url}/dashboard`, 'Customer documentation'],
      [operator, `${gateway.operatorUrl()}/operator`, 'Operator documentation'],
    ] as const) {
      await using visitor = await visit(address);
      await openSignedIn(visitor, who);
      await visitor.page.getByRole('link', { name: 'Documentation' }).click();
      await visitor.page.getByRole('heading', { name: heading }).waitFor();
      await expectClean(visitor);
    }
  });
});
