// Two nodes that archive the same month, and a server beside a command that restores one.

import { expect, setDefaultTimeout, test } from 'bun:test';
import { mkdtempSync, readdirSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { listArchives } from '../../../src/ledger/archive/anchors.ts';
import { dueMonth } from '../../../src/ledger/archive/due.ts';
import { audit } from '../../../src/ledger/audit.ts';
import { digestOf, monthFiles } from '../../../src/operations/archive/files.ts';
import { archiveProblems, restoreMonth } from '../../../src/operations/archive/restore.ts';
import { runRetention } from '../../../src/operations/archive/run.ts';
import { writeMonth } from '../../../src/operations/archive/write.ts';
import { describeOnEachDatabase, temporaryDirectory } from '../../support/database.ts';
import { closeBooks, type OpenBooks } from '../../support/ledger.ts';
import {
  addUp,
  archiveAll,
  BEGIN_MS,
  live,
  openPast,
  type PastEvent,
  requestRows,
} from './past.ts';

setDefaultTimeout(60_000);

const DAY_MS = 86_400_000;
const CUT_MS = BEGIN_MS + 130 * DAY_MS;

const EVENTS: readonly PastEvent[] = Array.from({ length: 15 }, (_, at) => ({
  account: 0,
  what: at === 0 ? 'credit' : 'settle',
  afterHours: 240,
}));

const SOON: PastEvent = { account: 0, what: 'settle', afterHours: 0 };

describeOnEachDatabase('two nodes', () => {
  const directory = temporaryDirectory();
  const newFolder = () => mkdtempSync(join(directory, 'archive-'));

  async function openStory(events = EVENTS): Promise<OpenBooks> {
    const open = await openPast(directory);
    await live(open, events, BEGIN_MS);
    await addUp(open.database);
    return open;
  }

  const problemsOf = async ({ database }: OpenBooks, folder: string) =>
    Promise.all(
      (await listArchives(database.db)).map((archive) => archiveProblems(folder, archive)),
    );

  test('the one that is too late leaves the recorded files as they are', async () => {
    for (const isRemoving of [false, true]) {
      const open = await openStory();
      const { database } = open;
      const folder = newFolder();
      let rests = 0;
      const report = await runRetention({
        ...{ database, directory: folder, nowMs: CUT_MS, retentionDays: 31, log: () => undefined },
        async rest() {
          rests += 1;
          let steps = 0;
          // The first node archives all months while this one writes its first.
          if (rests === 1) {
            await archiveAll(open, folder, CUT_MS, 31, () => !isRemoving && ++steps > 4);
          }
        },
        removal: {
          monotonic: () => performance.now(),
          stepMs: 15,
          pauseMs: 0,
          isStopped: () => false,
        },
      });
      expect(report).toMatchObject({ months: 0, problems: [] });
      expect((await problemsOf(open, folder)).flat()).toEqual([]);
      expect(await listArchives(database.db)).toHaveLength(3);
      expect(await audit(database)).toEqual([]);
      await closeBooks(open);
    }
  });

  test('a server archives no later month while an operator restores the last one', async () => {
    const open = await openStory();
    const { database } = open;
    const folder = newFolder();
    await archiveAll(open, folder, CUT_MS);
    const [last, ...earlier] = (await listArchives(database.db)).toReversed();
    if (last === undefined) throw new Error('nothing was archived');
    const reports: unknown[] = [];
    await restoreMonth(database, folder, last, async () => {
      reports.push(await archiveAll(open, folder, CUT_MS + 31 * DAY_MS));
    });
    expect(reports).toContainEqual(expect.objectContaining({ months: 0, problems: [] }));
    expect(await listArchives(database.db)).toEqual(earlier.toReversed());
    expect(await audit(database)).toEqual([]);
    const { months, problems } = await archiveAll(open, folder, CUT_MS + 31 * DAY_MS);
    expect([months, problems]).toEqual([2, []]);
    expect(await audit(database)).toEqual([]);
    await closeBooks(open);
  });

  test('a month whose restore was interrupted is named, and its account is left alone', async () => {
    const open = await openStory();
    const { database } = open;
    const folder = newFolder();
    await archiveAll(open, folder, CUT_MS);
    const last = (await listArchives(database.db)).at(-1);
    if (last === undefined) throw new Error('nothing was archived');
    const interrupted = restoreMonth(database, folder, last, async () => {
      throw new Error('killed');
    });
    await expect(interrupted).rejects.toThrow('killed');
    const files = readdirSync(folder, { recursive: true }).toSorted();
    const { months, problems, said } = await archiveAll(open, folder, CUT_MS + 31 * DAY_MS);
    expect([months, problems]).toEqual([0, []]);
    expect(said).toEqual([
      `archive: ${last.month} of acct_ada is being restored. If that was interrupted, run tollgate archive restore --month ${last.month} --account acct_ada again; until it has ended, the account is not archived`,
    ]);
    expect(readdirSync(folder, { recursive: true }).toSorted()).toEqual(files);
    await restoreMonth(database, folder, last, async () => undefined);
    expect(await archiveAll(open, folder, CUT_MS + 31 * DAY_MS)).toMatchObject({
      ...{ months: 2, problems: [], said: [] },
    });
    expect(await audit(database)).toEqual([]);
    await closeBooks(open);
  });

  test('a restore ends where another one has ended, and the month is archived again', async () => {
    // A month of two steps.
    const open = await openStory(EVENTS.concat(EVENTS.slice(1, 2), Array(230).fill(SOON)));
    const { database } = open;
    const folder = newFolder();
    await archiveAll(open, folder, CUT_MS + 93 * DAY_MS);
    const left = await requestRows(database);
    const last = (await listArchives(database.db)).at(-1);
    if (last === undefined) throw new Error('nothing was archived');
    let isFirst = true;
    const late = restoreMonth(database, folder, last, async () => {
      if (!isFirst) return;
      isFirst = false;
      await restoreMonth(database, folder, last, async () => undefined);
      await archiveAll(open, folder, CUT_MS + 93 * DAY_MS);
    });
    await expect(late).rejects.toMatchObject({ code: 'archive_changed' });
    expect((await listArchives(database.db)).at(-1)?.requests).toBe(last.requests);
    expect(await requestRows(database)).toHaveLength(left.length);
    expect(await audit(database)).toEqual([]);
    await closeBooks(open);
  });

  test('two nodes of one machine write the same month, whichever waits for the other', async () => {
    const open = await openStory();
    const due = await dueMonth(open.database, 'acct_ada', { untilMs: CUT_MS, nowMs: CUT_MS });
    if (due === undefined) throw new Error('nothing is due');
    const write = (folder: string, rest: () => Promise<void>) =>
      writeMonth({ database: open.database, directory: folder, nowMs: CUT_MS, rest }, due);
    let steps = 0;
    await write(newFolder(), async () => {
      steps += 1;
    });
    for (let stopped = 1; stopped <= steps; stopped += 1) {
      for (let other = 1; other <= steps; other += 1) {
        const folder = newFolder();
        const [reached, ended] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
        let second: Promise<unknown> = Promise.resolve();
        let [ofFirst, ofSecond] = [0, 0];
        const first = await write(folder, async () => {
          ofFirst += 1;
          if (ofFirst !== stopped) return;
          second = write(folder, async () => {
            ofSecond += 1;
            if (ofSecond !== other) return;
            reached.resolve();
            await ended.promise;
          });
          await reached.promise;
        });
        ended.resolve();
        expect(await second).toEqual(first);
        const files = monthFiles(folder, first);
        expect(await digestOf(files.receipts)).toEqual({
          ...{ bytes: first.receiptsBytes, sha256: first.receiptsDigest },
        });
        expect(await digestOf(files.books)).toEqual({
          ...{ bytes: first.booksBytes, sha256: first.booksDigest },
        });
      }
    }
    await closeBooks(open);
  });

  test('what a killed node has begun to write is removed after an hour', async () => {
    const open = await openStory();
    const folder = newFolder();
    await archiveAll(open, folder, CUT_MS);
    const [month = ''] = readdirSync(folder);
    const [old, young] = ['old', 'young'].map((name) => join(folder, month, `x.${name}.part`));
    for (const path of [old ?? '', young ?? '']) writeFileSync(path, '');
    utimesSync(old ?? '', (CUT_MS - 7_200_000) / 1_000, (CUT_MS - 7_200_000) / 1_000);
    utimesSync(young ?? '', CUT_MS / 1_000, CUT_MS / 1_000);
    await archiveAll(open, folder, CUT_MS);
    const parts = readdirSync(join(folder, month)).filter((name) => name.endsWith('.part'));
    expect(parts).toEqual(['x.young.part']);
    await closeBooks(open);
  });
});
