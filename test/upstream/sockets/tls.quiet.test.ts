// How long an upstream that never shakes hands is waited for.

import { expect, test } from 'bun:test';
import { waitUntil } from '../../support/upstream.ts';
import { createCaller, startRawServer } from './rig.ts';

test('a server that never shakes hands costs the connect time and no more', async () => {
  await using silent = await startRawServer(() => {});
  using caller = createCaller(silent.port);
  const startedAt = performance.now();
  expect(
    await caller.call({ baseUrl: `https://127.0.0.1:${silent.port}`, connectMs: 200 }),
  ).toEqual({
    class: 'timeout',
    phase: 'connect',
    detail: 'no connection within 200 ms',
  });
  expect(performance.now() - startedAt).toBeLessThan(2_000);
  await waitUntil(() => silent.open() === 0);
});
