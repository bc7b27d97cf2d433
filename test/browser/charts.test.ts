// Charts and the usage page: totals that are those of the export, periods in the address, filters,
// tooltips and legends, links to the requests behind a bar, and negative values inside the chart.

import { afterAll, beforeAll, expect, test } from 'bun:test';
import { readFile } from 'node:fs/promises';
import type { Page } from 'playwright-core';
import { describeInBrowser } from '../support/browser.ts';
import { post, requestBody } from '../support/client.ts';
import { parseCsv } from '../support/csv.ts';
import type { Customer } from '../support/customer.ts';
import { waitUntil } from '../support/upstream.ts';
import { expectClean, expectPath, expectText, openRig, openSignedIn, type Rig } from './rig.ts';

let rig: Rig;
let customer: Customer;
let keys: string[];

/** Requests with one key; `ok` answers, `reset` fails over to it. */
async function send(key: string | undefined, models: readonly string[], user: string) {
  for (const model of models) {
    const caller = { url: rig.gateway.url, key: key ?? '' };
    const body = requestBody('chat', model, { user });
    await (await post(caller, '/v1/chat/completions', body)).text();
  }
}

const chart = (page: Page) => page.locator('figure.chart').first();
const drawing = (page: Page) => chart(page).locator('.drawing');
const stat = async (page: Page, label: string) =>
  page.locator('.stat', { hasText: label }).first().locator('.value').textContent();

