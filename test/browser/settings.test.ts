// A user's own sign-in and account in the pages: password reset and change, sessions, deletion and its
// cancellation; and the notices of a server without a mail server.

import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { describeInBrowser } from '../support/browser.ts';
import { newEmail, newPassword, signIn } from '../support/customer.ts';
import { startGateway } from '../support/gateway.ts';
import { expectClean, expectPath, expectText, openRig, openSignedIn, type Rig } from './rig.ts';

setDefaultTimeout(60_000);

let rig: Rig;

describeInBrowser('the own account', ({ visit }) => {
  beforeAll(async () => {
    rig = await openRig();
  });
  afterAll(() => rig.close());

  test('resets a forgotten password with the mailed link, once', async () => {
    const { gateway, mailbox } = rig;
    const { email, session } = await rig.newCustomer();
    await using visitor = await visit(`${gateway.url}/dashboard/sign-in`);
    const { page } = visitor;
    await page.getByRole('link', { name: 'Forgot your password?' }).click();
    await page.getByLabel('E-mail address').fill(email);
    await page.getByRole('button', { name: 'Send reset link' }).click();
    await expectText(page, 'Check your mail');
    await expectClean(visitor);

    const link = await mailbox.linkTo(email);
    const password = newPassword();
    await page.goto(link);
    await page.getByLabel('New password', { exact: true }).fill(password);
    await page.getByRole('button', { name: 'Set password' }).click();
    await expectText(page, 'Password set');
    expect((await session.get('/account')).status).toBe(401);
    await page.getByRole('link', { name: 'Sign in' }).click();
    await page.getByLabel('E-mail address').fill(email);
    await page.getByLabel('Password', { exact: true }).fill(password);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await expectPath(page, '/dashboard');

    await page.goto(link);
    await page.getByLabel('New password', { exact: true }).fill(newPassword());
    await page.getByRole('button', { name: 'Set password' }).click();
    await page.getByRole('link', { name: 'Request a new link' }).waitFor();
    await expectClean(visitor);
  });

  test('signs out other sessions and changes the password', async () => {
    const customer = await rig.newCustomer();
    const other = await signIn(rig.gateway, customer);
    await using visitor = await visit(`${rig.gateway.url}/dashboard`);
    const { page } = visitor;
    await openSignedIn(visitor, customer, '/settings');
    await page.getByText('This device').waitFor();
    await expectClean(visitor);
    await page.getByRole('button', { name: 'Sign out all others' }).click();
    await page.getByRole('button', { name: 'Sign out all', exact: true }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    expect((await other.get('/account')).status).toBe(401);

    const password = newPassword();
    await page.getByLabel('Current password', { exact: true }).fill(customer.password);
    await page.getByLabel('New password', { exact: true }).fill(password);
    await page.getByRole('button', { name: 'Change password' }).click();
    await expectText(page, 'Password changed');
    const again = await signIn(rig.gateway, { email: customer.email, password });
    expect((await again.get('/account')).status).toBe(200);
    await page.reload();
    await page.getByText('This device').waitFor();
  });

  test('deletes an account after its address is typed, and cancels the deletion', async () => {
    const customer = await rig.newCustomer();
    await using visitor = await visit(`${rig.gateway.url}/dashboard`);
    const { page } = visitor;
    await openSignedIn(visitor, customer, '/settings');
    await page.getByRole('button', { name: 'Delete account' }).click();
    await expectText(page, 'In 14 days, your address and password are removed');
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('button', { name: 'Delete account' }).click();
    expect(await dialog.isVisible()).toBe(true);
    await dialog.getByLabel(/^Type/).fill(customer.email);
    await dialog.getByRole('button', { name: 'Delete account' }).click();
    await expectText(page, /^This account will be deleted on/);
    await expectText(page, 'Pending deletion');
    await expectClean(visitor);
    await page.getByRole('button', { name: 'Keep account' }).click();
    await expectText(page, 'Deletion cancelled');
    const { json } = await customer.session.get('/account');
    expect(json).toMatchObject({ standing: 'active' });
  });
});

describeInBrowser('a server without mail', ({ visit }) => {
  test('says where the link is, and who creates accounts', async () => {
    await using gateway = await startGateway({ environment: { SIGNUP: 'closed' } });
    const { email } = await gateway.createAccount();
    await using visitor = await visit(`${gateway.url}/dashboard`);
    const { page } = visitor;
    await expectText(page, 'The operator creates new accounts.');
    await page.getByRole('link', { name: 'Forgot your password?' }).click();
    await page.getByLabel('E-mail address').fill(email);
    await page.getByRole('button', { name: 'Send reset link' }).click();
    await expectText(page, 'This server sends no mail');
    await page.goto(`${gateway.url}/dashboard/signup`);
    await expectText(page, 'Sign-up is closed');
    await page.goto(`${gateway.operatorUrl()}/operator`);
    await expectText(page, 'tollgate operator create');
  });

  test('asks for an invitation and fills it in from the link', async () => {
    await using gateway = await startGateway({ environment: { SIGNUP: 'invite' } });
    const { link } = await gateway.run('invite', 'create');
    await using visitor = await visit(String(link).replace(/^http:\/\/[^/]+/, gateway.url));
    const { page } = visitor;
    const token = new URL(String(link)).searchParams.get('invite');
    expect(await page.getByLabel('Invitation').inputValue()).toBe(String(token));
    await page.getByLabel('E-mail address').fill(newEmail());
    await page.getByLabel('Password', { exact: true }).fill(newPassword());
    await page.getByRole('button', { name: 'Create account' }).click();
    await expectText(page, 'This server sends no mail');
    await expectClean(visitor);
  });
});
