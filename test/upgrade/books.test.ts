// Upgrades of recorded books: those of each released version, and fresh ones of the version before,
// with a real migration. Each is migrated, audited and served by the newer executable.

import { describe, expect, setDefaultTimeout, test } from 'bun:test';
import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { verifyMonth } from '../../src/operations/archive/verify.ts';
import type { Dialect } from '../../src/store/contract.ts';
import { temporaryDirectory } from '../support/database.ts';
import { gatewayCommand, runCommand } from '../support/gateway.ts';
import { describeWithServices, type ServiceName } from '../support/services.ts';
import { expectServed, refusalOf } from './expectations.ts';
import { monthOf } from './month.ts';
import { NEXT_MIGRATION } from './next-version.ts';
import {
  type Place,
  readRecording,
  record,
  recordedVersions,
  recordingFolder,
  restore,
} from './recording.ts';
import { type Versions, versionsOfUpgrade } from './versions.ts';

setDefaultTimeout(300_000);

const folder = temporaryDirectory();
const newPlace = (): string => mkdtempSync(join(folder, 'place-'));
const [newest = ''] = gatewayCommand();

const DATABASES: readonly [Dialect, readonly ServiceName[]][] = [
  ['sqlite', []],
  ['postgres', ['PostgreSQL']],
];

/** Built once, for both databases. */
let versions: Promise<Versions> | undefined;

/** The first version that promises upgrades: the migrations of earlier ones may be replaced. */
const FIRST_PROMISE = '1.0.0';

for (const [dialect, services] of DATABASES) {
  describeWithServices(`recorded books in ${dialect}`, services, () => {
    for (const version of recordedVersions()) {
      test(`of ${version} are migrated, audited and served by this version`, async () => {
        const recording = await readRecording(version, dialect);
        const place = await restore(recording, dialect, newPlace());
        const status = await migrationStatus(newest, place);
        const isReplaced = status.includes('not made by this line of versions');
        if (isReplaced && Bun.semver.order(version, FIRST_PROMISE) < 0) {
          process.stderr.write(`${version} promised no upgrade, and its migration was replaced.\n`);
          expect(await refusalOf(newest, place)).toContain('not made by this line of versions');
          return;
        }
        await expectServed(newest, place, recording);
      });
    }
  });

  describeWithServices(`fresh books in ${dialect}`, services, () => {
    test('are migrated by the next version, which the one before then refuses', async () => {
      versions ??= versionsOfUpgrade(newPlace());
      const { previous, next, isRehearsal } = await versions;
      const recording = await record(previous, dialect, newPlace());
      const place = await restore(recording, dialect, newPlace());
      const pending = await migrationStatus(next, place);
      if (isRehearsal) expect(pending).toContain(NEXT_MIGRATION.tag);
      if (isRehearsal && dialect === 'sqlite') await expectCopied(next, place);
      await expectServed(next, place, recording);
      if (!isRehearsal) return;

      const refusal = await refusalOf(previous, place);
      expect(refusal).toContain('migrated by a newer version of Tollgate');
      expect(refusal).toContain('tollgate docs backup-and-upgrade');
      // The way back that the sentence names: the books as they were before the upgrade.
      await expectServed(previous, await restore(recording, dialect, newPlace()), recording);
    });
  });
}

describe('the archived month', () => {
  test.each([...recordedVersions()])('of %s is verified by this version', async (version) => {
    const files = monthOf(recordingFolder(version));
    const { problems, totals } = await verifyMonth(files);
    expect(problems).toEqual([]);
    expect(totals.requests).toBeGreaterThan(10);
    const { stdout } = await runCommand(newPlace(), {}, ['receipts', 'verify', files.receipts]);
    expect(stdout).toContain('ok');
  });
});

describe('the names of recorded versions', () => {
  test('are versions', () => {
    for (const version of recordedVersions()) expect(version).toMatch(/^\d+\.\d+\.\d+$/);
  });
});

/** A later version copies the books before it migrates them, and does not claim that they are right. */
async function expectCopied(binary: string, { directory, environment }: Place): Promise<void> {
  const settings = { PATH: process.env['PATH'] ?? '', ...environment };
  const run = (...words: string[]) =>
    runCommand(directory, settings, [...words, '--json'], { binary });
  const copied = await run('backup', 'before.db');
  expect(JSON.parse(copied.stdout)).toMatchObject({ backup: { differences: null } });
  const compared = await run('restore', 'before.db');
  expect(JSON.parse(compared.stdout)).toMatchObject({
    restore: { replaced: false, differences: null, present: 'compared' },
  });
}

/** What `migrate --status` prints, or why it fails. */
async function migrationStatus(binary: string, place: Place): Promise<string> {
  const { directory, environment } = place;
  const settings = { PATH: process.env['PATH'] ?? '', ...environment };
  const { stdout, stderr } = await runCommand(directory, settings, ['migrate', '--status'], {
    binary,
  });
  return `${stdout}${stderr}`;
}
