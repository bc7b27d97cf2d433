// Money on the pages: the currency first, service tokens by choice, and amounts entered in either.

import { afterAll, beforeAll, expect, test } from 'bun:test';
import type { Locator, Page } from 'playwright-core';
import { describeInBrowser, type Visitor } from '../support/browser.ts';
import { waitUntil } from '../support/upstream.ts';
import { expectClean, expectRow, expectText, openRig, openSignedIn, type Rig } from './rig.ts';

let rig: Rig;
/** The operator's checkout. */
let shop: Bun.Server<undefined>;

describeInBrowser('money', ({ visit }) => {
  beforeAll(async () => {
    shop = Bun.serve({ port: 0, fetch: () => new Response('checkout') });
    rig = await openRig(['ok'], { service: { top_up_url: `${shop.url}pay?shop=7` } });
  });
  afterAll(async () => {
    await rig.close();
    await shop.stop(true);
  });

  test('is in the currency first, in service tokens by the switch, and the browser keeps the choice', async () => {
    const customer = await rig.newCustomer();
    await rig.gateway.run('account', 'credit', customer.accountId, '34598157.25');
    await using visitor = await visit(`${rig.gateway.url}/dashboard`);
    const { page } = visitor;
    await openSignedIn(visitor, customer);
    const balance = page.locator('.stat.large');
    await waitUntil(async () => (await balance.textContent())?.includes('$34.70') ?? false);
    expect(await balance.textContent()).toContain('34,698,157 service tokens');
    expect(await balance.locator('.value span').getAttribute('title')).toBe(
      '$34.69815725 = 34,698,157.25 service tokens',
    );
    await page.getByRole('button', { name: 'Service tokens', exact: true }).click();
    expect(await balance.locator('.value').textContent()).toBe('34,698,157 ST');
    await expectClean(visitor);
    await page.goto(`${rig.gateway.url}/dashboard/ledger`);
    await expectRow(page);
    expect(await page.locator('tbody td.end').first().textContent()).toBe('34,598,157.250000 ST');
    await page.getByRole('button', { name: 'USD', exact: true }).click();
    expect(await page.locator('tbody td.end').first().textContent()).toBe('$34.598157');
  });

  test('the total of the ledger is the sum of its entries, to the last digit', async () => {
    const customer = await rig.newCustomer();
    for (const amount of ['0.000001', '77.5', '1234567.891']) {
      await rig.gateway.run('account', 'credit', customer.accountId, amount);
    }
    await using visitor = await visit(`${rig.gateway.url}/dashboard`);
    const { page } = visitor;
    await openSignedIn(visitor, customer, '/ledger');
    await expectRow(page);
    const titles = await page
      .locator('tbody tr td.end:nth-last-child(3) span')
      .evaluateAll((spans) => spans.map((span) => span.getAttribute('title') ?? ''));
    const tokensOf = (title: string) => {
      const text = /= ([\d,.]+) service tokens$/.exec(title)?.[1]?.replaceAll(',', '') ?? '';
      const [whole = '', fraction = ''] = text.split('.');
      return BigInt(whole + fraction.padEnd(6, '0'));
    };
    const total = await page.locator('.stat', { hasText: 'Total' }).locator('.value span');
    expect(titles).toHaveLength(4);
    expect(titles.map(tokensOf).reduce((sum, each) => sum + each)).toBe(
      tokensOf((await total.getAttribute('title')) ?? ''),
    );
  });

  test('balance is paid in the checkout of the operator, and appears on the page', async () => {
    const customer = await rig.newCustomer();
    await using visitor = await visit(`${rig.gateway.url}/dashboard`);
    const { page } = visitor;
    await openSignedIn(visitor, customer);
    await page.locator('.stat', { hasText: 'Balance' }).getByRole('button').click();
    await expectText(page, 'Or redeem a code:');
    await expectClean(visitor);
    const popup = page.waitForEvent('popup');
    await page.getByRole('link', { name: 'Go to checkout' }).click();
    const checkout = await popup;
    await checkout.getByText('checkout').waitFor();
    const { searchParams } = new URL(checkout.url());
    expect([...searchParams.keys()]).toEqual(['shop', 'account', 'reference']);
    expect(searchParams.get('account')).toBe(customer.accountId);
    const paid = await rig.operator.session.send('POST', '/top-ups', {
      reference: searchParams.get('reference'),
      amount: '4000000',
      reason: 'payment 1',
    });
    expect(paid.status).toBe(200);
    await checkout.close();
    await page.keyboard.press('Escape');
    await expectText(page, '$4.10');
  });

  test('a code is redeemed in one dialog, from the ledger, a refusal and the banner', async () => {
    const customer = await rig.newCustomer();
    await using visitor = await visit(`${rig.gateway.url}/dashboard`);
    const { page } = visitor;
    await openSignedIn(visitor, customer, '/ledger');
    await redeem(page, '2000000');
    await expectText(page, '$2.00 added. $2.10 is available.');
    await expectText(page, '$2.100000');
    await expectClean(visitor);

    const adjust = (amount: string) =>
      rig.gateway.run('account', 'adjust', customer.accountId, amount, '--reason', 'test');
    await adjust('-2100000');
    await page.goto(`${rig.gateway.url}/dashboard/playground`);
    await page.getByLabel('Message', { exact: true }).fill('Hello?');
    await page.getByRole('button', { name: 'Send' }).click();
    await expectText(page, 'Your balance does not cover this request.');
    await expectClean(visitor);
    await redeem(page, '1000000');
    await expectText(page, '$1.00 added.');
    await page.getByRole('button', { name: 'Try again' }).click();
    await expectText(page, 'Hello from upstream.');

    await adjust('-999983');
    await page.goto(`${rig.gateway.url}/dashboard/`);
    await expectText(page, 'Your balance is used up');
    await redeem(page, '3000000', page.locator('.alert'));
    await expectText(page, '$3.00 added.');
    await page.getByText('Your balance is used up').waitFor({ state: 'detached' });
    await expectClean(visitor);
  });

  test('rows of the ledger add up as shown, for customers and for operators', async () => {
    const customer = await rig.newCustomer();
    for (const amount of ['0.000001', '77.5', '0.4', '1234567.891', '0.45']) {
      await rig.gateway.run('account', 'credit', customer.accountId, amount);
    }
    for (const [who, path] of [
      [customer, `${rig.gateway.url}/dashboard/ledger`],
      [rig.operator, `${rig.gateway.operatorUrl()}/operator/accounts/${customer.accountId}`],
    ] as const) {
      await using visitor = await visit(new URL(path).origin);
      await openSignedIn(visitor, who);
      await visitor.page.goto(path);
      await expectRow(visitor.page);
      const rows = await moneyRows(visitor.page);
      expect(rows).toHaveLength(6);
      for (const [index, [amount = 0, balance]] of rows.entries()) {
        const [, before = 0] = rows[index + 1] ?? [];
        expect(before + amount).toBe(balance ?? Number.NaN);
      }
    }
  });

  test('a credit is entered in USD or in service tokens, with the other unit beside it', async () => {
    const customer = await rig.newCustomer();
    await using visitor = await visit(`${rig.gateway.operatorUrl()}/operator`);
    const { page } = visitor;
    const amount = await openAdjustment(visitor, customer.accountId);
    await amount.fill('1,250.5');
    await expectText(page, '= 1,250,500,000 service tokens');
    await page.getByLabel('Unit', { exact: true }).selectOption('tokens');
    expect(await amount.inputValue()).toBe('1250500000');
    await expectText(page, '= $1,250.50');
    await expectClean(visitor);
    await page.getByLabel('Reason').fill('Invoice 1');
    await page.getByRole('button', { name: 'Credit $1,250.50' }).click();
    await expectText(page, 'Balance updated: $1,250.60 available.');
    const { json } = await customer.session.get('/ledger');
    expect(json['data']).toMatchObject([{ amount: '1250500000' }, { amount: '100000' }]);
  });

  test('what the books cannot hold is rejected with the nearest amount, until it is valid', async () => {
    const customer = await rig.newCustomer();
    await using visitor = await visit(`${rig.gateway.operatorUrl()}/operator`);
    const { page } = visitor;
    const amount = await openAdjustment(visitor, customer.accountId);
    await amount.fill('0.0000000000015');
    await expectText(
      page,
      '$0.0000000000015 is not a whole number of the smallest unit. The nearest is $0.000000000001.',
    );
    await page.getByLabel('Reason').fill('none');
    await page.locator('dialog button[type=submit]').click();
    expect(await movementsOf(page, customer.accountId)).toBe(1);
    await amount.fill('0');
    await page.locator('dialog button[type=submit]').click();
    await page.locator('dialog .error').waitFor();
    await amount.fill('12');
    await page.locator('dialog .error').waitFor({ state: 'detached' });
    await expectClean(visitor);
  });

  test('a price is entered in USD per million tokens and drafted per token', async () => {
    await using visitor = await visit(`${rig.gateway.operatorUrl()}/operator`);
    const { page } = visitor;
    await openSignedIn(visitor, rig.operator, '/prices');
    await page
      .getByRole('button', { name: /New price/ })
      .first()
      .click();
    await page.getByLabel('Input', { exact: true }).fill('0.15');
    await expectText(page, '= 0.15 service tokens per token');
    await page.getByLabel('Output', { exact: true }).fill('0.6');
    await page.getByLabel('Unit', { exact: true }).selectOption('tokens');
    await expectText(page, '= $0.60 per 1M tokens');
    await expectClean(visitor);
    await page.getByRole('button', { name: 'Add to draft' }).click();
    await page.locator('.difference .added', { hasText: 'input = "0.15"' }).waitFor();
    await page.locator('.difference .added', { hasText: 'output = "0.6"' }).waitFor();
  });
});

