// What can go wrong with archives: an interrupted run, rows and anchors that were changed behind the
// server, files of an older history, usage that is not in the series yet.

import { afterAll, expect, setDefaultTimeout, test } from 'bun:test';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { listArchives } from '../../../src/ledger/archive/anchors.ts';
import { audit } from '../../../src/ledger/audit.ts';
import { createRequestList } from '../../../src/ledger/request-list.ts';
import { monthFiles, PART } from '../../../src/operations/archive/files.ts';
import { restoreMonth } from '../../../src/operations/archive/restore.ts';
import { runRetention } from '../../../src/operations/archive/run.ts';
import { verifyReceipts } from '../../../src/operations/receipts.ts';
import {
  describeOnEachDatabase,
  dropGuards,
  tamper,
  temporaryDirectory,
} from '../../support/database.ts';
import { closeBooks, type OpenBooks } from '../../support/ledger.ts';
import { mountSmallDisk, type SmallDisk } from '../../support/small-disk.ts';
import {
  ACCOUNTS,
  addUp,
  archiveAll,
  BEGIN_MS,
  live,
  openPast,
  type PastEvent,
  requestRows,
} from './past.ts';

setDefaultTimeout(60_000);

/** Some months are archived, and some requests stay. */
const CUT_MS = BEGIN_MS + 130 * 86_400_000;

/** Each account: money, then an answer every ten days, and more money in between. */
const EVENTS: readonly PastEvent[] = Array.from({ length: 45 }, (_, at) => ({
  account: at,
  what: at < 3 || at % 7 === 0 ? 'credit' : 'settle',
  afterHours: 80,
}));

/** Five hundredths of it are for the database. */
const disk = mountSmallDisk(40);
const RESERVE_BYTES = 2 * 1_024 * 1_024;
afterAll(() => disk?.remove());

/** Unfinished files. */
function partsIn(folder: string): readonly string[] {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  return names.filter((name) => name.endsWith(PART));
}

