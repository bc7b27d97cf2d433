// The console's forms: a model, an upstream and a plan edited in the catalog file of a running
// server, with the difference before and the comments of the file after.

import { afterAll, beforeAll, beforeEach, expect, setDefaultTimeout, test } from 'bun:test';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { describeInBrowser } from '../support/browser.ts';
import { UPSTREAM_KEY } from '../support/catalog.ts';
import { createOperator, openSignUp } from '../support/customer.ts';
import { startGateway } from '../support/gateway.ts';
import { openMailbox } from '../support/mailbox.ts';
import { waitUntil } from '../support/upstream.ts';
import {
  askOnce,
  expectClean,
  expectPath,
  expectText,
  openRig,
  openSignedIn,
  type Rig,
} from './rig.ts';

setDefaultTimeout(60_000);

describeInBrowser("the console's forms for the catalog", ({ visit }) => {
  let rig: Rig;
  let path: string;
  let original: string;

  beforeAll(async () => {
    rig = await openRig(['ok', 'plain']);
    path = join(rig.gateway.directory, 'catalog.toml');
    original = `# Ours.\n${readFileSync(path, 'utf8')}\n# The end.\n`;
  });
  afterAll(() => rig.close());

  const text = () => readFileSync(path, 'utf8');
  const base = () => `${rig.gateway.operatorUrl()}/operator`;

  /** Waits until the server uses the file. */
  async function write(next: string): Promise<void> {
    writeFileSync(path, next);
    await rig.gateway.run('catalog', 'reload');
  }
  beforeEach(() => write(original));

  const review = async (page: Page) => {
    await page.getByRole('button', { name: 'Review changes' }).click();
  };
  const publish = (page: Page) =>
    page.getByRole('button', { name: 'Publish', exact: true }).click();

  test('a mistake is shown beside its field; the difference, then the file and the next request', async () => {
    await using visitor = await visit(base());
    const { page } = visitor;
    await openSignedIn(visitor, rig.operator, '/models/plain');
    await page.getByRole('link', { name: 'Edit' }).click();
    const output = page.getByLabel('Maximum output');
    await output.fill('999999999');
    await review(page);
    await page.locator('.field .error', { hasText: 'must be an integer' }).waitFor();
    expect(await output.getAttribute('aria-invalid')).toBe('true');
    expect(await page.getByRole('button', { name: 'Publish', exact: true }).isDisabled()).toBe(
      true,
    );
    await expectClean(visitor);

    await output.fill('77');
    await page.locator('.difference .added', { hasText: 'max_output = 77' }).waitFor();
    await expectClean(visitor);
    expect(text()).toBe(original);

    // The draft is kept in the browser until it is published.
    await page.reload();
    await page.locator('.difference .removed', { hasText: 'max_output' }).waitFor();
    expect(await output.inputValue()).toBe('77');
    await publish(page);
    await expectPath(page, '/operator/models/plain');
    await expectText(page, 'max 77 tokens');
    const before = original.split('\n');
    const now = text().split('\n');
    expect(now.length).toBe(before.length);
    expect(now.filter((line, at) => line !== before[at])).toEqual(['max_output = 77']);
    await page.getByRole('link', { name: 'Edit' }).click();
    await page.getByRole('button', { name: 'Review changes' }).waitFor();
    expect(await page.locator('.difference').count()).toBe(0);
  });

  test('a file that changed under a draft is shown with the draft, which is made again', async () => {
    await using visitor = await visit(base());
    const { page } = visitor;
    await openSignedIn(visitor, rig.operator, '/catalog/edit/model/plain');
    await page.getByLabel('Maximum output').fill('78');
    await review(page);
    await page.locator('.difference .added').first().waitFor();
    const model = original.split('[[model]]').find((each) => each.includes('slug = "plain"')) ?? '';
    const changed = original.replace(
      model,
      model.replace(/context_window = \d+/, 'context_window = 654321 # changed'),
    );
    expect(changed).not.toBe(original);
    await write(changed);
    await publish(page);
    await expectText(page, 'The catalog file has changed since you opened it.');
    expect(text()).toBe(changed);
    await page.reload();
    await expectText(page, 'The file has changed since you began');
    await expectClean(visitor);
    // The form must not wait for the file: until it has the text, what is typed would undo the change.
    const file = Promise.withResolvers<void>();
    await page.route('**/api/catalog/text', async (route) => {
      await file.promise;
      await route.continue();
    });
    await page.getByRole('button', { name: 'Reapply my changes' }).click();
    await page.getByText('The file has changed since you began').waitFor({ state: 'detached' });
    await page.locator('.difference .added', { hasText: 'max_output = 78' }).waitFor();
    expect(await page.getByLabel('Context window').inputValue()).toBe('654321');
    expect(await page.getByLabel('Maximum output').inputValue()).toBe('78');
    file.resolve();
    await publish(page);
    await expectPath(page, '/operator/models/plain');
    expect(text()).toContain('context_window = 654321 # changed');
    expect(text()).toContain('max_output = 78');
  });

  test('a copy of a model serves, and goes again; one in use does not', async () => {
    await using visitor = await visit(base());
    const { page } = visitor;
    const { accountId } = await rig.newCustomer();
    const key = String((await rig.gateway.run('key', 'create', accountId))['key']);
    await openSignedIn(visitor, rig.operator, '/catalog/edit/model/plain');
    await page.getByRole('link', { name: 'Duplicate' }).click();
    await page.getByLabel('Slug').fill('copied');
    const price = page.getByRole('group', { name: 'Price', exact: true });
    await price.getByLabel('Output').fill('2.25');
    await page.getByLabel('Unit', { exact: true }).selectOption('tokens');
    expect(await price.getByLabel('Output').inputValue()).toBe('2.25');
    await review(page);
    await page.locator('.difference .added', { hasText: 'output = "2.25"' }).waitFor();
    await page.locator('.difference .added', { hasText: 'slug = "copied"' }).waitFor();
    await publish(page);
    await expectPath(page, '/operator/models/copied');
    expect(text().startsWith('# Ours.\n')).toBe(true);
    expect(await askOnce(rig, key)).toEqual([200, undefined]);

    await page.goto(`${base()}/catalog/new/plan`);
    await page.getByLabel('Slug').fill('team');
    for (const [label, value] of [
      ['Requests per minute', '5'],
      ['Tokens per minute', '5000'],
      ['Concurrent requests', '2'],
      ['Max prompt tokens', '4000'],
      ['API keys', '3'],
    ] as const) {
      await page.getByLabel(label).fill(value);
    }
    await page.getByLabel('Models', { exact: true }).fill('copied');
    await review(page);
    await page.locator('.difference .added', { hasText: '[plan.team]' }).waitFor();
    await publish(page);
    await expectPath(page, '/operator/plans');
    await page.getByRole('link', { name: 'team' }).waitFor();
    await expectClean(visitor);

    await page.goto(`${base()}/catalog/edit/model/copied`);
    await page.getByRole('button', { name: 'Remove', exact: true }).first().click();
    await expectPath(page, '/operator/catalog');
    await page.getByRole('button', { name: /^Line \d+, column \d+$/ }).click();
    const area = page.getByLabel('Catalog file');
    const selected = await area.evaluate((each: unknown) => {
      const { value, selectionStart } = each as { value: string; selectionStart: number };
      return value.slice(0, selectionStart);
    });
    expect(selected).toEndWith('models = [');
    await area.fill((await area.inputValue()).replace(/\n\[plan\.team\]\n(?:.+\n)+/, ''));
    await page.locator('.difference .removed', { hasText: '[plan.team]' }).waitFor();
    await expectClean(visitor);
    await publish(page);
    await expectText(page, 'Published. The server uses it now.');
    expect(text()).not.toMatch(/team|copied/);

    await page.getByRole('button', { name: 'Undo the last publication' }).click();
    await page.locator('.difference .added', { hasText: '[plan.team]' }).waitFor();
    await page.getByRole('button', { name: 'Discard' }).click();
  });

  test('an upstream is tested, its literal key is not on the page and stays in the file', async () => {
    await using visitor = await visit(base());
    const { page } = visitor;
    const seen: string[] = [];
    page.on('response', async (response) => {
      if (response.url().includes('/api/')) seen.push(await response.text().catch(() => ''));
    });
    await openSignedIn(visitor, rig.operator, '/upstreams/scripted');
    await page.getByRole('link', { name: 'Edit' }).click();
    expect(await page.getByLabel('Key', { exact: true }).inputValue()).toStartWith('<kept ');
    await page.getByLabel('Queued requests').fill('9');
    await page.getByRole('button', { name: 'Test', exact: true }).click();
    await page.getByLabel('Model at the upstream').fill('ok');
    await page.locator('dialog').getByRole('button', { name: 'Test', exact: true }).click();
    await expectText(page, 'Answered');
    await expectText(page, 'cached_tokens');
    await expectClean(visitor);
    await page.locator('dialog').getByRole('button', { name: 'Close' }).last().click();
    const key = page.getByLabel('Key', { exact: true });
    const kept = await key.inputValue();
    await key.fill(`\${NOT_THERE}`);
    await review(page);
    await page.locator('.field .error', { hasText: 'needs the variable NOT_THERE' }).waitFor();
    await key.fill(kept);
    await page.locator('.difference .added', { hasText: 'queue_length = 9' }).waitFor();
    await publish(page);
    await expectPath(page, '/operator/upstreams/scripted');
    await waitUntil(() => seen.length > 5, 10_000);
    expect(seen.join()).not.toContain(UPSTREAM_KEY);
    expect(text()).toContain(UPSTREAM_KEY);
    expect(text()).toContain('queue_length = 9');
  });

  test('the built-in catalog can be drafted, not published, and says what to do', async () => {
    await using mailbox = await openMailbox();
    await using gateway = await startGateway({ environment: openSignUp(mailbox) });
    const operator = await createOperator(gateway);
    await using visitor = await visit(`${gateway.operatorUrl()}/operator`);
    const { page } = visitor;
    await openSignedIn(visitor, operator, '/catalog/edit/model/demo-chat');
    await expectText(page, 'The built-in demonstration catalog serves, and it has no file.');
    await page.getByLabel('Maximum output').fill('5');
    await review(page);
    await page.locator('.difference .added', { hasText: 'max_output = 5' }).waitFor();
    expect(await page.getByRole('button', { name: 'Publish', exact: true }).isDisabled()).toBe(
      true,
    );
    await expectClean(visitor);
  });
});