/** Opens the dialog that adjusts an account's balance, and returns its field of the amount. */
async function openAdjustment(visitor: Visitor, accountId: string): Promise<Locator> {
  const { page } = visitor;
  await openSignedIn(visitor, rig.operator, `/accounts/${accountId}`);
  await page.getByRole('button', { name: 'Adjust balance' }).first().click();
  return page.getByLabel('Amount');
}

async function movementsOf(page: Page, accountId: string): Promise<number> {
  const response = await page.request.get(
    `${new URL(page.url()).origin}/operator/api/accounts/${accountId}/movements`,
  );
  return ((await response.json()) as { readonly data: readonly unknown[] }).data.length;
}

/** Amount and balance of each row of the ledger, in millionths of a USD. */
async function moneyRows(page: Page): Promise<readonly (readonly number[])[]> {
  const rows = await page.locator('tbody tr').all();
  return Promise.all(
    rows.map(
      async (row) =>
        ((await row.textContent()) ?? '')
          .match(/−?\$[\d,]+\.\d{6}/g)
          ?.map((text) => Number(text.replace('−', '-').replace(/[$,.]/g, ''))) ?? [],
    ),
  );
}

/** Adds balance with a new code, by the button `within` a part of the page. */
async function redeem(page: Page, amount: string, within: Page | Locator = page): Promise<void> {
  const { data } = await rig.gateway.run('code', 'create', '--amount', amount, '--reason', 'test');
  const [made] = data as { readonly code: string }[];
  await within.getByRole('button', { name: 'Add balance' }).click();
  await page.getByLabel('Code').fill(made?.code ?? '');
  await page.getByRole('button', { name: 'Redeem code' }).click();
}
