// The playground in both formats: reasoning and text stream, the bill equals the ledger's, parameters are
// checked before they are sent, and a failed message is not sent again.

import { afterAll, beforeAll, expect, test } from 'bun:test';
import type { Locator, Page } from 'playwright-core';
import { describeInBrowser } from '../support/browser.ts';
import type { Customer } from '../support/customer.ts';
import { expectClean, expectText, openRig, openSignedIn, type Rig } from './rig.ts';

/** Sixteen seconds: Stop has to be found before the end on a busy machine too. */
const SLOW = 'slow-tokens-400-40';

let rig: Rig;

/** What an answer shows comes before its end, until which Enter sends nothing. */
const expectEnded = (page: Page) =>
  page.getByRole('button', { name: 'Stop', exact: true }).waitFor({ state: 'hidden' });

describeInBrowser('the playground', ({ visit }) => {
  beforeAll(async () => {
    rig = await openRig(['reasoning', SLOW, 'stall-before', 'tool-round', 'echo-message'], {
      upstream: { cancel_stops_billing: true },
    });
  });
  afterAll(() => rig.close());

  test.each([
    ['Chat completions', 'high'],
    ['Messages', 'enabled'],
    ['Responses', 'high'],
  ])('answers in the format %s, with thoughts and bill', async (format, reasoning) => {
    const customer = await rig.newCustomer();
    await using visitor = await visit(`${rig.gateway.url}/dashboard`);
    const { page } = visitor;
    await openSignedIn(visitor, customer, '/playground');
    await page.getByRole('button', { name: format, exact: true }).click();
    await page.getByLabel('Model', { exact: true }).selectOption('reasoning');
    await foldSettings(page);
    const depth = page.getByLabel(format === 'Messages' ? 'Thinking' : 'Reasoning effort', {
      exact: true,
    });
    await depth.selectOption({ label: reasoning });
    await page.getByLabel('Message', { exact: true }).fill('Hello?');
    await page.getByRole('button', { name: 'Send' }).click();
    await expectText(page, 'Hello from upstream.');
    await expectText(page, /Charged \$[\d.]+/);
    await page.locator('details.reasoning summary').click();
    await expectText(page, 'Let me think about it.');
    const bill = (await page.locator('.bill').textContent()) ?? '';
    expect(bill).toContain(`Charged $${await chargeOf(customer)}`);
    await expectClean(visitor);
  });

  test('what is written so far is there before the end, and Stop ends it with what was charged', async () => {
    await using visitor = await visit(`${rig.gateway.url}/dashboard`);
    const { page } = visitor;
    const customer = await rig.newCustomer();
    await openSignedIn(visitor, customer, '/playground');
    await page.getByLabel('Model', { exact: true }).selectOption(SLOW);
    await page.getByLabel('Message', { exact: true }).fill('Hello?');
    await page.getByRole('button', { name: 'Send' }).click();
    await expectText(page, 'Answering');
    await expectText(page, 'a a a a');
    await page.getByRole('button', { name: 'Stop' }).click();
    await expectText(page, /Stopped · Charged \$[\d.]+, an estimate/);
    const bill = (await page.locator('.bill').textContent()) ?? '';
    expect(bill).toContain(`Charged $${await chargeOf(customer)}`);
    await expectClean(visitor);
    // A request that is stopped before its answer has no id in the page.
    await page.getByLabel('Model', { exact: true }).selectOption('stall-before');
    await page.getByLabel('Message', { exact: true }).fill('Hello?');
    await page.getByRole('button', { name: 'Send' }).click();
    await rig.upstream.waitFor(({ requests }) => requests.at(-1)?.model === 'stall-before');
    await page.getByRole('button', { name: 'Stop' }).click();
    await expectText(page, 'Stopped before the answer began.');
    await expectText(
      page,
      'The prompt and what the model made are charged, unseen thinking by an estimate',
    );
    await expectClean(visitor);
  });

  test.each([
    [1440, 900],
    [390, 844],
  ])(
    'on %d × %d, the model is on top and the composer stays at the bottom',
    async (width, height) => {
      await using visitor = await visit(`${rig.gateway.url}/dashboard`, {
        viewport: { width, height },
      });
      const { page } = visitor;
      await openSignedIn(visitor, await rig.newCustomer(), '/playground');
      const model = page.getByLabel('Model', { exact: true });
      const message = page.getByLabel('Message', { exact: true });
      await model.selectOption('echo-message');
      const yOf = async (locator: Locator) => (await locator.boundingBox())?.y ?? Number.NaN;
      const send = page.getByRole('button', { name: 'Send' });
      expect(await yOf(model)).toBeLessThan(height / 2);
      expect(await yOf(send)).toBeGreaterThan(height * 0.7);
      // Longer than the screen.
      await message.fill('word\n'.repeat(100));
      await message.press('Enter');
      await expectText(page, /Charged/);
      await page.evaluate('scrollTo(0, 0)');
      expect(await yOf(send)).toBeGreaterThan(height * 0.7);
      expect(await yOf(send)).toBeLessThan(height);
      await expectClean(visitor);
    },
  );

  test('a call of a tool is answered by hand, and the model goes on from the answer', async () => {
    await using visitor = await visit(`${rig.gateway.url}/dashboard`);
    const { page } = visitor;
    await openSignedIn(visitor, await rig.newCustomer(), '/playground');
    await page.getByLabel('Model', { exact: true }).selectOption('tool-round');
    await foldSettings(page);
    await page.getByText('Tools', { exact: true }).click();
    await page.getByRole('button', { name: 'Insert example' }).click();
    await page.getByLabel('Message', { exact: true }).fill('Hello?');
    await page.keyboard.press('Control+Enter');
    await page.getByLabel('Result of get_weather').fill('{"sky":"clear"}');
    await expectClean(visitor);
    await page.getByRole('button', { name: 'Send the result and continue' }).click();
    await expectText(page, 'It is {"sky":"clear"}.');
    await expectEnded(page);
    const sent = rig.upstream.requests.at(-1)?.body['messages'] as readonly object[];
    expect(sent.at(-1)).toMatchObject({ role: 'tool', content: '{"sky":"clear"}' });

    await page.getByLabel('Temperature').fill('9');
    await page.getByLabel('Message', { exact: true }).fill('More?');
    const asked = rig.upstream.requests.length;
    await foldSettings(page);
    await page.getByLabel('Temperature').waitFor({ state: 'hidden' });
    await page.getByLabel('Message', { exact: true }).press('Enter');
    await expectText(page, 'Some settings are not valid. Correct them first.');
    expect(await page.locator('main input:invalid').getAttribute('max')).toBe('2');
    expect(rig.upstream.requests.length).toBe(asked);
    await page.getByLabel('Temperature').fill('1.5');
    await page.getByLabel('Tool definitions (JSON)').fill('[');
    await page.getByLabel('Message', { exact: true }).press('Enter');
    await page.getByRole('alert').filter({ hasText: 'Invalid JSON.' }).waitFor();
    expect(rig.upstream.requests.length).toBe(asked);
    await page.getByLabel('Tool definitions (JSON)').fill('');
    await page.getByRole('button', { name: 'Show code' }).click();
    await expectText(page, '$API_KEY');
    await expectText(page, '"tool_call_id"');
    await expectClean(visitor);
  });

  test('a message that failed is not sent again with the next one', async () => {
    await using visitor = await visit(`${rig.gateway.url}/dashboard`);
    const { page } = visitor;
    await openSignedIn(visitor, await rig.newCustomer(), '/playground');
    await page.getByLabel('Model', { exact: true }).selectOption('echo-message');
    await page.getByLabel('Message', { exact: true }).fill('first');
    const error = { message: 'No model is available.', code: 'provider_unavailable' };
    await page.route('**/api/playground/**', (route) =>
      route.fulfill({
        contentType: 'text/event-stream',
        body: `data: ${JSON.stringify({ error })}\n\ndata: [DONE]\n\n`,
      }),
    );
    await page.keyboard.press('Enter');
    await expectText(page, 'provider_unavailable');
    await expectEnded(page);
    await page.unroute('**/api/playground/**');
    await page.getByLabel('Message', { exact: true }).fill('second');
    await page.keyboard.press('Enter');
    await expectText(page, /Charged/);
    await expectText(page, 'No answer; not resent');
    expect(rig.upstream.requests.at(-1)?.body['messages']).toEqual([
      { role: 'user', content: 'second' },
    ]);
    await page.setViewportSize({ width: 390, height: 844 });
    const name = page.getByRole('heading', { name: 'You' }).first();
    expect((await name.boundingBox())?.height).toBeLessThan(30);
    // The answer has the name of its model.
    expect(await page.locator('.turn.assistant h3').textContent()).toBe('echo-message');
    await expectClean(visitor);
  });

  test('all parameters of a format are sent as they are set', async () => {
    await using visitor = await visit(`${rig.gateway.url}/dashboard`);
    const { page } = visitor;
    await openSignedIn(visitor, await rig.newCustomer(), '/playground');
    await page.getByLabel('Model', { exact: true }).selectOption('echo-message');
    await foldSettings(page);
    const sent = page.waitForRequest('**/api/playground/chat/completions');
    for (const [label, value] of [
      ['Temperature', '0.3'],
      ['Top P', '0.5'],
      ['Max tokens', '77'],
      ['Frequency penalty', '-1'],
      ['Presence penalty', '1'],
      ['Stop sequences', 'END\nSTOP'],
      ['End user', 'ann'],
      ['System prompt', 'Be brief.'],
    ] as const) {
      await page.getByLabel(label, { exact: true }).fill(value);
    }
    await page.getByLabel('Answer format').selectOption('json_object');
    await page.getByLabel('Thinking', { exact: true }).selectOption('disabled');
    await page.getByLabel('Message', { exact: true }).fill('Hello?');
    await page.keyboard.press('Enter');
    expect((await sent).postDataJSON()).toEqual({
      model: 'echo-message',
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'Hello?' },
      ],
      ...{ temperature: 0.3, top_p: 0.5, max_tokens: 77 },
      ...{ frequency_penalty: -1, presence_penalty: 1, stop: ['END', 'STOP'], user: 'ann' },
      ...{ response_format: { type: 'json_object' }, thinking: { type: 'disabled' }, stream: true },
    });
    await expectText(page, /Charged/);
  });
});

/** Shows the folded settings, or hides them again. */
function foldSettings(page: Page): Promise<void> {
  return page.locator('summary', { hasText: 'Settings' }).click();
}

/** The last charge in USD, by the ledger. */
async function chargeOf({ session }: Customer): Promise<string | undefined> {
  const { json } = await session.get('/ledger');
  const [entry] = json['data'] as { readonly amount_usd: string }[];
  return entry?.amount_usd.replace('-', '');
}
