// The pages of the documentation in a browser: readable in both colours and on a narrow screen, found
// by the search, reached from the navigation of both applications.

import { afterAll, beforeAll, expect, test } from 'bun:test';
import { describeInBrowser } from '../support/browser.ts';
import { expectClean, openRig, openSignedIn, type Rig } from './rig.ts';

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
      }
    }
  });

  test('the search leads to a section', async () => {
    await using visitor = await visit(`${rig.gateway.url}/docs`);
    const { page } = visitor;
    await page.getByRole('searchbox').fill('insufficient_balance');
    await page.getByRole('button', { name: 'Search' }).click();
    await page.locator('ol.hits a').filter({ hasText: 'Errors' }).first().click();
    await page.waitForURL(/\/docs\/errors#(codes|types)$/);
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
