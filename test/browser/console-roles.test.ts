// Roles, four eyes and the confirmation of wide blocks on the pages of the console.

import { afterAll, beforeAll, expect, test } from 'bun:test';
import { describeInBrowser } from '../support/browser.ts';
import { createOperator } from '../support/customer.ts';
import { expectClean, expectText, openRig, openSignedIn, type Rig } from './rig.ts';

let rig: Rig;

describeInBrowser('operators with roles', ({ visit }) => {
  beforeAll(async () => {
    rig = await openRig(['ok'], undefined, { FOUR_EYES_ABOVE: '1000' });
  });
  afterAll(() => rig.close());

  const base = () => `${rig.gateway.operatorUrl()}/operator`;

  test('a viewer sees why a button does nothing, until an admin changes the role', async () => {
    const viewer = await createOperator(rig.gateway);
    await rig.gateway.run('operator', 'role', viewer.email, 'viewer');
    await using visitor = await visit(base());
    const { page } = visitor;
    await openSignedIn(visitor, viewer, '/accounts');
    // An empty list draws the button in another place, and a forced click does not wait for that.
    await page.getByText('No accounts yet').waitFor();
    const create = page.getByRole('button', { name: 'New account' }).first();
    await create.waitFor();
    expect(await create.getAttribute('aria-disabled')).toBe('true');
    // A disabled button may be pressed all the same.
    await create.click({ force: true });
    await expectText(page, 'Your role (viewer) does not allow this. Ask an admin.');
    expect(await page.locator('dialog').count()).toBe(0);
    expect(await page.getByText('Export as CSV').count()).toBe(0);
    await expectClean(visitor);

    await using second = await visit(base());
    await openSignedIn(second, rig.operator, '/operators');
    const row = second.page.getByRole('row', { name: viewer.email });
    await row.getByRole('button', { name: 'Change role' }).click();
    await second.page.getByLabel('Role', { exact: true }).selectOption('support');
    await expectClean(second);
    await second.page.locator('dialog button[type=submit]').click();
    await row.getByText('Support').waitFor();

    await page.reload();
    await create.click();
    await page.getByLabel('E-mail address').waitFor();
  });

  test('a viewer sees why entries and prices are not published', async () => {
    const viewer = await createOperator(rig.gateway);
    await rig.gateway.run('operator', 'role', viewer.email, 'viewer');
    await using visitor = await visit(base());
    const { page } = visitor;
    await openSignedIn(visitor, viewer, '/catalog/new/plan');
    const button = page.getByRole('button', { name: 'Review changes', exact: true });
    await button.waitFor();
    expect(await button.getAttribute('aria-disabled')).toBe('true');
    expect(await button.getAttribute('title')).toBe(
      'Your role (viewer) does not allow this. Ask an admin.',
    );
    await button.click({ force: true });
    await expectText(page, 'Your role (viewer) does not allow this. Ask an admin.');
    await expectClean(visitor);
    await page.goto(`${base()}/prices`);
    await page.getByRole('table').first().waitFor();
    for (const price of await page.getByRole('button', { name: 'New price' }).all()) {
      expect(await price.getAttribute('title')).toContain('Your role (viewer)');
    }
    await page.goto(`${base()}/accounts/${(await rig.gateway.createAccount()).id}`);
    await page.getByRole('tab', { name: 'Requests' }).waitFor();
    await page.getByRole('heading', { name: 'Spend by day (USD)' }).waitFor();
    await expectText(page, 'No requests in this period.');
    await page.getByRole('button', { name: 'Tokens', exact: true }).click();
    await page.getByRole('heading', { name: 'Model tokens by day' }).waitFor();
    await expectClean(visitor);
  });

  test('a large credit is booked once a second operator approves it', async () => {
    const account = await rig.gateway.createAccount();
    const credited = async () =>
      (await rig.operator.session.get(`/accounts/${account.id}`)).json['balance'] as {
        readonly total: string;
      };
    const before = Number((await credited()).total);
    const asked = await rig.operator.session.send('POST', `/accounts/${account.id}/movements`, {
      ...{ id: crypto.randomUUID(), kind: 'credit', amount: '5000', reason: 'Invoice 12' },
    });
    expect(asked.json).toMatchObject({ object: 'approval', state: 'pending' });
    await using own = await visit(base());
    await openSignedIn(own, rig.operator, '/approvals');
    await expectText(own.page, 'Invoice 12');
    expect(await own.page.getByRole('button', { name: 'Approve Invoice 12' }).count()).toBe(0);
    await own.page.getByRole('button', { name: 'Withdraw Invoice 12' }).waitFor();
    await expectClean(own);

    const second = await createOperator(rig.gateway);
    await rig.gateway.run('operator', 'role', second.email, 'finance');
    await using visitor = await visit(base());
    const { page } = visitor;
    await openSignedIn(visitor, second, '/approvals');
    await page.getByRole('button', { name: 'Approve Invoice 12' }).click();
    await expectClean(visitor);
    await page.locator('dialog button[type=submit]').click();
    await page.getByRole('cell', { name: 'Done' }).waitFor();
    expect(Number((await credited()).total)).toBe(before + 5_000);
  });

  test('a network of all addresses is blocked only once its name is typed', async () => {
    await using visitor = await visit(base());
    const { page } = visitor;
    await openSignedIn(visitor, rig.operator, '/blocks');
    await page.getByRole('button', { name: 'New block' }).first().click();
    await page.getByLabel('Address or network').fill('0.0.0.0/0');
    const submit = page.locator('dialog button[type=submit]');
    await submit.click();
    await expectText(page, '0.0.0.0/0 has 4,294,967,296 addresses');
    await expectClean(visitor);
    await page.getByLabel('to confirm').fill('0.0.0.0/0');
    await submit.click();
    await page.locator('dialog').waitFor({ state: 'detached' });
    await expectText(page, '0.0.0.0/0');
    await rig.gateway.run('block', 'remove', 'network', '0.0.0.0/0');
  });

  test('accounts are sorted by what they spent, and the tab of an account is in the address', async () => {
    await using visitor = await visit(base());
    const { page } = visitor;
    await openSignedIn(visitor, rig.operator, '/accounts');
    await page.getByRole('columnheader', { name: 'Spent, 30 days' }).getByRole('button').click();
    await page.waitForURL(/sort=-?spent/);
    await expectClean(visitor);
    await page.getByRole('row').nth(1).getByRole('link').first().click();
    await page.getByRole('tab', { name: 'Audit trail' }).click();
    await page.waitForURL(/tab=audit/);
    await page.reload();
    await page.getByRole('tab', { name: 'Audit trail', selected: true }).waitFor();
  });
});
