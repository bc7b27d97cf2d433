// What the playground shows and keeps: answers that run and load nothing, images, two models beside each
// other, and the last conversation in the browser.

import { afterAll, beforeAll, expect, test } from 'bun:test';
import type { Page } from 'playwright-core';
import { describeInBrowser } from '../support/browser.ts';
import { waitUntil } from '../support/upstream.ts';
import { expectClean, expectText, openRig, openSignedIn, type Rig } from './rig.ts';

const SLOW = 'slow-tokens-400-40';

/** A PNG of one pixel. */
const PIXEL = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==',
  'base64',
);

const HOSTILE = [
  'a **bold** word, `code`, and <b onclick="alert(1)">a tag</b>',
  '<script>window.hacked = 1</script><img src="https://evil.example/tag.png" onerror="hacked=1">',
  '![pixel](https://evil.example/pixel.png) [bad](javascript:window.hacked=1)',
  '',
  '```js',
  'let a = "<i>"; // note',
  '```',
  'The end.',
].join('\n');

let rig: Rig;

describeInBrowser('the content of the playground', ({ visit }) => {
  beforeAll(async () => {
    rig = await openRig(['echo-message', 'ok', SLOW], {
      upstream: { cancel_stops_billing: true },
    });
  });
  afterAll(() => rig.close());

  const message = (page: Page) => page.getByLabel('Message', { exact: true });
  const say = async (page: Page, text: string): Promise<void> => {
    await message(page).fill(text);
    await message(page).press('Enter');
  };

  test('an answer is shown as text with its code; nothing of it runs or is loaded', async () => {
    await using visitor = await visit(`${rig.gateway.url}/dashboard`);
    const { page } = visitor;
    await openSignedIn(visitor, await rig.newCustomer(), '/playground');
    await say(page, HOSTILE);
    await expectText(page, /Charged/);
    const answer = page.locator('.turn.assistant');
    const [before, after] = HOSTILE.split(/\n\n```.*```\n/s);
    expect(await answer.locator('.turn-text').allTextContents()).toEqual([
      before ?? '',
      after ?? '',
    ]);
    expect(await answer.locator('pre').textContent()).toBe('let a = "<i>"; // note');
    await answer.getByRole('button', { name: 'Copy js' }).waitFor();
    expect(await answer.locator('img, script, b, iframe, [onclick], [style]').count()).toBe(0);
    expect(await answer.locator('a:not(.bill a)').count()).toBe(0);
    expect(await page.evaluate('window.hacked')).toBeUndefined();
    await expectClean(visitor);
  });

  test('Shift+Enter starts a line, and Enter during a composition sends nothing', async () => {
    await using visitor = await visit(`${rig.gateway.url}/dashboard`);
    const { page } = visitor;
    await openSignedIn(visitor, await rig.newCustomer(), '/playground');
    await expectText(page, 'Enter sends, Shift+Enter starts a new line.');
    await message(page).fill('one');
    await message(page).press('Shift+Enter');
    await message(page).pressSequentially('two');
    await page.evaluate(`document.activeElement.dispatchEvent(
      new KeyboardEvent('keydown', { key: 'Enter', isComposing: true, bubbles: true }),
    )`);
    expect(await message(page).inputValue()).toBe('one\ntwo');
    await message(page).press('Enter');
    await expectText(page, /Charged/);
    expect(rig.upstream.requests.at(-1)?.body['messages']).toEqual([
      { role: 'user', content: 'one\ntwo' },
    ]);
  });

  test('images are attached, previewed, removed, and sent to the model', async () => {
    await using visitor = await visit(`${rig.gateway.url}/dashboard`);
    const { page } = visitor;
    await openSignedIn(visitor, await rig.newCustomer(), '/playground');
    await page.getByLabel('Model', { exact: true }).selectOption('ok');
    const files = page.getByLabel('Images', { exact: true });
    await files.setInputFiles([
      { name: 'pixel.png', mimeType: 'image/png', buffer: PIXEL },
      { name: 'other.png', mimeType: 'image/png', buffer: PIXEL },
    ]);
    await page.getByRole('img', { name: 'other.png' }).waitFor();
    await page.getByRole('button', { name: 'Remove other.png' }).click();
    await files.setInputFiles([{ name: 'a.svg', mimeType: 'image/svg+xml', buffer: PIXEL }]);
    await expectText(page, 'Choose PNG, JPEG, WebP or GIF images.');
    await expectClean(visitor);
    await say(page, 'What is it?');
    await expectText(page, 'Hello from upstream.');
    const url = `data:image/png;base64,${PIXEL.toString('base64')}`;
    expect(rig.upstream.requests.at(-1)?.body['messages']).toMatchObject([
      { content: [{ type: 'image_url', image_url: { url } }, { type: 'text' }] },
    ]);
    expect(await page.getByRole('img', { name: 'other.png' }).count()).toBe(0);
    await expectClean(visitor);
  });

  test('two models answer beside each other; each is stopped alone and has its cost and time', async () => {
    await using visitor = await visit(`${rig.gateway.url}/dashboard`);
    const { page } = visitor;
    await openSignedIn(visitor, await rig.newCustomer(), '/playground');
    await page.getByLabel('Model', { exact: true }).selectOption(SLOW);
    await page.getByLabel('Compare with').selectOption('echo-message');
    await say(page, 'Hello both');
    const [one, two] = [page.locator('.lanes > *').nth(0), page.locator('.lanes > *').nth(1)];
    await two.getByText(/Charged .*tokens\/s/).waitFor();
    await one.getByText('a a a a').waitFor();
    await page.getByRole('button', { name: `Stop ${SLOW}` }).click();
    await one.getByText(/Stopped · Charged .*, an estimate · first token after.* total/).waitFor();
    expect(await one.locator('.turn.assistant h3').textContent()).toBe(SLOW);
    expect(await two.locator('.turn.assistant h3').textContent()).toBe('echo-message');
    await expectClean(visitor);
  });

  test('the last conversation survives leaving and reloading, and never holds a key', async () => {
    await using visitor = await visit(`${rig.gateway.url}/dashboard`);
    const { page } = visitor;
    await openSignedIn(visitor, await rig.newCustomer(), '/playground');
    const key = `sk-${'aB3d'.repeat(12)}`;
    await say(page, `remember ${key}`);
    await expectText(page, /Charged/);
    await message(page).fill('not sent yet');
    await page.getByRole('link', { name: 'API keys' }).first().click();
    await expectText(page, 'No keys yet');
    await page.goBack();
    expect(await message(page).inputValue()).toBe('not sent yet');
    expect(await page.evaluate('JSON.stringify({ ...localStorage })')).not.toContain(key);
    await page.reload();
    await expectText(page, 'remember sk-…aB3d');
    await say(page, 'go on');
    await page.locator('.turn.assistant').nth(1).waitFor();
    const sent = () => rig.upstream.requests.at(-1)?.body['messages'] as readonly object[];
    await waitUntil(() => sent().length === 3);
    await page.getByRole('button', { name: 'New conversation' }).click();
    await expectText(page, 'No messages yet');
    await page.reload();
    await expectText(page, 'No messages yet');
    await expectClean(visitor);
  });
});
