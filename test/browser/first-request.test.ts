// A visitor becomes a customer in the browser in six steps: opens the form, signs up, opens the mailed link,
// confirms, opens the dialog of a key and creates it. The key works with the openai client.

import { afterAll, beforeAll, expect, test } from 'bun:test';
import OpenAI from 'openai';
import { describeInBrowser } from '../support/browser.ts';
import { newEmail, newPassword } from '../support/customer.ts';
import { expectClean, expectPath, expectText, openRig, type Rig, shownKey } from './rig.ts';

let rig: Rig;

describeInBrowser('a stranger', ({ visit }) => {
  beforeAll(async () => {
    rig = await openRig();
  });
  afterAll(() => rig.close());

  test('signs up, creates a key, and gets an answer', async () => {
    const { gateway, mailbox } = rig;
    const email = newEmail();
    const password = newPassword();
    await using visitor = await visit(gateway.url);
    const { page } = visitor;
    await page.getByRole('link', { name: 'Create account' }).first().click();
    await page.getByLabel('E-mail address').fill(email);
    await page.getByLabel('Password', { exact: true }).fill(password);
    await page.getByRole('button', { name: 'Create account' }).click();
    await expectText(page, 'Check your mail');
    await expectClean(visitor);

    await page.goto(await mailbox.linkTo(email));
    await page.getByLabel('Password', { exact: true }).fill(password);
    await page.getByRole('button', { name: 'Confirm and sign in' }).click();
    await expectPath(page, '/dashboard');
    await expectText(page, 'Balance');
    await expectClean(visitor);

    await page.getByRole('button', { name: 'Create key' }).click();
    await page.getByLabel('Name').fill('laptop');
    await expectClean(visitor);
    await page.getByRole('button', { name: 'Create', exact: true }).click();
    const key = await shownKey(page);
    await page.locator('dialog pre', { hasText: key }).first().waitFor();
    await expectClean(visitor);

    const accounts = await gateway.run('account', 'list');
    const { id } = (accounts['data'] as { id: string; email: string }[]).find(
      (account) => account.email === email,
    ) ?? { id: '' };
    await gateway.run('account', 'credit', id, '100000');
    const client = new OpenAI({ apiKey: key, baseURL: `${gateway.url}/v1`, maxRetries: 0 });
    const completion = await client.chat.completions.create({
      model: 'ok',
      messages: [{ role: 'user', content: 'Hello?' }],
    });
    expect(completion.choices[0]?.message.content).toBe('Hello from upstream.');

    // The page above which the key is still shown has seen the first request.
    await page
      .getByRole('listitem')
      .filter({ hasText: 'Send a request' })
      .getByText('Done')
      .waitFor();
    await page.getByRole('button', { name: 'Done, I’ve copied it' }).click();
    await page.reload();
    await expectText(page, 'Runway');
    expect(await page.getByText('Your first request').count()).toBe(0);
    await expectClean(visitor);
  });

  test('gets the same page for a taken address, and no second account', async () => {
    const { gateway, mailbox } = rig;
    const { email } = await rig.newCustomer();
    await using visitor = await visit(`${gateway.url}/dashboard/signup`);
    const { page } = visitor;
    await page.getByLabel('E-mail address').fill(email);
    await page.getByLabel('Password', { exact: true }).fill(newPassword());
    await page.getByRole('button', { name: 'Create account' }).click();
    await expectText(page, 'Check your mail');
    const [mail] = await mailbox.mailsTo(email);
    expect(mail?.subject).toBe('You already have an account');
  });
});
