// The playground in both formats: reasoning and text stream with their estimated cost, and the bill
// equals the ledger's.

import { afterAll, beforeAll, expect, test } from 'bun:test';
import { describeInBrowser } from '../support/browser.ts';
import { expectClean, expectText, openRig, openSignedIn, type Rig } from './rig.ts';

/** Sixteen seconds: Stop has to be found before the end on a busy machine too. */
const SLOW = 'slow-tokens-400-40';

let rig: Rig;

describeInBrowser('the playground', ({ visit }) => {
  beforeAll(async () => {
    rig = await openRig(['reasoning', SLOW, 'tool-round']);
  });
  afterAll(() => rig.close());

  test.each([
    ['Chat completions', 'High'],
    ['Messages', 'On'],
  ])('answers in the format %s, with thoughts and bill', async (format, reasoning) => {
    const customer = await rig.newCustomer();
    await using visitor = await visit(`${rig.gateway.url}/dashboard`);
    const { page } = visitor;
    await openSignedIn(visitor, customer, '/playground');
    await page.getByRole('button', { name: format, exact: true }).click();
    await page.getByLabel('Model').selectOption('reasoning');
    await page.getByLabel(/^(Reasoning effort|Thinking)$/).selectOption({ label: reasoning });
    await page.getByLabel('Message', { exact: true }).fill('Hello?');
    await page.getByRole('button', { name: 'Send' }).click();
    await expectText(page, 'Hello from upstream.');
    await expectText(page, /Charged [\d.]+ service tokens/);
    await page.locator('details.reasoning summary').click();
    await expectText(page, 'Let me think about it.');
    const bill = (await page.locator('.bill').textContent()) ?? '';
    const charged = /Charged ([\d.]+) service tokens/.exec(bill)?.[1];
    const { json } = await customer.session.get('/ledger');
    const [entry] = json['data'] as { readonly amount: string }[];
    expect(entry?.amount).toBe(`-${charged}`);
    await expectClean(visitor);
  });

  test('what is written so far is there before the end, and Stop ends it with what was charged', async () => {
    await using visitor = await visit(`${rig.gateway.url}/dashboard`);
    const { page } = visitor;
    await openSignedIn(visitor, await rig.newCustomer(), '/playground');
    await page.getByLabel('Model').selectOption(SLOW);
    await page.getByLabel('Message', { exact: true }).fill('Hello?');
    await page.getByRole('button', { name: 'Send' }).click();
    await expectText(page, 'Answering');
    await expectText(page, /About [\d.]+ service tokens .* so far/);
    await expectText(page, 'a a a a');
    await page.getByRole('button', { name: 'Stop' }).click();
    await expectText(page, /Stopped: output so far is charged/);
    await expectClean(visitor);
  });

  test('a call of a tool is answered by hand, and the model goes on from the answer', async () => {
    await using visitor = await visit(`${rig.gateway.url}/dashboard`);
    const { page } = visitor;
    await openSignedIn(visitor, await rig.newCustomer(), '/playground');
    await page.getByLabel('Model').selectOption('tool-round');
    await page.getByText('Tools', { exact: true }).click();
    await page.getByRole('button', { name: 'Insert example' }).click();
    await page.getByLabel('Message', { exact: true }).fill('Hello?');
    await page.keyboard.press('Control+Enter');
    await page.getByLabel('Result of get_weather').fill('{"sky":"clear"}');
    await expectClean(visitor);
    await page.getByRole('button', { name: 'Send the result and continue' }).click();
    await expectText(page, 'It is {"sky":"clear"}.');
    const sent = rig.upstream.requests.at(-1)?.body['messages'] as readonly object[];
    expect(sent.at(-1)).toMatchObject({ role: 'tool', content: '{"sky":"clear"}' });

    await page.getByLabel('Temperature').fill('9');
    await page.getByLabel('Message', { exact: true }).fill('More?');
    await page.keyboard.press('Control+Enter');
    await expectText(page, 'invalid_request');
    await page.getByRole('button', { name: 'Show code' }).click();
    await expectText(page, 'YOUR_API_KEY');
    await expectText(page, '"tool_call_id"');
    await expectClean(visitor);
  });
});
