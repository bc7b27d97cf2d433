// The timing of automatic backups and what they say, with a clock of the test and a copy that is a file.
// test/blackbox/backups.test.ts makes real ones.

import { afterAll, expect, test } from 'bun:test';
import { mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { wordsOf } from '../../src/core/sentence.ts';
import type { BackupReport } from '../../src/server/backup-run.ts';
import { createBackups } from '../../src/server/backups.ts';
import { databaseBegan } from '../../src/store/server-notes.ts';
import { temporaryDirectory } from '../support/database.ts';
import { addAccount, closeBooks, NOW, openBooks } from '../support/ledger.ts';
import { mountSmallDisk } from '../support/small-disk.ts';
import { waitUntil } from '../support/upstream.ts';

const folder = temporaryDirectory();

const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;
const LOOK_MS = 5;

const MADE: BackupReport = { kind: 'made', bytes: 6, differences: 0 };
const FAILED: BackupReport = { kind: 'failed', message: 'no copy' };

type Change = Partial<Parameters<typeof createBackups>[0]>;

/** Daily backups of which `time.report` says what became of them. */
function startBackups(change: Change = {}) {
  const directory = change.directory ?? mkdtempSync(join(folder, 'backups-'));
  const time = { nowMs: Date.UTC(2026, 10, 27), report: MADE as BackupReport };
  const alerts: unknown[] = [];
  const backups = createBackups({
    ...{ directory, database: join(directory, 'no-such/tollgate.db') },
    ...{ everyMs: 24 * HOUR_MS, keep: 7, lookMs: LOOK_MS, isInPlace: () => true },
    beganMs: async () => 0,
    clock: () => time.nowMs,
    monotonic: () => time.nowMs,
    log: { info: () => undefined, warn: () => undefined, error: () => undefined },
    alert: (alert) => alerts.push(alert),
    run(path) {
      const { report } = time;
      if (report.kind === 'made') writeFileSync(path, 'a copy');
      return { report: Promise.resolve(report), stop: () => undefined };
    },
    ...change,
  });
  const stop = backups.start();
  const names = () => readdirSync(directory).filter((name) => name.endsWith('.db'));
  return { ...backups, directory, time, alerts, names, [Symbol.dispose]: stop };
}

test('warns of a failed backup at once, and of an old one after one and a half intervals', async () => {
  using backups = startBackups();
  const { time } = backups;
  await waitUntil(() => backups.state().made === 1);
  expect(backups.warnings().map(wordsOf)).toEqual([]);
  time.report = FAILED;
  time.nowMs += 24 * HOUR_MS;
  await waitUntil(() => backups.state().failed === 1);
  expect(backups.warnings().map(wordsOf)).toEqual(['the last backup failed']);
  expect(backups.alerts).toEqual([{ kind: 'backup_failed', reason: 'failed' }]);
  time.nowMs += 13 * HOUR_MS;
  expect(backups.warnings().map(wordsOf)).toEqual([
    'the last backup failed',
    'the newest backup is 37 hours old',
  ]);
  time.report = MADE;
  await waitUntil(() => backups.state().made === 2);
  expect(backups.warnings().map(wordsOf)).toEqual([]);
});

test('keeps a copy that was not audited as unverified, and does not count it', async () => {
  using backups = startBackups();
  const { time } = backups;
  time.report = { kind: 'made', bytes: 6, differences: null };
  await waitUntil(() => backups.state().failed === 1);
  expect(readdirSync(backups.directory).filter((name) => name.includes('.db'))).toEqual([
    'tollgate-20261127T000000Z.db.unverified',
  ]);
  expect(backups.alerts).toEqual([{ kind: 'backup_failed', reason: 'unaudited' }]);
  expect(backups.warnings().map(wordsOf)).toEqual([
    'the last backup failed',
    'there is no verified backup',
  ]);
});

test('makes another backup within minutes where the last one was removed', async () => {
  using backups = startBackups();
  const { time, directory } = backups;
  await waitUntil(() => backups.state().made === 1);
  const [first = ''] = backups.names();
  rmSync(join(directory, first));
  time.report = FAILED;
  time.nowMs += 2 * MINUTE_MS;
  await waitUntil(() => backups.state().failed === 1);
  expect(backups.state().kept).toBe(0);
  expect(backups.warnings().map(wordsOf)).toEqual([
    'the last backup failed',
    'there is no verified backup',
  ]);
  time.report = MADE;
  time.nowMs += 6 * MINUTE_MS;
  await waitUntil(() => backups.names().length === 1);
});

test('backups from before the database was new neither count nor give way', async () => {
  const directory = mkdtempSync(join(folder, 'backups-'));
  const old = 'tollgate-20261126T230000Z.db';
  writeFileSync(join(directory, old), 'a copy');
  const warnings: string[] = [];
  using backups = startBackups({
    ...{ directory, keep: 1, beganMs: async () => Date.UTC(2026, 10, 27) },
    log: { info: () => undefined, warn: (text) => warnings.push(text), error: () => undefined },
  });
  // The old one is an hour old.
  await waitUntil(() => backups.state().made === 1);
  backups.time.nowMs += 24 * HOUR_MS;
  await waitUntil(() => backups.state().made === 2);
  expect(backups.names().toSorted()).toEqual([old, 'tollgate-20261128T000000Z.db']);
  expect(backups.state().kept).toBe(1);
  expect(warnings).toEqual([
    expect.stringContaining('older than this database or its restore (1)'),
  ]);
});

test('a clock that is behind the beginning of the database removes none of those before it', async () => {
  const directory = mkdtempSync(join(folder, 'backups-'));
  const old = ['tollgate-20261125T000000Z.db', 'tollgate-20261126T000000Z.db'];
  const own = ['tollgate-20261128T000000Z.db', 'tollgate-20261129T000000Z.db'];
  for (const name of [...old, ...own]) writeFileSync(join(directory, name), 'a copy');
  using backups = startBackups({ directory, keep: 1, beganMs: async () => Date.UTC(2026, 10, 27) });
  backups.time.nowMs = 0;
  await waitUntil(() => backups.state().made === 1);
  expect(backups.names()).toEqual(expect.arrayContaining(old));
  expect(backups.warnings().map(wordsOf)).toEqual([expect.stringContaining('the clock is behind')]);
  backups.time.nowMs = Date.UTC(2026, 10, 30);
  await waitUntil(() => backups.state().made === 2);
  expect(backups.warnings().map(wordsOf)).toEqual([]);
  expect(backups.names().toSorted()).toEqual([
    'tollgate-19700101T000000Z.db',
    ...old,
    'tollgate-20261130T000000Z.db',
  ]);
});

test('a clock that is behind at the first look removes none of the backups that it finds', async () => {
  const directory = mkdtempSync(join(folder, 'backups-'));
  const old = ['tollgate-20261125T000000Z.db', 'tollgate-20261126T000000Z.db'];
  for (const name of old) writeFileSync(join(directory, name), 'a copy');
  await using empty = await openBooks(folder);
  const warned: string[] = [];
  using backups = startBackups({
    ...{ directory, keep: 1, beganMs: (afterMs) => databaseBegan(empty.database, 0, afterMs) },
    log: { info: () => undefined, warn: (text) => warned.push(text), error: () => undefined },
  });
  backups.time.nowMs = 0;
  await waitUntil(() => backups.state().made === 1);
  expect(warned).toEqual([]);
  backups.time.nowMs = Date.UTC(2026, 10, 30);
  await waitUntil(() => backups.state().made === 2);
  expect(backups.names()).toEqual(expect.arrayContaining(old));
  expect(warned).toEqual([expect.stringContaining('older than this database')]);
});

test('a database began with its first account, or when a server asked before', async () => {
  const empty = await openBooks(folder);
  expect(await databaseBegan(empty.database, NOW - 7, 0)).toBe(NOW - 7);
  await addAccount(empty, 'acct_a');
  expect(await databaseBegan(empty.database, NOW + 7, NOW + 9)).toBe(NOW - 7);
  await using filled = await openBooks(folder);
  await addAccount(filled, 'acct_a');
  expect(await databaseBegan(filled.database, NOW + 7, NOW + 9)).toBe(NOW);
  await closeBooks(empty);
});

const disk = mountSmallDisk(80);
afterAll(() => disk?.remove());

test.skipIf(disk === undefined)(
  'ends a copy that leaves no room for the log of the database',
  async () => {
    const begun = Promise.withResolvers<void>();
    const ended = Promise.withResolvers<BackupReport>();
    // Behind a link, which is on another disk.
    const database = join(folder, 'linked.db');
    writeFileSync(join(disk?.path ?? '', 'tollgate.db'), '');
    symlinkSync(join(disk?.path ?? '', 'tollgate.db'), database);
    using backups = startBackups({
      database,
      run() {
        begun.resolve();
        return { report: ended.promise, stop: () => ended.resolve(FAILED) };
      },
    });
    await begun.promise;
    disk?.leave(1_024 * 1_024);
    await waitUntil(() => backups.state().failed === 1);
    expect(backups.alerts).toEqual([{ kind: 'backup_failed', reason: 'space' }]);
  },
);
