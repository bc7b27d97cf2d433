// Tables at every width: long values are cut, numbers stay in view, phones show cards, and the page
// is the only thing that scrolls.

import { afterAll, beforeAll, expect, test } from 'bun:test';
import type { Page } from 'playwright-core';
import { describeInBrowser, type Visitor } from '../support/browser.ts';
import { post, requestBody } from '../support/client.ts';
import type { Customer } from '../support/customer.ts';
import { waitUntil } from '../support/upstream.ts';
import { expectClean, expectRow, makeKey, openRig, openSignedIn, type Rig } from './rig.ts';

const LONG = 'a-very-long-end-user-'.repeat(10);

let rig: Rig;
let customer: Customer;

describeInBrowser('tables', ({ visit }) => {
  beforeAll(async () => {
    rig = await openRig(['ok']);
    customer = await rig.newCustomer();
    await using visitor = await visit(`${rig.gateway.url}/dashboard`);
    await openSignedIn(visitor, customer, '/keys');
    const key = await makeKey(visitor.page, 'a key with a name of some length');
    const body = requestBody('chat', 'ok', { user: LONG });
    for (let count = 0; count < 3; count += 1) {
      const response = await post({ url: rig.gateway.url, key }, '/v1/chat/completions', body);
      expect(response.status).toBe(200);
      await response.text();
    }
  });
  afterAll(() => rig.close());

  async function open(width: number, path: string): Promise<Visitor> {
    const visitor = await visit(`${rig.gateway.url}/dashboard`, {
      viewport: { width, height: 800 },
    });
    await openSignedIn(visitor, customer, path);
    return visitor;
  }

  test.each([600, 768, 900, 1024, 1440])(
    'every number of a row is visible at %d px beside a long value',
    async (width) => {
      await using visitor = await open(width, '/requests');
      await expectRow(visitor.page);
      expect(await hiddenNumbers(visitor.page)).toEqual([]);
      expect(await pageOverflow(visitor.page)).toBe(0);
      await expectClean(visitor);
    },
  );

  test('a long value is cut to one line and is the title of its cell', async () => {
    await using visitor = await open(1440, '/requests');
    const { page } = visitor;
    await expectRow(page);
    const cell = page.locator('tbody .linked').first().locator('td', { hasText: LONG });
    const box = await cell.boundingBox();
    expect(box?.height).toBeLessThan(60);
    expect(box?.width).toBeLessThan(360);
    await page.mouse.move((box?.x ?? 0) + 40, (box?.y ?? 0) + 15);
    expect(await page.locator('tbody tr .row-link').first().getAttribute('title')).toBe(LONG);
  });

  test('a list has no scroll box of its own, and its head stays at the top of the page', async () => {
    await using visitor = await open(1440, '/requests');
    const { page } = visitor;
    await expectRow(page);
    expect(
      await page.evaluate(`[...document.querySelectorAll('.main *')]
        .filter((element) => element.scrollHeight > element.clientHeight + 1)
        .filter((element) => ['auto', 'scroll'].includes(getComputedStyle(element).overflowY))
        .map(({ className }) => className)`),
    ).toEqual([]);
    expect(
      await page.evaluate(`getComputedStyle(document.querySelector('thead th')).position`),
    ).toBe('sticky');
  });

  test('the server sorts a list by the column that was clicked, and the address keeps the order', async () => {
    for (const amount of ['5000000', '900000000', '12000000']) {
      await rig.gateway.run('code', 'create', '--amount', amount, '--reason', 'sorted');
    }
    await using visitor = await visit(rig.gateway.operatorUrl());
    const { page } = visitor;
    await openSignedIn(visitor, rig.operator, '/codes');
    await expectRow(page);
    const head = page.getByRole('columnheader', { name: 'Amount' });
    await expectAmounts(page, ['$12.00', '$900.00', '$5.00']);
    await head.getByRole('button').click();
    await expectAmounts(page, ['$900.00', '$12.00', '$5.00']);
    expect(await head.getAttribute('aria-sort')).toBe('descending');
    expect(await page.evaluate('document.activeElement?.textContent')).toBe('Amount');
    expect(new URL(page.url()).searchParams.get('sort')).toBe('-amount');
    await head.getByRole('button').press('Enter');
    await expectAmounts(page, ['$5.00', '$12.00', '$900.00']);
    await page.reload();
    await expectAmounts(page, ['$5.00', '$12.00', '$900.00']);
    await expectClean(visitor);
  });

  test('columns and density are chosen by the user and kept in the browser', async () => {
    await using visitor = await visit(rig.gateway.operatorUrl());
    const { page } = visitor;
    await openSignedIn(visitor, rig.operator, '/codes');
    await expectRow(page);
    const row = page.locator('tbody tr').first();
    const tall = (await row.boundingBox())?.height ?? 0;
    await page.getByRole('button', { name: 'Columns and density' }).click();
    await expectClean(visitor);
    await page.getByLabel('Reason').uncheck();
    await page.getByRole('button', { name: 'Compact' }).click();
    await page.getByRole('button', { name: 'Done' }).click();
    const heads = () => page.getByRole('columnheader').allTextContents();
    expect(await heads()).not.toContain('Reason');
    await page.reload();
    await expectRow(page);
    expect(await heads()).not.toContain('Reason');
    expect((await row.boundingBox())?.height).toBeLessThan(tall);
    await page.getByRole('button', { name: 'Columns and density' }).click();
    await page.getByRole('button', { name: 'Reset' }).click();
    expect(await heads()).toContain('Reason');
  });

  test('a phone shows cards with cost and outcome in view, and the card opens the request', async () => {
    await using visitor = await open(390, '/requests');
    const { page } = visitor;
    const card = page.getByRole('list', { name: 'Requests' }).getByRole('listitem').first();
    await card.waitFor();
    expect(await page.getByRole('table').count()).toBe(0);
    for (const part of ['.value', '.badge']) {
      const box = await card.locator(part).first().boundingBox();
      expect(box?.x).toBeGreaterThan(0);
      expect((box?.x ?? 0) + (box?.width ?? 0)).toBeLessThanOrEqual(390);
    }
    expect(await pageOverflow(page)).toBe(0);
    await expectClean(visitor);
    await card.click();
    await page.waitForURL(/\/requests\/req_/);
  });
});

