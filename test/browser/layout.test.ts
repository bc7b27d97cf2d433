// Every page of both applications: what is shown stays where it is while the page loads and within
// its box, and a finger hits each target of a phone.

import { afterAll, beforeAll, expect, test } from 'bun:test';
import type { Page } from 'playwright-core';
import { describeInBrowser } from '../support/browser.ts';
import { generate } from '../support/client.ts';
import type { Customer } from '../support/customer.ts';
import { PREFIXES } from '../support/session.ts';
import { waitUntil } from '../support/upstream.ts';
import { BESIDE_BUTTONS, openEach, openRig, openSignedIn, type Rig } from './rig.ts';

/** "Good" of the Core Web Vitals. */
const SHIFT_MAX = 0.1;

/** Runs before the page's own scripts. A shift after an input of the user is what they asked for. */
const WATCH_SHIFTS = `
globalThis.shifts = [];
new PerformanceObserver((list) => {
  for (const { hadRecentInput, value, sources } of list.getEntries()) {
    const moved = sources.map(({ node }) => node?.className ?? node?.nodeName);
    if (!hadRecentInput) globalThis.shifts.push({ value, moved });
  }
}).observe({ type: 'layout-shift', buffered: true });
`;

type Shift = { readonly value: number; readonly moved: readonly string[] };

/** Smaller than 24 by 24 pixels (WCAG 2.2, 2.5.8). Links within a sentence are exempt. */
const SMALL_TARGETS = `[...document.querySelectorAll(':is(.main, .gate, .public) :is(a[href], button, input, select, summary)')]
  .filter((target) => !target.closest('p, .sr-only') && getComputedStyle(target).visibility !== 'hidden')
  .map((target) => (target.matches('.row-link') ? target.closest('.linked') : target))
  .map((target) => [target, target.getBoundingClientRect()])
  .filter(([, { width, height }]) => width > 1 && height > 1 && (width < 23.5 || height < 23.5))
  .map(([target]) => target.outerHTML.slice(0, 80))`;

/** What runs over what is beside it, or is cut: cells of tables, large numbers, choices. */
const OVERFLOWING = `[...document.querySelectorAll(':is(.main, .public) :is(td, td .cut, .stat, .stat .value, .segments)')]
  .filter(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth + 1)
  .map((box) => box.textContent)`;

/** Rows of which one is higher than the others: a name that takes two lines, a flat button. */
const UNEVEN = `[...document.querySelectorAll('.side nav, .chips')]
  .map((row) => [...new Set([...row.querySelectorAll('.item, .chip, .chips > .button')].map(({ offsetHeight }) => offsetHeight))])
  .filter((heights) => heights.length > 1)`;

let rig: Rig;
let customer: Customer;

describeInBrowser('the layout of pages', ({ visit }) => {
  beforeAll(async () => {
    const served = { upstream: 'scripted', model: 'ok' };
    const cost = { input: '0.0000001234', output: '0.0000005678' };
    const display_name = 'Horizon Experimental Preview With A Very Long Display Name 2026-11-20';
    const ok = { display_name, served_by: [{ ...served, cost }] };
    rig = await openRig(['ok', 'status-400'], { models: { ok } });
    customer = await rig.newCustomer();
    const { json } = await customer.session.send('POST', '/keys', { name: 'laptop' });
    const caller = { url: rig.gateway.url, key: json['key'] as string };
    for (const model of ['ok', 'ok', 'status-400', 'no-such-model']) {
      await generate(caller, 'chat', model);
    }
    await rig.gateway.run('block', 'add', 'account', (await rig.newCustomer()).accountId);
    await waitUntil(async () => {
      const { json: found } = await customer.session.get('/requests?outcome=refused');
      return (found['data'] as unknown[]).length > 0;
    });
  });
  afterAll(() => rig.close());

  for (const realm of ['customer', 'operator'] as const) {
    test.each([1280, 390])(
      `the pages of the ${realm} at %d px shift by less than ${SHIFT_MAX}`,
      async (width) => {
        const who = realm === 'customer' ? customer : rig.operator;
        const base = `${who.session.url}${PREFIXES[realm]}`;
        await using visitor = await visit(base, { viewport: { width, height: 844 } });
        const { page } = visitor;
        await page.addInitScript({ content: WATCH_SHIFTS });
        await openSignedIn(visitor, who);
        const found: unknown[] = [];
        for await (const path of openEach(visitor, who)) {
          const shifts = await shiftsOf(page);
          const sum = shifts.reduce((total, { value }) => total + value, 0);
          if (sum > SHIFT_MAX) found.push([path, sum, shifts]);
          const probes = [
            OVERFLOWING,
            UNEVEN,
            ...(width < 600 ? [SMALL_TARGETS, BESIDE_BUTTONS] : []),
          ];
          for (const probe of probes) {
            const seen = await page.evaluate<unknown[]>(probe);
            if (seen.length > 0) found.push([path, seen]);
          }
        }
        expect(found).toEqual([]);
      },
      180_000,
    );
  }

  test('the pages for strangers hold their words on a phone, and each link can be hit', async () => {
    const found: unknown[] = [];
    for (const locale of ['en-GB', 'de-DE', 'zh-CN']) {
      const options = { viewport: { width: 390, height: 844 }, locale };
      await using visitor = await visit(`${rig.gateway.url}/`, options);
      const { page } = visitor;
      for (const path of ['/', '/models', '/nope', '/dashboard/sign-in', '/dashboard/signup']) {
        await page.goto(`${rig.gateway.url}${path}`);
        await page.locator('h1').waitFor();
        for (const probe of [SMALL_TARGETS, OVERFLOWING]) {
          const seen = await page.evaluate<string[]>(probe);
          if (seen.length > 0) found.push([locale, path, seen]);
        }
      }
    }
    expect(found).toEqual([]);
  });

  test('the menu of a phone opens where the reader is, and closes with each link', async () => {
    const options = { viewport: { width: 390, height: 600 } };
    await using visitor = await visit(`${rig.gateway.url}/dashboard`, options);
    const { page } = visitor;
    await openSignedIn(visitor, customer, '/settings');
    await page.getByRole('button', { name: 'Delete account' }).scrollIntoViewIfNeeded();
    const menu = page.getByRole('button', { name: 'Menu' });
    const links = page.getByRole('complementary', { name: 'Menu' });
    for (const name of ['Account and security', 'Usage']) {
      await menu.click();
      expect((await links.boundingBox())?.y).toBe(51);
      await links.getByRole('link', { name }).click();
      await links.waitFor({ state: 'hidden' });
    }
    await page.getByRole('heading', { name: 'Usage', level: 1 }).waitFor();
    expect(visitor.complaints()).toEqual([]);
  });
});

/** Once the browser has painted what was loaded. */
function shiftsOf(page: Page): Promise<readonly Shift[]> {
  return page.evaluate(`new Promise((resolve) => {
    requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(() => resolve(globalThis.shifts))));
  })`);
}
