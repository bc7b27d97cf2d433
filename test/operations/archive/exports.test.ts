// Exports that a customer reads slowly while the server archives: they are whole, or they break off.

import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { createExports } from '../../../src/dashboard/customer/exports.ts';
import { ledgerRoutes } from '../../../src/dashboard/customer/ledger.ts';
import { requestRoutes } from '../../../src/dashboard/customer/requests.ts';
import { listArchives } from '../../../src/ledger/archive/anchors.ts';
import { requireUnarchived } from '../../../src/operations/archive/notices.ts';
import { exportReceipts, showReceipt } from '../../../src/operations/receipts.ts';
import { describeOnEachDatabase, temporaryDirectory } from '../../support/database.ts';
import { closeBooks, type OpenBooks } from '../../support/ledger.ts';
import { archiveAll, BEGIN_MS, live, openPast, type PastEvent, requestRows } from './past.ts';

setDefaultTimeout(60_000);

const ACCOUNT = 'acct_ada';
const CUT_MS = BEGIN_MS + 100 * 86_400_000;

/** More than a page of each export in the first month, and some requests behind it. */
const EVENTS: readonly PastEvent[] = Array.from({ length: 2_600 }, (_, at) => ({
  ...{ account: 0, what: at % 600 === 0 ? 'credit' : 'settle' },
  afterHours: at < 2_500 ? 0 : 20,
}));

describeOnEachDatabase('an export of an account', () => {
  const directory = temporaryDirectory();
  let open: OpenBooks;
  let folder: string;

  beforeAll(async () => {
    open = await openPast(directory);
    await live(open, EVENTS, BEGIN_MS);
    folder = mkdtempSync(join(directory, 'archive-'));
  });

  afterAll(() => closeBooks(open));

  function openLedger(): Promise<Response> {
    const store = { database: open.database, keys: { several: async () => [] } };
    const serviceState = () => ({ catalog: { usdPerMillion: 1_000_000n } });
    const parts = { store, serviceState, clock: () => CUT_MS } as never;
    const route = ledgerRoutes(parts, createExports()).find(
      ({ path }) => path === '/ledger/export',
    );
    const request = new Request('http://gateway.test/');
    const call = { who: { accountId: ACCOUNT }, query: {}, server: null, request };
    return route?.handle(call as never) as Promise<Response>;
  }

  test('breaks off where its rows were archived while it was read, and is whole before and after', async () => {
    const read = async (pieces: AsyncIterable<string>) => (await Array.fromAsync(pieces)).join('');
    const whole = await exportReceipts(open.database, ACCOUNT, undefined);
    expect((await read(whole.pieces)).split('\n')).toHaveLength(EVENTS.length + 2);
    const slow = await exportReceipts(open.database, ACCOUNT, undefined);
    const pieces = slow.pieces[Symbol.asyncIterator]();
    await pieces.next();
    const ledger = (await openLedger()).body?.getReader();
    await ledger?.read();

    const { months, removed } = await archiveAll(open, folder, CUT_MS);
    expect([months > 0, removed > 0]).toEqual([true, true]);

    const toItsEnd = async (next: () => Promise<{ readonly done?: boolean | undefined }>) => {
      while (!(await next()).done);
    };
    const moved = { code: 'archived_while_read' };
    await expect(toItsEnd(() => pieces.next())).rejects.toMatchObject(moved);
    await expect(toItsEnd(async () => (await ledger?.read()) ?? {})).rejects.toMatchObject(moved);

    const after = await exportReceipts(open.database, ACCOUNT, undefined);
    const { first, last } = after.slice;
    expect((await read(after.pieces)).split('\n')).toHaveLength(last - first + 3);
    expect((await (await openLedger()).text()).trim().split('\r\n')).toHaveLength(
      1 + after.archived.length + last - first + 1,
    );
  });
});

describeOnEachDatabase('archived requests whose rows are not removed yet', () => {
  const directory = temporaryDirectory();
  const event = (what: PastEvent['what']): PastEvent => ({ account: 0, what, afterHours: 24 });
  const events = [event('credit'), ...Array.from({ length: 80 }, () => event('settle'))];

  async function exported({ database }: OpenBooks): Promise<readonly string[]> {
    const serviceState = () => ({ catalog: { usdPerMillion: 1_000_000n } });
    const parts = { store: { database }, serviceState, clock: () => CUT_MS } as never;
    const route = requestRoutes(parts, createExports(), (_, __, read) => read()).find(
      ({ path }) => path === '/requests/export',
    );
    const request = new Request('http://gateway.test/');
    const call = { who: { accountId: ACCOUNT }, query: {}, server: null, request };
    const answer = (await route?.handle(call as never)) as Response;
    const [, ...lines] = (await answer.text()).trim().split('\r\n');
    return lines.map((line) => line.slice(1, line.indexOf('"', 1)));
  }

  test('are in no export and have no receipt here, also the last row, which stays', async () => {
    await using open = await openPast(directory);
    const { database } = open;
    const { ids } = await live(open, events, BEGIN_MS);
    const folder = mkdtempSync(join(directory, 'archive-'));
    let steps = 0;
    // Ends behind the archiving.
    await archiveAll(open, folder, CUT_MS, 31, () => ++steps > 2);
    const cut = (await listArchives(database.db)).reduce((sum, each) => sum + each.requests, 0);
    expect([cut > 0, cut < ids.length]).toEqual([true, true]);
    expect((await requestRows(database)).length).toBe(ids.length);
    expect(await exported(open)).toEqual(ids.slice(cut).toReversed());
    // Idle until all of it is archived.
    await archiveAll(open, folder, CUT_MS + 100 * 86_400_000);
    expect((await requestRows(database)).length).toBe(1);
    expect(await exported(open)).toEqual([]);
    const archived = { code: 'request_archived' };
    const last = ids.at(-1) ?? '';
    await expect(showReceipt(database, last)).rejects.toMatchObject(archived);
    await expect(showReceipt(database, last, ACCOUNT)).rejects.toMatchObject(archived);
  });
});

describeOnEachDatabase('sums over the requests of a period', () => {
  const directory = temporaryDirectory();
  const settle = (account: number): PastEvent => ({ account, what: 'settle', afterHours: 0 });
  const credit: PastEvent = { account: 0, what: 'credit', afterHours: 0 };

  test('are refused where some of its requests are archived, which it names by when they started', async () => {
    await using open = await openPast(directory);
    const { database } = open;
    // It ends in June.
    const startMs = Date.UTC(2026, 5, 1) - 1_000;
    await live(open, [credit, settle(0)], startMs);
    const julyMs = Date.UTC(2026, 6, 10);
    await live(open, [credit, settle(0)], julyMs);
    await archiveAll(open, mkdtempSync(join(directory, 'archive-')), CUT_MS);
    const refusal = async (fromMs: number, untilMs: number, accountId?: string) =>
      requireUnarchived(database, { fromMs, untilMs }, accountId).then(
        () => undefined,
        ({ code, message }) => [code, message],
      );
    const refused = ['requests_archived', expect.stringContaining('(2026-06)')];
    expect(await refusal(startMs, startMs + 1)).toEqual(refused);
    expect(await refusal(startMs, startMs + 1, 'acct_ada')).toEqual(refused);
    expect(await refusal(0, Date.UTC(2026, 11))).toEqual(refused);
    expect(await refusal(startMs, startMs + 1, 'acct_bob')).toBeUndefined();
    expect(await refusal(0, startMs)).toBeUndefined();
    expect(await refusal(startMs + 1, julyMs + 1)).toBeUndefined();
  });
});
