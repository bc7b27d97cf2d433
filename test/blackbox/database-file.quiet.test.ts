// A running server notices within a second that its database file is gone.

import { expect, test } from 'bun:test';
import { renameSync } from 'node:fs';
import { startGateway } from '../support/gateway.ts';
import { waitUntil } from '../support/upstream.ts';

test('a file that is moved away is noticed within a second', async () => {
  await using gateway = await startGateway();
  renameSync(gateway.databasePath, `${gateway.databasePath}.away`);
  const movedAt = performance.now();
  await waitUntil(async () => (await fetch(`${gateway.url}/readyz`)).status === 503);
  // The second half is for what a request takes.
  expect(performance.now() - movedAt).toBeLessThan(1_500);
});
