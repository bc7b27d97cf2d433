// A running server notices within a second that its database file is gone.

import { expect, test } from 'bun:test';
import { mkdtempSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
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

test('so is the log of a database behind a link, which is beside its target', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-target-'));
  try {
    const link = join(folder, 'link.db');
    symlinkSync(join(folder, 'target.db'), link);
    await using gateway = await startGateway({
      environment: { DATABASE_URL: `sqlite:${link}` },
    });
    renameSync(join(folder, 'target.db-wal'), join(folder, 'away'));
    await waitUntil(async () => (await fetch(`${gateway.url}/readyz`)).status === 503);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
