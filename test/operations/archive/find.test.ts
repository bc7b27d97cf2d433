// Finds the archives that may contain a request among those of many accounts.

import { expect, setDefaultTimeout, spyOn, test } from 'bun:test';
import { RemotePreparedQuery } from 'drizzle-orm/sqlite-proxy';
import { createRequestId, requestIdBytes } from '../../../src/core/id.ts';
import { createIdFilter } from '../../../src/core/id-filter.ts';
import type { Micro } from '../../../src/core/money.ts';
import { archivesOfRequest } from '../../../src/ledger/archive/anchors.ts';
import { recordArchive } from '../../../src/ledger/archive/record.ts';
import { describeOnEachDatabase, temporaryDirectory } from '../../support/database.ts';
import { addAccounts, type OpenBooks, openBooks } from '../../support/ledger.ts';
import { addUp } from './past.ts';

setDefaultTimeout(60_000);

const OCTOBER_MS = Date.UTC(2026, 9, 1);
const DAY_MS = 86_400_000;
const ACCOUNTS = Array.from({ length: 1_200 }, (_, at) => `acct_${at}`);

/** The accounts whose filters have half a megabyte each. */
const LARGE = 9;
const LARGE_REQUESTS = 250_000;

const newId = () =>
  createRequestId(OCTOBER_MS + DAY_MS, (length) => crypto.getRandomValues(new Uint8Array(length)));

/** Archives one month of every account, whose filters know the ids of `known`. */
async function archiveOctober(
  open: OpenBooks,
  known: Readonly<Record<string, string>>,
): Promise<void> {
  await addUp(open.database);
  const zero = 0n as Micro;
  for (const [at, id] of ACCOUNTS.entries()) {
    const count = at < LARGE ? LARGE_REQUESTS : 1;
    const { bits, add } = createIdFilter(count);
    if (known[id] !== undefined) add(requestIdBytes(known[id]));
    const digest = new Uint8Array(32);
    await recordArchive(open.database, {
      ...{
        account: at + 1,
        accountId: id,
        month: '2026-10',
        firstSequence: 1,
        lastSequence: count,
      },
      ...{ requests: count, movements: 0, head: digest, movementsDigest: digest },
      ...{ opening: zero, credited: zero, debited: zero, loss: zero, closing: zero },
      ...{ receiptsDigest: digest, receiptsBytes: 1, booksDigest: digest, booksBytes: 1 },
      ...{ lastRow: 0, archivedAt: OCTOBER_MS + 60 * DAY_MS, ids: bits },
      ...{ idsFrom: OCTOBER_MS, idsTo: OCTOBER_MS + 30 * DAY_MS },
    });
  }
}

/** The most bytes that one query of `work` returned. */
async function mostBytes(work: () => Promise<unknown>): Promise<number> {
  const { all } = RemotePreparedQuery.prototype;
  let most = 0;
  const spy = spyOn(RemotePreparedQuery.prototype, 'all').mockImplementation(async function (
    this: RemotePreparedQuery,
    ...values
  ) {
    const rows = (await all.apply(this, values)) as readonly object[];
    const sizes = rows
      .flatMap(Object.values)
      .map((value) => (value instanceof Uint8Array ? value.length : 8));
    most = Math.max(
      most,
      sizes.reduce((sum, size) => sum + size, 0),
    );
    return rows;
  } as typeof all);
  try {
    await work();
    return most;
  } finally {
    spy.mockRestore();
  }
}

describeOnEachDatabase('the archives of a request', () => {
  const directory = temporaryDirectory();

  test('are found among all accounts, with few filters in memory at once', async () => {
    await using open = await openBooks(directory);
    const { db } = open.database;
    await addAccounts(open, ACCOUNTS);
    const [ofLarge, ofLast] = [newId(), newId()];
    await archiveOctober(open, { acct_4: ofLarge, acct_1199: ofLast });
    const accountsOf = async (id: string, accountId?: string) =>
      (await archivesOfRequest(db, id, accountId)).map((archive) => archive.accountId);

    expect(await accountsOf(ofLarge)).toContain('acct_4');
    expect(await accountsOf(ofLast)).toContain('acct_1199');
    expect(await accountsOf(ofLast, 'acct_1199')).toEqual(['acct_1199']);
    expect(await accountsOf(ofLarge, 'acct_1199')).toEqual([]);
    const most = await mostBytes(() => archivesOfRequest(db, newId()));
    expect(most).toBeWithin(LARGE_REQUESTS * 2, 2_500_000);
  });
});
