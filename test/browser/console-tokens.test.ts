// Tokens of the operators' API on the pages of the console: created, used, revoked, and hidden from
// operators who are no admins.

import { afterAll, beforeAll, expect, test } from 'bun:test';
import { describeInBrowser } from '../support/browser.ts';
import { createOperator } from '../support/customer.ts';
import { waitUntil } from '../support/upstream.ts';
import { expectClean, expectText, openRig, openSignedIn, type Rig } from './rig.ts';

let rig: Rig;

describeInBrowser('tokens of the operators’ API', ({ visit }) => {
  beforeAll(async () => {
    rig = await openRig(['ok'], undefined, { FOUR_EYES_ABOVE: '1000' });
  });
  afterAll(() => rig.close());

  const base = () => `${rig.gateway.operatorUrl()}/operator`;
  const call = (token: string, path: string, body?: object) =>
    fetch(`${base()}/api/v1${path}`, {
      method: body === undefined ? 'GET' : 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });

  test('an admin creates one with scopes, uses it and revokes it', async () => {
    await using visitor = await visit(base());
    const { page } = visitor;
    await openSignedIn(visitor, rig.operator);
    await page.getByRole('link', { name: 'API tokens' }).click();
    await expectText(page, 'No tokens yet');
    await expectClean(visitor);
    await page.getByRole('button', { name: 'New token' }).first().click();
    await page.getByLabel('Name').fill('billing');
    const submit = page.getByRole('button', { name: 'Create token' });
    await submit.click();
    await expectText(page, 'A token needs one or more of these scopes');
    await page.getByLabel('Read accounts and balances').check();
    await page.getByLabel('Credit accounts').check();
    await expectClean(visitor);
    await submit.click();
    const token = (await page.locator('dialog pre').textContent()) ?? '';
    expect(token).toMatch(/^tgo-[A-Za-z0-9]{48}$/);
    await expectClean(visitor);
    await page.getByRole('button', { name: 'Done, I’ve copied it' }).click();
    await page.locator('dialog').waitFor({ state: 'detached' });
    expect(await page.content()).not.toContain(token);

    expect((await call(token, '/accounts')).status).toBe(200);
    expect((await call(token, '/prices')).status).toBe(403);
    await page.reload();
    const row = page.getByRole('row', { name: 'billing' });
    await expectText(page, rig.operator.email);
    await row.getByText('accounts:read, credits:write').waitFor();

    // What it asks for is a request of its owner, who does not decide on it.
    const account = await rig.gateway.createAccount();
    const credit = { id: crypto.randomUUID(), amount: '5000', reason: 'Invoice 31' };
    const asked = await call(token, `/accounts/${account.id}/credits`, credit);
    expect(await asked.json()).toMatchObject({ status: 'waiting_for_approval' });
    await page.getByRole('link', { name: 'Approvals' }).click();
    await page.getByRole('button', { name: 'Withdraw Invoice 31' }).waitFor();
    expect(await page.getByRole('button', { name: 'Approve Invoice 31' }).count()).toBe(0);
    await expectText(page, 'token:billing');
    await expectClean(visitor);

    await page.getByRole('link', { name: 'API tokens' }).click();
    await page.getByRole('button', { name: 'Revoke the token billing' }).click();
    await expectClean(visitor);
    await page.locator('dialog button[type=submit]').click();
    await row.getByText('Revoked').waitFor();
    await waitUntil(async () => (await call(token, '/accounts')).status === 401);
    await page.getByRole('link', { name: 'Audit trail' }).click();
    const events = page.locator('tbody');
    await events.getByText('Operator token created').first().waitFor();
    await events.getByText('Operator token revoked').first().waitFor();
  });

  test('other operators neither find the page nor read the list', async () => {
    const finance = await createOperator(rig.gateway);
    await rig.gateway.run('operator', 'role', finance.email, 'finance');
    await rig.gateway.run(
      ...['token', 'create', 'hidden', '--scopes', 'prices:read'],
      ...['--expires', new Date(Date.now() + 86_400_000).toISOString()],
    );
    await using visitor = await visit(base());
    const { page } = visitor;
    await openSignedIn(visitor, finance);
    await page.getByRole('link', { name: 'Approvals' }).waitFor();
    expect(await page.getByRole('link', { name: 'API tokens' }).count()).toBe(0);
    expect((await finance.session.get('/tokens')).status).toBe(403);
    const body = { name: 'mine', scopes: ['credits:write'] };
    expect((await finance.session.send('POST', '/tokens', body)).status).toBe(403);
    await page.goto(`${base()}/tokens`);
    await expectText(page, 'Your role (finance) does not allow this.');
    expect(await page.getByText('hidden').count()).toBe(0);
  });
});
