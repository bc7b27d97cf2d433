// The laws of archives over drawn pasts: archiving and restoring at any cut change no balance, no
// sum, no receipt and no row, and the audit finds nothing wrong at any time.

import { expect, test } from 'bun:test';
import { mkdtempSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import fc from 'fast-check';
import { type ArchivedMonth, listArchives } from '../../../src/ledger/archive/anchors.ts';
import { audit } from '../../../src/ledger/audit.ts';
import { monthFiles } from '../../../src/operations/archive/files.ts';
import { archivesToRestore, restoreMonth } from '../../../src/operations/archive/restore.ts';
import { exportReceipts } from '../../../src/operations/receipts.ts';
import type { Database } from '../../../src/store/contract.ts';
import { describeOnEachDatabase, temporaryDirectory, testDialect } from '../../support/database.ts';
import {
  ACCOUNTS,
  addUp,
  archiveAll,
  BEGIN_MS,
  live,
  openPast,
  type PastEvent,
  requestRows,
  sums,
} from './past.ts';

const DAY_MS = 86_400_000;

const event: fc.Arbitrary<PastEvent> = fc.record({
  account: fc.nat(2),
  what: fc.constantFrom('credit', 'settle', 'settle', 'settle', 'release', 'lose', 'take back'),
  afterHours: fc.constantFrom(0, 1, 20, 200, 400),
});

/** The receipts of an account, without the line that ends an export. */
async function receiptsOf(database: Database, accountId: string): Promise<string[]> {
  const found = await exportReceipts(database, accountId, undefined).catch(() => undefined);
  const pieces = found === undefined ? [] : await Array.fromAsync(found.pieces);
  return pieces.join('').split('\n').slice(0, -2);
}

function receiptsIn(directory: string, archives: readonly ArchivedMonth[]): string[] {
  return archives.flatMap((archive) =>
    gunzipSync(readFileSync(monthFiles(directory, archive).receipts))
      .toString()
      .split('\n')
      .slice(0, -2),
  );
}

describeOnEachDatabase('archives', () => {
  const directory = temporaryDirectory();

  test('archive and restore are inverse at any cut, and every law holds in between', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(event, { minLength: 1, maxLength: 40 }),
        fc.array(event, { maxLength: 8 }),
        fc.nat(400),
        fc.nat(200),
        async (past, later, cutDays, backDays) => {
          const archives = mkdtempSync(join(directory, 'archive-'));
          await using open = await openPast(directory);
          const { database } = open;
          await live(open, [{ account: 0, what: 'credit', afterHours: 0 }], BEGIN_MS);
          const { nowMs } = await live(open, past, BEGIN_MS);
          await addUp(database);
          const before = await sums(database);
          const rows = await requestRows(database);
          const receipts = new Map<string, string[]>();
          for (const id of ACCOUNTS) receipts.set(id, await receiptsOf(database, id));

          const cutMs = BEGIN_MS + (cutDays + 31) * DAY_MS;
          const report = await archiveAll(open, archives, cutMs);
          expect(report.problems).toEqual([]);
          expect(await audit(database)).toEqual([]);
          expect(await sums(database)).toEqual(before);
          for (const id of ACCOUNTS) {
            const archived = receiptsIn(archives, await listArchives(database.db, id));
            const rest = await receiptsOf(database, id);
            expect([...archived, ...rest]).toEqual(receipts.get(id) ?? []);
          }
          // Nothing is left to do.
          expect(await archiveAll(open, archives, cutMs)).toEqual({
            ...{ months: 0, requests: 0, removed: 0, problems: [], said: [] },
          });

          // The chain goes on behind the cut, and is archived and audited again.
          await live(open, later, Math.max(nowMs, cutMs));
          expect(await audit(database)).toEqual([]);
          await archiveAll(open, archives, cutMs + backDays * DAY_MS);
          expect(await audit(database)).toEqual([]);
          const sumsNow = await sums(database);

          const all = await listArchives(database.db);
          const month = all[backDays % Math.max(1, all.length)]?.month;
          if (month !== undefined) {
            for (const archive of await archivesToRestore(database, { month })) {
              await restoreMonth(database, archives, archive, async () => undefined);
              expect(await audit(database)).toEqual([]);
            }
          }
          for (const archive of (await listArchives(database.db)).toReversed()) {
            await restoreMonth(database, archives, archive, async () => undefined);
          }
          expect(await listArchives(database.db)).toEqual([]);
          expect(await audit(database)).toEqual([]);
          expect(await sums(database)).toEqual(sumsNow);
          const restored = await requestRows(database);
          expect(restored.slice(0, rows.length)).toEqual([...rows]);
          for (const id of ACCOUNTS) {
            const own = receipts.get(id) ?? [];
            expect((await receiptsOf(database, id)).slice(0, own.length)).toEqual(own);
          }
        },
      ),
      { numRuns: testDialect() === 'sqlite' ? 25 : 8 },
    );
  }, 120_000);
});
