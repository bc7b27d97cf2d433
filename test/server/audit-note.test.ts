// The findings of the auditing node reach the others, and nothing else does.

import { afterAll, expect, test } from 'bun:test';
import { createAuditNoteReader, writeAuditNote } from '../../src/server/audit-note.ts';
import type { SharedAudit } from '../../src/server/self-audit.ts';
import { writeNote } from '../../src/store/server-notes.ts';
import { newDatabase, temporaryDirectory } from '../support/database.ts';

const database = await newDatabase(temporaryDirectory());
afterAll(() => database.close());

const FOUND: SharedAudit = {
  failure: undefined,
  last: { startedAt: 1, endedAt: 2, ok: true, count: 1 },
  differences: [{ kind: 'posted', accountId: 'acct_1', subject: 'acct_1', detail: '1 off' }],
};

test('a finding is read once by every other boot, and not by the one that wrote it', async () => {
  const other = createAuditNoteReader(database);
  const own = createAuditNoteReader(database);
  expect(await other.read('boot_b')).toBeUndefined();
  await writeAuditNote(database, 'boot_a', FOUND, 5);
  expect(await other.read('boot_b')).toEqual(FOUND);
  expect(await other.read('boot_b')).toBeUndefined();
  expect(await own.read('boot_a')).toBeUndefined();
  const failed: SharedAudit = { failure: 'no', last: undefined, differences: [] };
  await writeAuditNote(database, 'boot_a', failed, 6);
  expect(await other.read('boot_b')).toEqual(failed);
});

test('an old look does not take the place of a newer one', async () => {
  const clean: SharedAudit = { failure: undefined, last: undefined, differences: [] };
  expect(await writeAuditNote(database, 'boot_a', FOUND, 20)).toBe(true);
  expect(await writeAuditNote(database, 'boot_b', clean, 19)).toBe(false);
  expect(await createAuditNoteReader(database).read('boot_c')).toEqual(FOUND);
  expect(await writeAuditNote(database, 'boot_b', clean, 20)).toBe(true);
  expect(await createAuditNoteReader(database).read('boot_c')).toEqual(clean);
});

test.each(['', '{', '{"boot":"boot_a"}', '[]'])(
  '%p of another version is nothing',
  async (text) => {
    await writeNote(database, 'audit', text, 7);
    expect(await createAuditNoteReader(database).read('boot_b')).toBeUndefined();
  },
);
