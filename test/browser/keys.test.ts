// Keys in the browser while clients use them: a stream survives the rotation of its key, and the next
// request with a revoked key is rejected.

import { afterAll, beforeAll, expect, test } from 'bun:test';
import { randomBytes } from 'node:crypto';
import { createKeys } from '../../src/identity/keys.ts';
import { openDatabase } from '../../src/store/database.ts';
import { play, SAYS_HELLO } from '../support/behaviours.ts';
import { describeInBrowser } from '../support/browser.ts';
import { post, requestBody } from '../support/client.ts';
import { waitUntil } from '../support/upstream.ts';
import {
  askOnce,
  expectClean,
  expectRowCount,
  expectText,
  makeKey,
  openRig,
  openSignedIn,
  type Rig,
  shownKey,
} from './rig.ts';

/** Begins an answer, and goes on when the test says so. */
const SLOW = 'slow-at-will';
const later = Promise.withResolvers<void>();

let rig: Rig;

describeInBrowser('keys in the page', ({ visit }) => {
  beforeAll(async () => {
    rig = await openRig(['ok', SLOW], undefined, {}, { [SLOW]: play(SAYS_HELLO, later.promise) });
  });
  afterAll(() => rig.close());

  test('a stream survives the rotation of its key; the old key is rejected, the new one works', async () => {
    const { url } = rig.gateway;
    await using visitor = await visit(`${url}/dashboard`);
    const { page } = visitor;
    await openSignedIn(visitor, await rig.newCustomer(), '/keys');
    const old = await makeKey(page, 'laptop');
    const body = requestBody('chat', SLOW, { stream: true });
    const streaming = await post({ url, key: old }, '/v1/chat/completions', body);
    expect(streaming.status).toBe(200);
    let ended = false;
    const text = streaming.text().then((all) => {
      ended = true;
      return all;
    });
    await page.getByRole('button', { name: 'Rotate the key laptop' }).first().click();
    await expectText(page, 'Requests in progress finish normally.');
    await page.getByRole('button', { name: 'Rotate key', exact: true }).click();
    await expectText(page, 'Replacement key');
    const fresh = await shownKey(page);
    expect(fresh).not.toBe(old);
    expect(await askOnce(rig, old)).toEqual([401, 'invalid_api_key']);
    expect(await askOnce(rig, fresh)).toEqual([200, undefined]);
    expect(ended).toBe(false);
    later.resolve();
    expect(await text).toEndWith('data: [DONE]\n\n');
    await expectClean(visitor);
  });

  test('a key without a name is called by its masked form, as in the requests', async () => {
    await using visitor = await visit(`${rig.gateway.url}/dashboard`);
    const { page } = visitor;
    const customer = await rig.newCustomer();
    const { api_key } = await rig.gateway.run('key', 'create', customer.accountId);
    const { masked } = api_key as { readonly masked: string };
    await openSignedIn(visitor, customer, '/keys');
    await expectText(page, masked);
    expect(await page.locator('tbody td').first().textContent()).toBe(masked);
    await expectClean(visitor);
  });

  test('a key spends no more than its budget, in either unit, until the budget is removed', async () => {
    await using visitor = await visit(`${rig.gateway.url}/dashboard`);
    const { page } = visitor;
    await openSignedIn(visitor, await rig.newCustomer(), '/keys');
    const key = await makeKey(page, 'laptop');
    await page.getByRole('button', { name: 'Edit the key laptop' }).first().click();
    const total = page.getByLabel('Budget in total');
    await total.fill('much');
    await page.getByRole('button', { name: 'Save' }).click();
    await expectText(page, /^Enter a number such as /);
    await total.fill('0.000002');
    await page.getByLabel('Unit', { exact: true }).selectOption('tokens');
    expect(await total.inputValue()).toBe('2');
    await page.getByRole('button', { name: 'Save' }).click();
    await expectText(page, 'Key changed.');
    expect(await askOnce(rig, key)).toEqual([402, 'key_budget_exhausted']);
    await page.locator('tbody').getByTitle('Budget in total').waitFor();
    await page.getByRole('button', { name: 'Edit the key laptop' }).first().click();
    await total.fill('');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.locator('tbody').getByTitle('Budget in total').waitFor({ state: 'detached' });
    expect(await askOnce(rig, key)).toEqual([200, undefined]);
    await expectClean(visitor);
  });

  test('saving bounds keeps the name and those that another person has set since the dialog was opened', async () => {
    await using visitor = await visit(`${rig.gateway.url}/dashboard`);
    const { page } = visitor;
    await openSignedIn(visitor, await rig.newCustomer(), '/keys');
    const key = await makeKey(page, 'laptop');
    await page.getByRole('button', { name: 'Edit the key laptop' }).first().click();
    const bounds = ['--networks', '192.0.2.0/24', '--budget-day', '7', '--runaway-guard', 'off'];
    await rig.gateway.run('key', 'edit', key, '--name', 'server', ...bounds);
    await page.getByLabel('Budget in total').fill('2');
    await page.getByRole('button', { name: 'Save' }).click();
    await expectText(page, 'Key changed.');
    expect((await rig.gateway.run('key', 'edit', key))['api_key']).toMatchObject({
      name: 'server',
      networks: ['192.0.2.0/24'],
      budget: { total: { limit: '2000000' }, day: { limit: '7' }, month: null },
      runaway_guard: false,
    });
  });

  test('a key that the runaway guard paused says so, and is resumed or exempted in one step', async () => {
    await using visitor = await visit(`${rig.gateway.url}/dashboard`);
    const { page } = visitor;
    await openSignedIn(visitor, await rig.newCustomer(), '/keys');
    const key = await makeKey(page, 'laptop');
    await pauseAsGuard(key);
    await waitUntil(async () => (await askOnce(rig, key))[1] === 'key_paused');
    await page.goto(`${rig.gateway.url}/dashboard/`);
    await expectText(page, 'A key was paused because of unusual spend');
    await expectClean(visitor);
    await page.getByRole('link', { name: 'View keys' }).first().click();
    await expectText(page, /^spend far above its habit/);
    await expectClean(visitor);
    await page.getByRole('button', { name: 'Resume the key laptop' }).first().click();
    await expectText(page, 'It is not paused automatically again for 48 hours.');
    await page.getByRole('button', { name: 'Resume key', exact: true }).click();
    await expectText(page, 'Key resumed.');
    expect(await askOnce(rig, key)).toEqual([200, undefined]);
    await page.getByRole('button', { name: 'Edit the key laptop' }).first().click();
    const guarded = page.getByLabel(/^Pause it automatically/);
    expect(await guarded.isChecked()).toBe(true);
    await guarded.uncheck();
    await expectClean(visitor);
    await page.getByRole('button', { name: 'Save' }).click();
    await expectText(page, 'Key changed.');
    await page.getByRole('button', { name: 'Edit the key laptop' }).first().click();
    expect(await guarded.isChecked()).toBe(false);
  });

  /** What the guard does once it has seen the spend. */
  async function pauseAsGuard(key: string): Promise<void> {
    const url = `sqlite:${rig.gateway.databasePath}`;
    const database = openDatabase({ url, sync: 'normal' });
    const keys = createKeys({ database, clock: Date.now, randomBytes, plans: () => new Map() });
    const why = { spent: '9000000', allowed: '5000000', busiest_hour: '1' };
    await keys.pauseRunaway((await keys.find(key)).id, why);
    await database.close();
  }

  test('a key is bound to chosen models and networks, and a wrong network is explained', async () => {
    await using visitor = await visit(`${rig.gateway.url}/dashboard`);
    const { page } = visitor;
    await openSignedIn(visitor, await rig.newCustomer(), '/keys');
    const key = await makeKey(page, 'laptop');
    const edit = () => page.getByRole('button', { name: 'Edit the key laptop' }).first().click();
    const save = page.getByRole('button', { name: 'Save' });
    await edit();
    const models = page.getByRole('combobox', { name: 'Models' });
    await models.fill('slow');
    await page.getByRole('option', { name: SLOW }).click();
    await page.getByRole('button', { name: `Remove ${SLOW}` }).waitFor();
    await page.getByLabel('Networks').fill('192.0.2.0/24, 10.0.0.300');
    await save.click();
    await expectText(page, '"10.0.0.300" is not a network. Write an address or a CIDR range');
    await expectClean(visitor);
    await page.getByLabel('Networks').fill('');
    await save.click();
    await expectText(page, 'Key changed.');
    expect(await askOnce(rig, key)).toEqual([403, 'model_not_allowed_for_key']);

    await edit();
    await page.getByRole('button', { name: `Remove ${SLOW}` }).click();
    await page.getByLabel('Networks').fill('192.0.2.0/24 2001:db8::/32');
    await save.click();
    await page.locator('tbody').getByText('2 networks').waitFor();
    expect(await askOnce(rig, key)).toEqual([403, 'address_not_allowed']);
    await expectClean(visitor);
  });

  test('the next request with a revoked key is rejected', async () => {
    await using visitor = await visit(`${rig.gateway.url}/dashboard`);
    const { page } = visitor;
    await openSignedIn(visitor, await rig.newCustomer(), '/keys');
    const key = await makeKey(page, 'laptop');
    expect(await askOnce(rig, key)).toEqual([200, undefined]);
    await page.getByRole('button', { name: 'Revoke the key laptop' }).first().click();
    await page.getByRole('button', { name: 'Revoke key', exact: true }).click();
    await expectText(page, /^Key laptop .* revoked\.$/);
    expect(await askOnce(rig, key)).toEqual([401, 'invalid_api_key']);
    await page.getByLabel('State', { exact: true }).selectOption('revoked');
    await page.locator('tbody').getByText('Revoked').first().waitFor();
    await expectClean(visitor);
  });

  test('the key is shown once: it is nowhere in the page afterwards, and nowhere in what the page loads', async () => {
    await using visitor = await visit(`${rig.gateway.url}/dashboard`);
    const { page } = visitor;
    await openSignedIn(visitor, await rig.newCustomer(), '/keys');
    const key = await makeKey(page, 'laptop');
    const bodies: Promise<string>[] = [];
    page.on('response', (response) => bodies.push(response.text().catch(() => '')));
    await page.reload();
    await expectText(page, 'laptop');
    expect(await page.content()).not.toContain(key);
    expect((await Promise.all(bodies)).join('\n')).not.toContain(key);
    expect(
      await page.evaluate('JSON.stringify([{ ...localStorage }, { ...sessionStorage }])'),
    ).not.toContain(key);
  });

  test('a key rotated with a grace period works beside its replacement, and says until when', async () => {
    await using visitor = await visit(`${rig.gateway.url}/dashboard`);
    const { page } = visitor;
    await openSignedIn(visitor, await rig.newCustomer(), '/keys');
    const old = await makeKey(page, 'laptop');
    await page.getByRole('button', { name: 'Rotate the key laptop' }).first().click();
    await page.getByLabel('Grace period of the old key').selectOption({ label: '24 hours' });
    await expectText(page, /During the grace period, both keys count/);
    await page.getByRole('button', { name: 'Rotate key', exact: true }).click();
    await expectText(page, /which works until/);
    const fresh = await shownKey(page);
    expect(await askOnce(rig, old)).toEqual([200, undefined]);
    expect(await askOnce(rig, fresh)).toEqual([200, undefined]);
    await page.getByRole('button', { name: 'Done, I’ve copied it' }).click();
    await expectText(page, 'Rotated');
    await expectText(page, /^works until /);
    expect(await page.getByRole('button', { name: 'Rotate the key laptop' }).count()).toBe(1);
    await expectClean(visitor);
  });

  test('keys are searched, filtered, renamed, revoked together, and show what they spent', async () => {
    await using visitor = await visit(`${rig.gateway.url}/dashboard`);
    const { page } = visitor;
    const customer = await rig.newCustomer();
    for (const name of ['ci one', 'ci two', 'server']) {
      const { json } = await customer.session.send('POST', '/keys', { name });
      if (name === 'server') await askOnce(rig, String(json['key']));
    }
    await openSignedIn(visitor, customer, '/keys?sort=-spent');
    await expectText(page, 'ci one');
    const rows = page.locator('tbody tr');
    expect(await rows.first().textContent()).toMatch(/server.*<?\$0\.0/);
    await expectClean(visitor);

    await page.getByLabel('Search').fill('ci');
    await page.getByLabel('Search').press('Enter');
    await page.getByText('server', { exact: true }).waitFor({ state: 'detached' });
    await expectRowCount(page, 2);
    await page.getByRole('button', { name: 'Edit the key ci one' }).first().click();
    await page.getByLabel('Name').fill('ci three');
    await page.getByLabel('Name').press('Enter');
    await expectText(page, 'ci three');

    await page.getByRole('button', { name: 'Revoke several' }).click();
    await page.getByLabel('All 2').check();
    await expectClean(visitor);
    await page.getByRole('button', { name: 'Revoke 2 keys' }).click();
    await expectText(page, '2 keys revoked.');
    await expectText(page, 'No matches');
    await page.getByLabel('State', { exact: true }).selectOption('revoked');
    await expectText(page, 'ci three');
    await expectRowCount(page, 2);
    expect(new URL(page.url()).search).toContain('state=revoked');
    await expectClean(visitor);
  });
});
