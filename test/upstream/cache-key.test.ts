// The key by which a vendor finds the prompt of a conversation in its cache.

import { afterAll, beforeAll, expect, test } from 'bun:test';
import { affinityOf } from '../../src/core/conversation.ts';
import { requestWith, user } from '../support/request.ts';
import { type AttemptRig, startAttemptRig } from './rig.ts';

let rig: AttemptRig;

beforeAll(async () => {
  rig = await startAttemptRig({});
});

afterAll(() => rig.close());

const tools = [{ name: 'f', parameters: {} }];
const conversation = (account: string) => affinityOf(account, requestWith({ tools }));

async function keyWith(cacheKey: 'send' | 'omit', affinity: ReturnType<typeof conversation>) {
  const more = affinity === undefined ? {} : { affinity };
  await rig.run('ok', { profile: { cacheKey }, turns: [user('Hi')], ...more });
  return rig.upstream.requests.at(-1)?.body['prompt_cache_key'];
}

test('is sent for a conversation where the profile says so, another for each account', async () => {
  const key = await keyWith('send', conversation('a'));
  expect(key).toMatch(/^[0-9a-z]{6,12}$/);
  expect(await keyWith('send', conversation('a'))).toBe(key);
  expect(await keyWith('send', conversation('b'))).not.toBe(key);
});

test('is not sent without a conversation, or where the profile does not say so', async () => {
  expect(await keyWith('send', undefined)).toBeUndefined();
  expect(await keyWith('omit', conversation('a'))).toBeUndefined();
});
