// The log of requests that operators live in: it follows thousands of requests within constant
// memory, opens a request beside it, is paged, and goes to a time and an account by its address.

import { afterAll, beforeAll, expect, test } from 'bun:test';
import type { Page } from 'playwright-core';
import { describeInBrowser, type Visitor } from '../support/browser.ts';
import { LARGE_PLAN } from '../support/catalog.ts';
import { generate } from '../support/client.ts';
import type { Customer } from '../support/customer.ts';
import { waitUntil } from '../support/upstream.ts';
import { expectClean, expectText, openRig, openSignedIn, type Rig } from './rig.ts';

/** Of a page of the log. */
const PAGE_ROWS = 100;
const FOLLOWED = 5_000;
const AT_ONCE = 20;

let rig: Rig;
let customer: Customer;
let caller: { readonly url: string; readonly key: string };

describeInBrowser('the log of requests', ({ visit }) => {
  beforeAll(async () => {
    const plans = { roomy: LARGE_PLAN };
    rig = await openRig(['ok', 'status-500'], { plans });
    customer = await rig.newCustomer();
    await rig.gateway.run('account', 'plan', customer.accountId, 'roomy');
    await rig.gateway.run('account', 'credit', customer.accountId, '1000000000');
    const { json } = await customer.session.send('POST', '/keys', { name: 'laptop' });
    caller = { url: rig.gateway.url, key: json['key'] as string };
    await call(PAGE_ROWS + 60);
    await generate(caller, 'chat', 'status-500');
  }, 60_000);
  afterAll(() => rig.close());

  async function call(count: number): Promise<void> {
    for (let made = 0; made < count; made += AT_ONCE) {
      await Promise.all(
        Array.from({ length: AT_ONCE }, async (_, nth) => {
          const { status, json } = await generate(caller, 'chat', 'ok', {
            user: `user-${made + nth}`,
          });
          expect([status, status === 200 || json]).toEqual([200, true]);
        }),
      );
    }
  }

  async function open(path: string, width = 1440): Promise<Visitor> {
    const visitor = await visit(`${rig.operator.session.url}/operator`, {
      viewport: { width, height: 900 },
    });
    await openSignedIn(visitor, rig.operator, path);
    await visitor.page.locator('.linked').first().waitFor();
    return visitor;
  }

  test.each([1280, 1440, 1920])(
    'fills a window of %d px and cuts no account, model or upstream',
    async (width) => {
      await using visitor = await open('/requests', width);
      const { page } = visitor;
      expect(
        await page.evaluate(`(() => {
          const { left, right } = document.querySelector('.table-frame').getBoundingClientRect();
          const main = document.querySelector('.main').getBoundingClientRect();
          return Math.max(left - main.left, main.right - right);
        })()`),
      ).toBeLessThan(33);
      expect(
        await page.evaluate(`[...document.querySelectorAll('tbody .cut')]
          .filter(({ scrollHeight, clientHeight }) => scrollHeight > clientHeight + 1)
          .filter((cut) => !cut.textContent.includes('${customer.email}'))
          .map(({ textContent }) => textContent)`),
      ).toEqual([]);
      await expectClean(visitor);
    },
  );

  test('names the day once, then times, and a problem in a line of its own', async () => {
    await using visitor = await open('/requests');
    const { page } = visitor;
    expect(await page.locator('tr.divider').count()).toBe(1);
    expect(await page.locator('tbody .row-link').first().textContent()).toMatch(/^\d\d:\d\d:\d\d$/);
    expect(await page.locator('tr.note').allTextContents()).toEqual([
      expect.stringContaining('provider_unavailable'),
    ]);
    // The link of the row covers that line as well.
    await page.locator('tr.note').click({ force: true });
    await expectText(page, 'Cause: Server error');
  });

  test('opens a request beside the list, and gives the focus back to its row', async () => {
    await using visitor = await open('/requests?outcome=completed');
    const { page } = visitor;
    const row = page.locator('tbody .row-link').nth(40);
    await row.scrollIntoViewIfNeeded();
    const top = await page.evaluate('scrollY');
    const id = (await row.getAttribute('href'))?.split('/').at(-1) ?? '';
    await row.click();
    const panel = page.getByRole('dialog', { name: 'Request' });
    await panel.getByText(id).waitFor();
    expect(new URL(page.url()).search).toBe(`?outcome=completed&open=${id}`);
    expect(await row.getAttribute('aria-current')).toBe('true');
    await panel.getByText('Upstream cost').waitFor();
    await expectClean(visitor);
    await panel.getByRole('link', { name: 'Older →' }).click();
    await waitUntil(async () => (await row.getAttribute('aria-current')) === null);
    await page.keyboard.press('Escape');
    await panel.waitFor({ state: 'detached' });
    expect(await page.evaluate('scrollY')).toBe(top);
    expect(await page.evaluate('document.activeElement.getAttribute("href")')).toContain(id);
    await page.goBack();
    await panel.getByRole('link', { name: 'Open page' }).click();
    await page.waitForURL(/\/requests\/req_/);
    await page.getByRole('link', { name: '← Requests' }).click();
    await panel.waitFor();
    expect(await page.evaluate('scrollY')).toBe(top);
  });

  test('is paged, and begins at the time that is asked for', async () => {
    await using visitor = await open('/requests');
    const { page } = visitor;
    const rows = page.locator('tbody .row-link');
    const first = await rows.first().getAttribute('href');
    await expectText(page, `1–${PAGE_ROWS}`);
    await page.getByRole('button', { name: 'Next' }).click();
    await expectText(page, /^101–161$/);
    expect(await rows.count()).toBe(61);
    await page.getByRole('button', { name: 'Previous' }).click();
    await expectText(page, `1–${PAGE_ROWS}`);
    expect(await rows.first().getAttribute('href')).toBe(first);
    await page.getByLabel('Before (local time)', { exact: true }).fill('2026-01-01T12:30');
    await page.waitForURL(/\?to=2026-01-01T12%3A30%3A00\.000Z$/);
    await expectText(page, 'No matches');
    await page.getByRole('button', { name: 'Remove filter: Before' }).click();
    await rows.first().waitFor();
  });

  test('finds an account by a part of its address', async () => {
    await using visitor = await open('/requests');
    const { page } = visitor;
    const other = await rig.newCustomer();
    await page.getByLabel('Account', { exact: true }).fill(other.email.slice(3));
    await page.getByRole('option', { name: other.email }).click();
    await page.waitForURL((url) => url.searchParams.get('account') === other.email);
    await expectText(page, 'No matches');
    await openSignedIn(visitor, rig.operator, `/requests?account=${customer.accountId}`);
    await page.locator('.linked').first().waitFor();
    const field = page.getByLabel('Account', { exact: true });
    await waitUntil(async () => (await field.inputValue()) === customer.email);
    await expectClean(visitor);
  });

  test(`holds memory, elements and listeners while ${FOLLOWED} requests pass`, async () => {
    await using visitor = await open('/requests');
    const { page } = visitor;
    await expectText(page, 'Live');
    const follow = async (count: number) => {
      await call(count);
      const newest = await newestOf(rig);
      await waitUntil(async () => (await idsOn(page)).includes(newest), 30_000);
    };
    await follow(PAGE_ROWS * 5);
    const before = await weigh(visitor);
    await follow(FOLLOWED);
    const after = await weigh(visitor);
    expect(after.nodes - before.nodes).toBeLessThan(2_000);
    expect(after.listeners - before.listeners).toBeLessThan(300);
    expect(after.heapMb - before.heapMb).toBeLessThan(3);
  }, 300_000);
});

async function newestOf({ operator }: Rig): Promise<string> {
  const { json } = await operator.session.get('/requests?limit=1');
  return (json['data'] as readonly { readonly request_id: string }[])[0]?.request_id ?? '';
}

function idsOn(page: Page): Promise<readonly string[]> {
  return page.evaluate(
    '[...document.querySelectorAll("tbody .row-link")].map(({ href }) => href.split("/").at(-1))',
  );
}

/** What the page holds after a collection of its garbage. */
async function weigh({ page, context }: Visitor) {
  const session = await context.newCDPSession(page);
  await session.send('HeapProfiler.collectGarbage');
  await session.send('Performance.enable');
  const { metrics } = await session.send('Performance.getMetrics');
  await session.detach();
  const read = (name: string) => metrics.find((metric) => metric.name === name)?.value ?? 0;
  return {
    nodes: read('Nodes'),
    listeners: read('JSEventListeners'),
    heapMb: read('JSHeapUsedSize') / 1_048_576,
  };
}
