// Keys in the browser while clients use them: a stream survives the rotation of its key, and the next
// request with a revoked key is rejected.

import { afterAll, beforeAll, expect, test } from 'bun:test';
import { describeInBrowser } from '../support/browser.ts';
import { post, requestBody } from '../support/client.ts';
import {
  askOnce,
  expectClean,
  expectText,
  makeKey,
  openRig,
  openSignedIn,
  type Rig,
  shownKey,
} from './rig.ts';

const SLOW = 'slow-tokens-60-50';

let rig: Rig;

describeInBrowser('keys in the page', ({ visit }) => {
  beforeAll(async () => {
    rig = await openRig(['ok', SLOW]);
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
    await expectText(page, 'Your replacement key');
    const fresh = await shownKey(page);
    expect(fresh).not.toBe(old);
    expect(await askOnce(rig, old)).toEqual([401, 'invalid_api_key']);
    expect(await askOnce(rig, fresh)).toEqual([200, undefined]);
    expect(ended).toBe(false);
    expect(await text).toEndWith('data: [DONE]\n\n');
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
    await expectText(page, 'Revoked');
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
});
