// Every page of both applications: what is shown stays where it is while the page loads, and a
// finger hits each target of a phone.

import { afterAll, beforeAll, expect, test } from 'bun:test';
import type { Page } from 'playwright-core';
import { describeInBrowser } from '../support/browser.ts';
import { generate } from '../support/client.ts';
import type { Customer } from '../support/customer.ts';
import { PREFIXES } from '../support/session.ts';
import { waitUntil } from '../support/upstream.ts';
import { openEach, openRig, openSignedIn, type Rig } from './rig.ts';

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
const SMALL_TARGETS = `[...document.querySelectorAll('.main :is(a[href], button, input, select, summary)')]
  .filter((target) => !target.closest('p, .sr-only') && getComputedStyle(target).visibility !== 'hidden')
  .map((target) => (target.matches('.row-link') ? target.closest('.linked') : target))
  .map((target) => [target, target.getBoundingClientRect()])
  .filter(([, { width, height }]) => width > 1 && height > 1 && (width < 23.5 || height < 23.5))
  .map(([target]) => target.outerHTML.slice(0, 80))`;

let rig: Rig;
let customer: Customer;

describeInBrowser('the layout of pages', ({ visit }) => {
  beforeAll(async () => {
    rig = await openRig(['ok', 'status-400']);
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
          const small = width < 600 ? await page.evaluate<string[]>(SMALL_TARGETS) : [];
          if (small.length > 0) found.push([path, small]);
        }
        expect(found).toEqual([]);
      },
      180_000,
    );
  }
});

/** Once the browser has painted what was loaded. */
function shiftsOf(page: Page): Promise<readonly Shift[]> {
  return page.evaluate(`new Promise((resolve) => {
    requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(() => resolve(globalThis.shifts))));
  })`);
}