describeInBrowser('charts', ({ visit }) => {
  beforeAll(async () => {
    rig = await openRig(['ok', 'tokens-30', 'reset'], {
      models: {
        ok: {
          served_by: [{ upstream: 'scripted', model: 'ok', cost: { input: '9', output: '9' } }],
        },
        reset: { fallbacks: ['ok'] },
      },
    });
    customer = await rig.newCustomer();
    keys = [];
    for (const name of ['laptop', 'server']) {
      const { json } = await customer.session.send('POST', '/keys', { name });
      keys.push(String(json['key']));
    }
    await send(keys[0], ['ok', 'ok', 'tokens-30', 'reset'], 'ann');
    await send(keys[1], ['ok', 'tokens-30'], 'ben');
    await waitUntil(async () => {
      const { json } = await customer.session.get('/usage/speeds?days=1');
      return (json['total'] as { requests: number }).requests === 6;
    }, 15_000);
  });
  afterAll(() => rig.close());

  test('totals are those of the export of the same period, which stays a preset', async () => {
    await using visitor = await visit(`${rig.gateway.url}/dashboard`);
    const { page } = visitor;
    await openSignedIn(visitor, customer, '/usage');
    await page.getByRole('button', { name: '24 h' }).click();
    await waitUntil(() => new URL(page.url()).searchParams.get('days') === '1');
    await page.reload();
    const preset = page.getByRole('button', { name: '24 h' });
    await preset.waitFor();
    expect(await preset.getAttribute('aria-pressed')).toBe('true');
    await expectText(page, 'Spend by hour (USD)');
    const downloading = page.waitForEvent('download');
    await page.getByRole('link', { name: 'Export as CSV' }).click();
    const [head = [], ...lines] = parseCsv(
      await readFile(await (await downloading).path(), 'utf8'),
    );
    const spent = lines.reduce(
      (sum, line) => sum + Number(line[head.indexOf('svc_tokens_debited')]),
      0,
    );
    expect(await stat(page, 'Requests')).toBe(String(lines.length));
    const exact = page.locator('.stat', { hasText: 'Spend' }).locator('.value .nowrap');
    const title = (await exact.getAttribute('title'))?.replaceAll(',', '') ?? '';
    expect(Number(/= ([\d.]+) service tokens/.exec(title)?.[1])).toBeCloseTo(spent, 6);
    await expectClean(visitor);
  });

  test('custom days are UTC days in every time zone, and months can be chosen', async () => {
    await using visitor = await visit(`${rig.gateway.url}/dashboard`, { timeZone: 'Asia/Tokyo' });
    const { page } = visitor;
    await openSignedIn(visitor, customer, '/usage?days=7');
    await page.locator('.stat').first().waitFor();
    await page.getByRole('button', { name: 'Custom' }).click();
    await page.getByLabel('From (UTC)').fill('2026-01-05');
    await waitUntil(() => page.url().includes('from=2026-01-05T00%3A00%3A00.000Z'));
    expect(new URL(page.url()).searchParams.get('to')).toMatch(/T00:00:00\.000Z$/);
    await page.getByRole('button', { name: 'Month' }).click();
    const month = new Date().toISOString().slice(0, 7);
    await waitUntil(() => new URL(page.url()).searchParams.get('month') === month);
    await page.locator('.stat').first().waitFor();
    await page.goto(
      `${rig.gateway.url}/dashboard/usage?from=2020-01-01T00:00Z&to=2027-01-01T00:00Z`,
    );
    await expectText(page, 'Spend by month (USD)');
  });

  test('a request counts for the requested model as well, and filters combine', async () => {
    await using visitor = await visit(`${rig.gateway.url}/dashboard`);
    const { page } = visitor;
    await openSignedIn(visitor, customer, '/usage?days=1&model=reset');
    const row = page.locator('tbody .linked', { hasText: 'ok for reset' }).first();
    await row.waitFor();
    expect(await stat(page, 'Requests')).toBe('1');
    await row.getByRole('link').first().click();
    await expectPath(page, '/dashboard/requests');
    await page.locator('tbody .linked').first().waitFor();
    expect(await page.locator('tbody .linked').count()).toBe(1);
    await page.goto(`${rig.gateway.url}/dashboard/usage?days=1&by=key&model=ok&end_user=ann`);
    await page.locator('tbody tr', { hasText: 'laptop' }).first().waitFor();
    expect(await stat(page, 'Requests')).toBe('3');
  });

  test('the tooltip has every series with its colour and the total, the legend hides series', async () => {
    await using visitor = await visit(`${rig.gateway.url}/dashboard`);
    const { page } = visitor;
    await openSignedIn(visitor, customer, '/usage?days=30&by=key&show=requests');
    await drawing(page).focus();
    await page.keyboard.press('ArrowLeft');
    const reading = chart(page).locator('.reading');
    await reading.getByText('Total').waitFor();
    expect(await reading.locator('tr').allTextContents()).toEqual([
      ...['laptop4', 'server2', 'Total6'],
    ]);
    expect(await reading.locator('.swatch').count()).toBe(2);
    const colours = () =>
      chart(page)
        .locator('button.key rect')
        .evaluateAll((all) => all.map((each) => each.getAttribute('fill')));
    const before = await colours();
    expect(new Set(before).size).toBe(2);
    await chart(page).getByRole('button', { name: 'laptop' }).click();
    expect(
      await chart(page).getByRole('button', { name: 'laptop' }).getAttribute('aria-pressed'),
    ).toBe('false');
    expect(await chart(page).locator('.plot > path').count()).toBe(1);
    await drawing(page).focus();
    await page.keyboard.press('ArrowLeft');
    await reading.getByText('server').waitFor();
    expect(await reading.getByText('laptop').count()).toBe(0);
    await page.goto(`${rig.gateway.url}/dashboard/usage?days=30&by=key&show=tokens`);
    await chart(page).getByRole('button', { name: 'laptop' }).waitFor();
    expect((await colours()).toSorted()).toEqual(before.toSorted());
    await expectClean(visitor);
  });

  test('a bar opens the requests behind it, by pointer and by keyboard', async () => {
    await using visitor = await visit(`${rig.gateway.url}/dashboard`);
    const { page } = visitor;
    await openSignedIn(visitor, customer, '/usage?days=30&by=key&show=requests');
    await drawing(page).focus();
    await page.keyboard.press('ArrowLeft');
    await page.keyboard.press('Enter');
    await expectPath(page, '/dashboard/requests');
    await page.locator('tbody .linked').first().waitFor();
    expect(await page.locator('tbody .linked').count()).toBe(6);
    await page.goBack();
    await drawing(page).waitFor();
    const box = await drawing(page).boundingBox();
    // The lowest part of the last bar is the series with the most requests.
    const x = (box?.x ?? 0) + (box?.width ?? 0) - 12;
    await page.mouse.move(x, (box?.y ?? 0) + (box?.height ?? 0) - 30);
    await chart(page).locator('a.hit').waitFor();
    await page.mouse.click(x, (box?.y ?? 0) + (box?.height ?? 0) - 30);
    await expectPath(page, '/dashboard/requests');
    await page.locator('tbody .linked').first().waitFor();
    expect(await page.locator('tbody .linked').count()).toBe(4);
  });

  test('a bar in the console opens the requests behind it, which its time filter names', async () => {
    await using visitor = await visit(`${rig.operator.session.url}/operator`);
    const { page } = visitor;
    await openSignedIn(visitor, rig.operator, `/accounts/${customer.accountId}`);
    await drawing(page).focus();
    await page.keyboard.press('ArrowLeft');
    await page.keyboard.press('Enter');
    await expectPath(page, '/operator/requests');
    await page.locator('tbody .linked').first().waitFor();
    expect(await page.locator('tbody .linked').count()).toBe(6);
    expect(await page.getByLabel('Time', { exact: true }).inputValue()).toBe('own');
    const account = page.getByLabel('Account', { exact: true });
    await waitUntil(async () => (await account.inputValue()) === customer.email);
    await page.getByLabel('Time', { exact: true }).selectOption('1');
    await page.waitForURL(
      (url) => url.searchParams.get('days') === '1' && !url.searchParams.has('from'),
    );
    await page.locator('tbody .linked').first().waitFor();
    await expectClean(visitor);
  });

  test('the unit of a chart is on its axis and in its heading, however small the amounts', async () => {
    await using visitor = await visit(`${rig.gateway.url}/dashboard`);
    const { page } = visitor;
    await openSignedIn(visitor, customer, '/');
    await expectText(page, 'Spend per day (USD), last 30 days (UTC)');
    const texts = await drawing(page).locator('svg text').allTextContents();
    expect(texts[0]).toBe('USD');
    expect(texts.filter((text) => text.startsWith('$')).length).toBeGreaterThan(1);
  });

  test('latency has percentiles by model', async () => {
    await using visitor = await visit(`${rig.gateway.url}/dashboard`);
    const { page } = visitor;
    await openSignedIn(visitor, customer, '/models/ok?days=1');
    await expectText(page, 'Time to first token (ms)');
    await page.getByRole('button', { name: 'Errors' }).click();
    await page.locator('figure', { hasText: 'Failed requests' }).first().waitFor();
    await expectClean(visitor);
  });

  test('a negative margin is drawn inside the chart, below a line at zero', async () => {
    await using visitor = await visit(`${rig.operator.session.url}/operator`);
    const { page } = visitor;
    await openSignedIn(visitor, rig.operator, '/money?days=1');
    await drawing(page).waitFor();
    const zero = (await drawing(page).locator('.rule.zero').boundingBox())?.y ?? 0;
    const svg = await drawing(page).locator('svg').boundingBox();
    const lines = await drawing(page)
      .locator('.line path')
      .evaluateAll((paths) => paths.map((path) => path.getBoundingClientRect().bottom));
    const lowest = Math.max(...lines);
    expect(lowest).toBeGreaterThan(zero + 10);
    expect(lowest).toBeLessThan((svg?.y ?? 0) + (svg?.height ?? 0) - 20);
    expect(await stat(page, 'Margin')).toStartWith('−');
    await expectClean(visitor);
  });

  test('an upstream has its percentiles and classes of failures', async () => {
    await using visitor = await visit(`${rig.operator.session.url}/operator`);
    const { page } = visitor;
    await openSignedIn(visitor, rig.operator, '/upstreams/scripted?days=1');
    await expectText(page, 'Time to first token (ms)');
    await page.getByRole('button', { name: 'Errors' }).click();
    const failures = page.locator('figure', { hasText: 'Show table: Failed' }).first();
    await failures.waitFor();
    expect(await failures.locator('button.key').allTextContents()).toEqual(['Cut off']);
    await expectClean(visitor);
  });
});
