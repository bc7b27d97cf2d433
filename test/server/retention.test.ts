// How a server reports that a run of retention could not start.

import { expect, test } from 'bun:test';
import type { Alert } from '../../src/core/alert.ts';
import { createRetention } from '../../src/server/retention.ts';
import { waitUntil } from '../support/upstream.ts';

test('a run whose thread cannot start is a warning and an alert', async () => {
  const lines: string[] = [];
  const alerts: Alert[] = [];
  const retention = createRetention({
    url: 'sqlite:unused.db',
    directory: 'unused',
    retentionDays: 30,
    clock: Date.now,
    monotonic: () => performance.now(),
    log: { info: () => {}, error: (line: string) => void lines.push(line) },
    alert: (alert) => alerts.push(alert),
    firstMs: 0,
    startThread: () => {
      throw new Error('no descriptor is left');
    },
  });
  const stop = retention.begin();
  await waitUntil(() => alerts.length > 0);
  expect(alerts).toEqual([{ kind: 'archive_failed', reason: 'failed' }]);
  expect(lines).toEqual(['archive: no descriptor is left']);
  expect(retention.warnings()).toHaveLength(1);
  expect(retention.state()).toMatchObject({ failed: 1, isFailing: true });
  stop();
  expect(retention.warnings()).toEqual([]);
});
