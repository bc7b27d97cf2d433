// The names of backups, when one is due, and which ones are removed.

import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import {
  type BackupFile,
  backupName,
  findBackups,
  findRemains,
  isDue,
  isSince,
  newestVerified,
  prunable,
} from '../../src/core/backup-files.ts';

const AT = Date.UTC(2026, 10, 23, 7, 41, 0);

/** Behind every drawn time. */
const LATER = AT + 100_000_000;

const names = fc.uniqueArray(
  fc.record({ second: fc.integer({ min: 0, max: 99_999 }), verified: fc.boolean() }),
  { selector: ({ second }) => second, maxLength: 30 },
);

function filesOf(drawn: readonly { second: number; verified: boolean }[]): BackupFile[] {
  const all = drawn.map(({ second, verified }) => {
    return `${backupName('tollgate', AT + second * 1_000)}${verified ? '' : '.unverified'}`;
  });
  return findBackups(all, 'tollgate');
}

test('a name says when the copy began', () => {
  const name = backupName('tollgate', AT);
  expect(name).toBe('tollgate-20261123T074100Z.db');
  expect(findBackups([name, `${name}.unverified`], 'tollgate')).toEqual([
    { name, atMs: AT, verified: true },
    { name: `${name}.unverified`, atMs: AT, verified: false },
  ]);
});

test('files of others, and copies in progress, are no backups', () => {
  const foreign = [
    ...['tollgate.db', 'notes.txt', 'tollgate-20261123T074100Z.db.partial'],
    ...['other-20261123T074100Z.db', 'tollgate-20261399T999999Z.db', 'tollgate-2026.db'],
    'tollgate-20261123T074100Z.db.gz',
  ];
  expect(findBackups(foreign, 'tollgate')).toEqual([]);
});

test('only what an interrupted backup of this database has left is removed', () => {
  const name = 'tollgate-20261123T074100Z.db.partial';
  const all = [name, `${name}-journal`, 'tollgate-20261123T074100Z.db', 'notes.partial'];
  expect(findRemains([...all, `other-${name}`], 'tollgate')).toEqual([name, `${name}-journal`]);
});

describe('a backup is due', () => {
  test.each([
    ['without any', undefined, true],
    ['as old as the interval', AT - 3_600_000, true],
    ['younger', AT - 3_599_999, false],
    ['from the future, because the clock was set back', AT + 1, true],
  ] as const)('%s', (_name, newest, expected) => {
    expect(isDue(newest, AT, 3_600_000)).toBe(expected);
  });
});

test('a backup is of the database that was new before it', () => {
  const file = { name: 'a', atMs: AT, verified: true };
  expect(isSince(file, AT + 999)).toBe(true);
  expect(isSince(file, AT + 1_000)).toBe(false);
});

describe('pruning', () => {
  test('leaves the newest verified ones, and at most one unverified', () => {
    fc.assert(
      fc.property(names, fc.integer({ min: 1, max: 8 }), (drawn, keep) => {
        const files = filesOf(drawn);
        const removed = prunable(files, keep, undefined, LATER);
        const left = files.filter((file) => !removed.includes(file));
        const verified = files.filter((file) => file.verified);
        expect(left.filter((file) => file.verified)).toEqual(verified.slice(0, keep));
        expect(left.filter((file) => !file.verified)).toEqual(
          files.filter((file) => !file.verified).slice(0, 1),
        );
      }),
    );
  });

  test('never removes the last verified one, or the one that was just made', () => {
    fc.assert(
      fc.property(names, fc.integer({ min: 1, max: 8 }), fc.nat(), (drawn, keep, index) => {
        const files = filesOf(drawn);
        const made = files[index % Math.max(1, files.length)];
        const removed = prunable(files, keep, made?.name.replace('.unverified', ''), LATER);
        expect(removed).not.toContain(made as BackupFile);
        const newest = files.find(({ verified }) => verified);
        if (newest !== undefined) expect(removed).not.toContain(newest);
      }),
    );
  });
});

test('backups of a clock that was ahead neither hide an old one nor keep the place of new ones', () => {
  const hours = (count: number) => AT + count * 3_600_000;
  const files = findBackups(
    [-3, -2, -1, 9_000, 9_001].map((count) => backupName('tollgate', hours(count))),
    'tollgate',
  );
  expect(newestVerified(files, AT)?.atMs).toBe(hours(-1));
  expect(newestVerified(files.slice(0, 2), AT)?.atMs).toBe(hours(9_001));
  expect(newestVerified([], AT)).toBeUndefined();
  const removed = prunable(files, 3, undefined, AT).map(({ atMs }) => atMs);
  expect(removed.toSorted()).toEqual([hours(9_000), hours(9_001)]);
});
