// Accounts that must not wait for ever: behind others that fail, and behind a receipt of a wrong clock.

import { expect, setDefaultTimeout, test } from 'bun:test';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { archivePages, listArchives } from '../../../src/ledger/archive/anchors.ts';
import { audit } from '../../../src/ledger/audit.ts';
import { monthFiles } from '../../../src/operations/archive/files.ts';
import { runRetention } from '../../../src/operations/archive/run.ts';
import { verifyMonth } from '../../../src/operations/archive/verify.ts';
import {
  describeOnEachDatabase,
  dropGuards,
  tamper,
  temporaryDirectory,
} from '../../support/database.ts';
import { addAccount, creditOf } from '../../support/ledger.ts';
import { addUp, archiveAll, BEGIN_MS, live, openPast, type PastEvent } from './past.ts';

setDefaultTimeout(60_000);

const CUT_MS = BEGIN_MS + 130 * 86_400_000;

describeOnEachDatabase('the turn of each account', () => {
  const directory = temporaryDirectory();
  const newFolder = () => mkdtempSync(join(directory, 'archive-'));

  test('accounts that fail do not keep the others from their turn', async () => {
    await using open = await openPast(directory);
    const failing = Array.from({ length: 7 }, (_, at) => `acct_bad${at}`);
    for (const id of failing) {
      await addAccount(open, id);
      await open.ledger.credit({ ...creditOf(`c-${id}`, id, 1n), nowMs: BEGIN_MS });
    }
    await addAccount(open, 'acct_zoe');
    await open.ledger.credit({ ...creditOf('c-zoe', 'acct_zoe', 1n), nowMs: BEGIN_MS });
    await dropGuards(open.database);
    // A time that no calendar has.
    await tamper(
      open.database,
      `update movements set at = -9000000000000000 where account in
        (select number from balances where account_id like 'acct_bad%')`,
    );
    const blocked = newFolder();
    writeFileSync(join(blocked, '2026-05'), '');
    const named = failing.slice(0, 5).map((id) => ({
      reason: 'failed' as const,
      text: expect.stringContaining(`the next month of ${id} was not archived`),
    }));
    // What fails all accounts is always named: the alert depends on it.
    expect((await archiveAll(open, blocked, CUT_MS)).problems).toEqual([
      ...named,
      { reason: 'folder', text: expect.stringContaining('acct_zoe') },
    ]);
    const report = await archiveAll(open, newFolder(), CUT_MS);
    expect(report.problems).toEqual(named);
    expect(report.months).toBe(1);
    const [archive, ...others] = await listArchives(open.database.db);
    expect(others).toEqual([]);
    expect(archive?.accountId).toBe('acct_zoe');
  });

  test('the archives are read in pages, and of an empty folder a few problems are named', async () => {
    await using open = await openPast(directory);
    const months = Array.from({ length: 100 }, (_, at): PastEvent => {
      return { account: at % 3, what: at < 3 ? 'credit' : 'settle', afterHours: 24 };
    });
    await live(open, months, BEGIN_MS);
    const folder = newFolder();
    expect((await archiveAll(open, folder, CUT_MS)).months).toBeGreaterThan(5);
    const { db } = open.database;
    const pages = await Array.fromAsync(archivePages(db, undefined, 2));
    expect(pages.every(({ length }, at) => length === 2 || at === pages.length - 1)).toBe(true);
    const byNumber = (a: { number: number }, b: { number: number }) => a.number - b.number;
    expect(pages.flat()).toEqual((await listArchives(db)).toSorted(byNumber));
    const { problems } = await archiveAll(open, newFolder(), CUT_MS);
    expect(problems.map(({ reason }) => reason)).toEqual(Array(5).fill('files'));
  });

  test('a receipt of a clock that was years ahead is archived with its neighbours', async () => {
    await using open = await openPast(directory);
    const day = (at: number): PastEvent => ({
      account: 0,
      what: at === 0 ? 'credit' : 'settle',
      afterHours: 24,
    });
    const days = Array.from({ length: 40 }, (_, at) => day(at));
    const { nowMs } = await live(open, days, BEGIN_MS);
    await live(open, [day(1)], Date.UTC(2099, 0));
    await live(open, days, nowMs);
    const folder = newFolder();
    const report = await archiveAll(open, folder, CUT_MS);
    expect(report.problems).toEqual([]);
    expect(report.months).toBe(3);
    expect(report.requests).toBeGreaterThan(39);
    const archives = await listArchives(open.database.db);
    expect(archives.map(({ month }) => month)).toEqual(['2026-05', '2026-06', '2026-07']);
    expect(await audit(open.database)).toEqual([]);
    for (const archive of archives) {
      expect((await verifyMonth(monthFiles(folder, archive))).problems).toEqual([]);
    }
  });

  test('a receipt that is written while the run works through other accounts keeps its month', async () => {
    const past = [0, 1].flatMap((account) =>
      (['credit', 'settle'] as const).map((what): PastEvent => ({ account, what, afterHours: 1 })),
    );
    for (const elapsedMs of [0, 2 * 86_400_000]) {
      await using open = await openPast(directory);
      const { database } = open;
      await live(open, past, BEGIN_MS);
      await addUp(database);
      let elapsed = 0;
      let rests = 0;
      const report = await runRetention({
        ...{ database, directory: newFolder(), nowMs: CUT_MS, retentionDays: 31 },
        log: () => undefined,
        async rest() {
          rests += 1;
          if (rests > 1) return;
          elapsed = elapsedMs;
          await live(open, [{ account: 1, what: 'settle', afterHours: 0 }], CUT_MS + elapsedMs);
          await addUp(database);
        },
        removal: { monotonic: () => elapsed, stepMs: 15, pauseMs: 0, isStopped: () => false },
      });
      expect(report.problems).toEqual([]);
      const archives = await listArchives(database.db);
      expect(archives.map(({ accountId, lastSequence }) => [accountId, lastSequence])).toEqual([
        ['acct_ada', 2],
        ['acct_bob', 2],
      ]);
      expect(await audit(database)).toEqual([]);
    }
  });
});