/** Waits until the column of amounts begins with these. */
async function expectAmounts(page: Page, amounts: readonly string[]): Promise<void> {
  const shown = async () =>
    (await page.locator('tbody td.end:not(:last-child)').allTextContents()).slice(
      0,
      amounts.length,
    );
  await waitUntil(async () => Bun.deepEquals(await shown(), amounts), 10_000);
}

/** The number cells whose end lies outside the window, or below another cell. */
async function hiddenNumbers(page: Page): Promise<readonly string[]> {
  // A point outside of the window has no element.
  await page.locator('tbody .linked').first().scrollIntoViewIfNeeded();
  const numbers = page.locator('tbody .linked').first().locator('td.end');
  expect(await numbers.count()).toBe(4);
  return page.evaluate(`[...document.querySelector('tbody .linked').querySelectorAll('td.end')]
    .filter((cell) => {
      const { left, right, top, height } = cell.getBoundingClientRect();
      const y = top + height / 2;
      const cellAt = (x) => document.elementsFromPoint(x, y).find(({ tagName }) => tagName === 'TD');
      return left < 0 || right > innerWidth || cellAt(left + 2) !== cell || cellAt(right - 2) !== cell;
    })
    .map(({ textContent }) => textContent)`);
}

function pageOverflow(page: Page): Promise<number> {
  return page.evaluate(
    'document.documentElement.scrollWidth - document.documentElement.clientWidth',
  );
}