describeOnEachDatabase('archives', () => {
  const directory = temporaryDirectory();
  const newFolder = () => mkdtempSync(join(directory, 'archive-'));

  async function openStory(): Promise<OpenBooks> {
    const open = await openPast(directory);
    await live(open, EVENTS, BEGIN_MS);
    return open;
  }

  test('a run that is interrupted at any step is finished by the next one', async () => {
    const whole = await openStory();
    await archiveAll(whole, newFolder(), CUT_MS);
    const expected = (await listArchives(whole.database.db)).map(({ requests }) => requests);
    const left = (await requestRows(whole.database)).length;
    await closeBooks(whole);
    for (let steps = 0; steps < 60; steps += 7) {
      const open = await openStory();
      const { database } = open;
      const folder = newFolder();
      await addUp(database);
      let rests = steps;
      const interrupted = runRetention({
        ...{ database, directory: folder, nowMs: CUT_MS, retentionDays: 31 },
        log: () => undefined,
        async rest() {
          rests -= 1;
          if (rests < 0) throw new Error('a crash');
        },
        removal: {
          ...{ monotonic: () => performance.now(), stepMs: 1, pauseMs: 0 },
          isStopped: () => rests < 1,
        },
      });
      await interrupted.catch(() => undefined);
      expect(await audit(database)).toEqual([]);
      const { problems } = await archiveAll(open, folder, CUT_MS);
      expect(problems).toEqual([]);
      const found = await listArchives(database.db);
      expect(found.map(({ requests }) => requests)).toEqual(expected);
      expect((await requestRows(database)).length).toBe(left);
      expect(await audit(database)).toEqual([]);
      const files = readdirSync(folder, { recursive: true }).map(String);
      expect(files.filter((name) => name.includes('.part'))).toEqual([]);
      await closeBooks(open);
    }
  }, 120_000);

  test('audit and verification find an anchor, a movement or a receipt that was changed', async () => {
    const damages: readonly (readonly [statement: string, found: string])[] = [
      ['update archived_months set closing = closing + 5, credited = credited + 5', 'anchor'],
      ['update archived_months set loss = loss + 1', 'anchor'],
      ['update movements set amount = amount + 1 where number = 1', 'anchor'],
      ['delete from movements where number = 1', 'anchor'],
      [
        'delete from archived_months where number = (select min(number) from archived_months)',
        'anchor',
      ],
      ['delete from archived_months where account = 1', 'chain'],
      ['update balances set posted = posted + 7', 'posted'],
      ['delete from requests where number = (select max(number) from requests)', 'chain'],
    ];
    for (const [statement, kind] of damages) {
      const open = await openStory();
      await archiveAll(open, newFolder(), CUT_MS);
      expect(await audit(open.database)).toEqual([]);
      await dropGuards(open.database);
      await tamper(open.database, statement);
      const kinds = (await audit(open.database)).map((difference) => difference.kind);
      expect([statement, kinds.includes(kind as 'anchor')]).toEqual([statement, true]);
      if (kind !== 'posted') {
        const verified = await Promise.all(ACCOUNTS.map((id) => verifyReceipts(open.database, id)));
        const named = verified.flatMap(({ problems }) => problems.map((problem) => problem.kind));
        expect([statement, named.includes(kind)]).toEqual([statement, true]);
      }
      await closeBooks(open);
    }
  }, 120_000);

  test('rows leave the table only behind an anchor', async () => {
    const open = await openStory();
    await expect(tamper(open.database, 'delete from requests where number = 1')).rejects.toThrow();
    await archiveAll(open, newFolder(), CUT_MS);
    await expect(
      tamper(
        open.database,
        'delete from requests where number = (select max(number) from requests)',
      ),
    ).rejects.toThrow();
    await expect(tamper(open.database, 'delete from archived_months')).rejects.toThrow();
    await expect(tamper(open.database, 'update archived_months set closing = 1')).rejects.toThrow();
    await closeBooks(open);
  });

  test('a changed row is not archived, and other accounts are', async () => {
    const open = await openStory();
    await dropGuards(open.database);
    await tamper(open.database, 'update requests set loss = loss + 1 where number = 1');
    const { problems, months } = await archiveAll(open, newFolder(), CUT_MS);
    expect(problems).toHaveLength(1);
    expect(problems[0]?.reason).toBe('unproven');
    expect(problems[0]?.text).toContain('was not archived');
    expect(months).toBeGreaterThan(0);
    const archives = await listArchives(open.database.db);
    const archived = ACCOUNTS.map((id) =>
      archives
        .filter(({ accountId }) => accountId === id)
        .reduce((sum, { requests }) => sum + requests, 0),
    );
    // The first request is of the first account.
    expect(archived.map((requests) => requests > 0)).toEqual([false, true, true]);
    await closeBooks(open);
  });

  test('files of another history of the database stay as they are', async () => {
    const folder = newFolder();
    const filesOf = async ({ database }: OpenBooks) =>
      (await listArchives(database.db)).map((archive) => monthFiles(folder, archive).books);
    const lost = await openStory();
    await archiveAll(lost, folder, CUT_MS);
    const [first = '', ...others] = await filesOf(lost);
    const bytes = readFileSync(first);
    await closeBooks(lost);
    const open = await openStory();
    expect((await archiveAll(open, folder, CUT_MS)).problems).toEqual([]);
    const files = await filesOf(open);
    expect(readFileSync(first)).toEqual(bytes);
    expect([first, ...others].filter((path) => files.includes(path))).toEqual([]);
    await closeBooks(open);
  });

  test('what was archived is removed although nothing more can be written', async () => {
    const open = await openStory();
    const folder = newFolder();
    let steps = 0;
    const { removed: none } = await archiveAll(open, folder, CUT_MS, 31, () => ++steps > 2);
    expect(none).toBe(0);
    const archived = await listArchives(open.database.db);
    expect(archived.map(({ state }) => state)).toEqual(['removing', 'removing']);
    // A file in the place of the next month's folder.
    writeFileSync(join(folder, '2026-07'), '');
    const { months, removed, problems } = await archiveAll(open, folder, CUT_MS);
    expect(problems).toEqual([{ reason: 'folder', text: expect.stringContaining('EEXIST') }]);
    expect(months).toBe(0);
    expect(removed).toBe(archived.reduce((sum, { requests }) => sum + requests, 0));
    expect(await audit(open.database)).toEqual([]);
    await closeBooks(open);
  });

  test('a month whose file is lost is restored while the books have all of its rows, and only then', async () => {
    const open = await openStory();
    const { database } = open;
    const before = await requestRows(database);
    const folder = newFolder();
    const last = async () => {
      const archive = (await listArchives(database.db, ACCOUNTS[0])).at(-1);
      if (archive === undefined) throw new Error('nothing was archived');
      return archive;
    };
    const restore = async () => restoreMonth(database, folder, await last(), async () => undefined);
    // Ends behind the archiving.
    let calls = 0;
    await archiveAll(open, folder, CUT_MS, 31, () => ++calls > 9);
    expect((await requestRows(database)).length).toBe(before.length);
    const { month } = await last();
    rmSync(monthFiles(folder, await last()).books);
    const files = [expect.objectContaining({ reason: 'files' })];
    expect((await archiveAll(open, folder, CUT_MS)).problems).toEqual(files);
    await restore();
    expect(await requestRows(database)).toEqual(before);
    expect(await audit(database)).toEqual([]);
    const { problems, removed } = await archiveAll(open, folder, CUT_MS);
    expect([problems, removed > 0]).toEqual([[], true]);
    expect((await last()).month >= month).toBe(true);
    rmSync(monthFiles(folder, await last()).books);
    await expect(restore()).rejects.toMatchObject({ code: 'archive_damaged' });
    expect((await last()).state).toBe('removed');
    await closeBooks(open);
  });

  test('requests of a clock that was set back behind the cut are listed', async () => {
    const open = await openStory();
    await archiveAll(open, newFolder(), CUT_MS);
    const list = createRequestList(open.database, () => 0);
    const [account = ''] = ACCOUNTS;
    const before = (await list.list(account, {}, 200)).rows.length;
    const { ids } = await live(open, [{ account: 0, what: 'settle', afterHours: 0 }], BEGIN_MS);
    expect(ids).toHaveLength(1);
    const listed = (await list.list(account, {}, 200)).rows.map(({ requestId }) => requestId);
    expect(listed).toHaveLength(before + 1);
    expect(listed).toContain(ids[0] ?? '');
    expect((await list.count(account, {}, 200)).count).toBe(before + 1);
    expect(await audit(open.database)).toEqual([]);
    await closeBooks(open);
  });

  test('usage that is not in the series keeps its rows', async () => {
    const open = await openStory();
    const { database } = open;
    const report = await runRetention({
      ...{ database, directory: newFolder(), nowMs: CUT_MS, retentionDays: 31 },
      ...{ log: () => undefined, rest: async () => undefined },
      removal: {
        ...{ monotonic: () => performance.now(), stepMs: 15, pauseMs: 0 },
        isStopped: () => false,
      },
    });
    // Only months without a request may go.
    expect(report).toMatchObject({ requests: 0, removed: 0, problems: [] });
    await closeBooks(open);
  });

  test.skipIf(disk === undefined)(
    'an archive leaves the database its part of the disk, and removals go on',
    async () => {
      const small = disk as SmallDisk;
      const open = await openStory();
      const folder = mkdtempSync(join(small.path, 'archive-'));
      small.leave(RESERVE_BYTES + 256 * 1_024);
      await addUp(open.database);
      let rests = 0;
      const first = await runRetention({
        ...{ database: open.database, directory: folder, nowMs: CUT_MS, retentionDays: 31 },
        log: () => undefined,
        // The database grows during the run.
        async rest() {
          rests += 1;
          if (rests === 12) small.leave(RESERVE_BYTES / 2);
        },
        removal: {
          ...{ monotonic: () => performance.now(), stepMs: 15, pauseMs: 0 },
          isStopped: () => false,
        },
      });
      expect(first.problems).toMatchObject([{ reason: 'space' }]);
      expect(first.months).toBeGreaterThan(0);
      expect(first.removed).toBeGreaterThan(0);
      expect(partsIn(folder)).toEqual([]);
      const second = await archiveAll(open, folder, CUT_MS);
      expect(second).toMatchObject({ months: 0, problems: [{ reason: 'space' }] });
      expect(partsIn(folder)).toEqual([]);
      small.free();
      const third = await archiveAll(open, folder, CUT_MS);
      expect(third.problems).toEqual([]);
      expect(third.months).toBeGreaterThan(0);
      await closeBooks(open);
    },
  );
});
