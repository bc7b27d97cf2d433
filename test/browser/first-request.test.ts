// A visitor becomes a customer in the browser: signs up, opens the mailed link, creates a key, and uses it
// with the openai client.

import { afterAll, beforeAll, expect, test } from 'bun:test';
import OpenAI from 'openai';
import { describeInBrowser } from '../support/browser.ts';
import { newEmail, newPassword } from '../support/customer.ts';
import {
  expectClean,
  expectPath,
  expectRow,
  expectText,
  makeKey,
  openRig,
  type Rig,
} from './rig.ts';

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
    await using visitor = await visit(`${gateway.url}/dashboard`);
    const { page } = visitor;
    await expectPath(page, '/dashboard/sign-in');
    await page.getByRole('link', { name: 'Create an account' }).click();
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

    await page.getByRole('link', { name: 'API keys' }).click();
    const key = await makeKey(page, 'laptop');
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

    await page.goto(`${gateway.url}/dashboard/requests`);
    await expectRow(page);
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
    const [, second] = await mailbox.mailsTo(email, 2);
    expect(second?.subject).toBe('You already have an account');
  });
});
