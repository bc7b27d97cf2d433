// The console of a running server: an upstream taken out of service, lower limits of an incident, and
// prices from draft to catalog, each checked by the next request.

import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { describeInBrowser } from '../support/browser.ts';
import { post, requestBody } from '../support/client.ts';
import { waitUntil } from '../support/upstream.ts';
import { askOnce, expectClean, expectText, openRig, openSignedIn, type Rig } from './rig.ts';

setDefaultTimeout(60_000);

let rig: Rig;
let key: string;

describeInBrowser('the console, over the server and what it sells', ({ visit }) => {
  beforeAll(async () => {
    rig = await openRig(['ok', 'plain', 'status-400', 'status-503-times-99'], {
      upstream: { cool_down_seconds: 60 },
    });
    const { accountId } = await rig.newCustomer();
    const made = await rig.gateway.run('key', 'create', accountId);
    key = String(made['key']);
  });
  afterAll(() => rig.close());

  const base = () => `${rig.gateway.operatorUrl()}/operator`;

  test('an upstream out of service gets no requests until it is returned to service', async () => {
    await using visitor = await visit(base());
    const { page } = visitor;
    await openSignedIn(visitor, rig.operator, '/upstreams/scripted');
    expect(await askOnce(rig, key)).toEqual([200, undefined]);
    await page.getByRole('button', { name: 'Take out of service' }).click();
    await page.getByLabel('Reason').fill('their maintenance');
    await page.locator('dialog').getByRole('button', { name: 'Take out of service' }).click();
    await expectText(page, /It gets no new requests\. Since .*: their maintenance/);
    expect(await askOnce(rig, key)).toEqual([503, 'provider_unavailable']);
    await page.getByRole('button', { name: 'Return to service' }).click();
    await page.getByRole('button', { name: 'Take out of service' }).waitFor();
    expect(await askOnce(rig, key)).toEqual([200, undefined]);
    await page.goto(`${base()}/`);
    await page.getByText('Live', { exact: true }).waitFor();
    await expectClean(visitor);
  });

  test('an alert is one row, and stays as acknowledged while its cause does', async () => {
    await using visitor = await visit(base());
    const { page } = visitor;
    const body = requestBody('chat', 'status-503-times-99');
    const caller = { url: rig.gateway.url, key };
    await openSignedIn(visitor, rig.operator, '/alerts');
    const row = page.getByRole('row', { name: /fails for status-503-times-99/ });
    await waitUntil(async () => {
      await (await post(caller, '/v1/chat/completions', body)).text();
      await page.reload();
      await page.getByRole('heading', { name: 'Alerts' }).waitFor();
      return row.isVisible();
    }, 30_000);
    expect(await row.count()).toBe(1);
    await row.getByRole('button', { name: /^Acknowledge: / }).click();
    await expectText(page, 'Alert acknowledged.');
    await row.getByText(`Acknowledged by ${rig.operator.email}`).waitFor();
    await page.reload();
    await row.getByText(`Acknowledged by ${rig.operator.email}`).waitFor();
    expect(await row.count()).toBe(1);
    await expectClean(visitor);
  });

  test('of many failed attempts the newest are shown, and all of them on request', async () => {
    await using visitor = await visit(base());
    const { page } = visitor;
    await openSignedIn(visitor, rig.operator, '/upstreams/scripted');
    const body = requestBody('chat', 'status-400');
    const caller = { url: rig.gateway.url, key };
    const card = page.locator('.card', {
      has: page.getByRole('heading', { name: 'Latest failed attempts' }),
    });
    const rows = card.locator('tbody tr');
    const more = card.getByRole('button', { name: /^Show all \d+$/ });
    for (let sent = 0; sent < 12; sent += 1) {
      await (await post(caller, '/v1/chat/completions', body)).text();
    }
    await more.waitFor();
    expect(await rows.count()).toBe(10);
    await more.click();
    await more.waitFor({ state: 'detached' });
    expect(await rows.count()).toBeGreaterThan(10);
    await expectClean(visitor);
  });

  test('lower limits apply from the next request, and end', async () => {
    await using visitor = await visit(base());
    const { page } = visitor;
    const limit = async () => {
      const caller = { url: rig.gateway.url, key };
      const body = requestBody('chat', 'plain');
      const response = await post(caller, '/v1/chat/completions', body);
      await response.text();
      return response.headers.get('x-ratelimit-limit-requests');
    };
    const before = await limit();
    await openSignedIn(visitor, rig.operator, '/models/plain');
    await page.getByRole('button', { name: 'Lower limits' }).click();
    await page.getByLabel('Requests per minute').fill('7');
    await page.getByRole('button', { name: 'Set limits' }).click();
    await expectText(page, 'Limited to 7 requests per minute per account');
    expect(await limit()).toBe('7');
    await page.getByRole('button', { name: 'End incident' }).click();
    await page.locator('dialog').getByRole('button', { name: 'End incident' }).click();
    await page.getByRole('button', { name: 'Lower limits' }).waitFor();
    expect(await limit()).toBe(before);
    await expectClean(visitor);
  });

  test('publishes a price from draft over what-if into the catalog', async () => {
    await using visitor = await visit(base());
    const { page } = visitor;
    await openSignedIn(visitor, rig.operator, '/prices');
    await page.getByRole('button', { name: 'New price' }).first().click();
    await page.getByLabel('Output', { exact: true }).fill('123.5');
    const from = page.getByLabel('Valid from (UTC)');
    await from.fill('2020-01-01T00:00');
    await page.getByRole('button', { name: 'Add to draft' }).click();
    await expectText(page, 'must be later than now');
    await from.fill('2031-05-01T13:30');
    await page.getByRole('button', { name: 'Add to draft' }).click();
    await page.getByLabel('Month').selectOption({ index: 0 });
    await page.getByRole('button', { name: 'Calculate' }).click();
    await expectText(page, 'Customers would have paid');
    await expectClean(visitor);
    await page.getByRole('button', { name: 'Publish' }).click();
    await expectText(page, 'Published. The server uses it now.');
    await expectText(page, '$123.50');
    const shown = await rig.gateway.run('prices', 'show', '--model', 'ok');
    const [model] = shown['models'] as {
      readonly prices: readonly object[];
    }[];
    expect(model?.prices.at(-1)).toMatchObject({
      output: '123.5',
      valid_from: '2031-05-01T13:30:00.000Z',
    });
    await expectClean(visitor);
  });
});
