// What a restore says would be lost, where requests that the copy lacks are in archives by now.

import { expect, test } from 'bun:test';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { sql } from 'drizzle-orm';
import { compareWithCopy } from '../../src/operations/restore.ts';
import { copyInto } from '../../src/store/sqlite-copy.ts';
import { temporaryDirectory } from '../support/database.ts';
import { archiveAll, BEGIN_MS, live, openPast, type PastEvent } from './archive/past.ts';

const DAY_MS = 86_400_000;

const EVENTS: readonly PastEvent[] = Array.from({ length: 30 }, (_, at) => ({
  account: at % 2,
  what: at < 2 || at % 7 === 0 ? 'credit' : 'settle',
  afterHours: 80,
}));

test('counts requests that were booked after the copy and archived since', async () => {
  const directory = temporaryDirectory();
  await using open = await openPast(directory);
  const { database } = open;
  const first = await live(open, EVENTS, BEGIN_MS);
  const copy = join(directory, 'copy.db');
  writeFileSync(copy, '');
  copyInto(database, copy);
  const later = await live(
    open,
    [...EVENTS, { account: 2, what: 'credit', afterHours: 0 }],
    first.nowMs,
  );
  const before = compareWithCopy(database, copy);
  expect(before.requests).toBe(later.ids.length);
  expect(before.debited).toBeGreaterThan(0n);

  // The cut is behind the copy, so its own requests are archived, too.
  const { removed } = await archiveAll(
    open,
    join(directory, 'archive'),
    first.nowMs + 100 * DAY_MS,
  );
  expect(removed).toBeGreaterThan(first.ids.length);
  const [left] = await database.rows<{ rows: bigint }>(sql`select count(*) as rows from requests`);
  expect(Number(left?.rows)).toBeLessThan(later.ids.length);
  const after = compareWithCopy(database, copy);
  expect({ ...after, foreign: 0 }).toEqual({ ...before, foreign: 0 });
});
