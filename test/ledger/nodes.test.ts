// Several ledgers over one PostgreSQL, as in a cluster: they wait for each other without deadlocks,
// each movement is booked once, and the outcome of an unanswered commit is found out.

import { afterAll, beforeAll, expect, test } from 'bun:test';
import { sql } from 'drizzle-orm';
import { micro, tokenCount } from '../../src/core/money.ts';
import { createBooks } from '../../src/ledger/books.ts';
import { readKeyBudgets } from '../../src/ledger/budget-list.ts';
import type { PlacedHold } from '../../src/ledger/contract.ts';
import { createHistory } from '../../src/ledger/history.ts';
import { createLedger } from '../../src/ledger/ledger.ts';
import { createWriter, type LedgerRequest } from '../../src/ledger/writer.ts';
import type { Database } from '../../src/store/contract.ts';
import { priceVersions, redemptionCodes } from '../../src/store/money-tables.ts';
import { openPostgres } from '../../src/store/postgres/database.ts';
import { LEDGER_AT_WORK } from '../../src/store/postgres/locks.ts';
import {
  addAccount,
  creditOf,
  holdOf,
  NOW,
  PRICE,
  releaseOf,
  settleOf,
} from '../support/ledger.ts';
import { newPostgresUrl } from '../support/postgres-database.ts';
import { type ReplyProxy, startReplyProxy } from '../support/reply-proxy.ts';
import { describeWithServices } from '../support/services.ts';

const ACCOUNTS = Array.from({ length: 12 }, (_, n) => `acct-${n}`);

/** A hold that was decided by outdated books is taken back before it is on disk. */
async function isOnDisk({ ok, written }: PlacedHold): Promise<boolean> {
  return written.wait().then(
    () => ok,
    () => false,
  );
}

describeWithServices('several ledgers over one database', ['PostgreSQL'], () => {
  let url: string;
  let database: Database;
  let proxy: ReplyProxy;

  // Nodes of one process wait for each other's locks for as long as it stands still.
  const openNode = () =>
    openPostgres({ url, max: 2, statementTimeoutMs: 20_000, lockTimeoutMs: 20_000 });

  beforeAll(async () => {
    url = await newPostgresUrl();
    database = openPostgres({ url });
    proxy = await startReplyProxy(url);
    const books = createBooks(database);
    for (const id of ACCOUNTS)
      await addAccount({ database, ledger: undefined as never, books }, id);
  });
  afterAll(async () => {
    proxy.stop();
    await database.close();
  });

  test('give the same accounts their commands in any order, and the books stay whole', async () => {
    const nodes = Array.from({ length: 3 }, () => openNode());
    const ledgers = nodes.map((node) => createLedger({ database: node }));
    const work = ledgers.flatMap((ledger, node) =>
      Array.from({ length: 120 }, async (_, n) => {
        const account = ACCOUNTS[(n * (node + 5)) % ACCOUNTS.length] ?? '';
        const id = `${node}-${n}`;
        await ledger.credit(creditOf(id, account, 100n));
        const held = await ledger.hold(holdOf(`req_${id}`, account, 60n));
        // Two nodes end each request; the first one counts. No other one sees a hold before its
        // commit.
        await held.written.wait();
        const other = ledgers[(node + 1) % ledgers.length] ?? ledger;
        const ends = await Promise.all([
          ledger.settle(settleOf(`req_${id}`, 15n)),
          other.release(releaseOf(`req_${id}`)),
        ]);
        return [held.ok, ends[0].debited === ends[1].debited];
      }),
    );
    expect(new Set((await Promise.all(work)).map(String))).toEqual(new Set(['true,true']));
    expect(await createBooks(database).audit()).toEqual([]);
    for (const ledger of ledgers) await ledger.close();
    for (const node of nodes) await node.close();
  });

  test('take the last of a balance once', async () => {
    const nodes = Array.from({ length: 3 }, () => openNode());
    const ledgers = nodes.map((node) => createLedger({ database: node }));
    const books = createBooks(database);
    await addAccount({ database, ledger: undefined as never, books }, 'few');
    await ledgers[0]?.credit(creditOf('few', 'few', 10n));
    const holds = ledgers.flatMap((ledger, node) =>
      Array.from({ length: 40 }, async (_, n) =>
        isOnDisk(await ledger.hold(holdOf(`few-${node}-${n}`, 'few', 1n))),
      ),
    );
    expect((await Promise.all(holds)).filter(Boolean).length).toBe(10);
    expect(await books.balance('few')).toEqual({
      posted: micro(10n),
      held: micro(10n),
      available: micro(0n),
    });
    for (const ledger of ledgers) await ledger.close();
    for (const node of nodes) await node.close();
  });

  test("spend the last of a key's budget once, whichever node sets, holds and settles", async () => {
    const nodes = Array.from({ length: 3 }, () => openNode());
    const ledgers = nodes.map((node) => createLedger({ database: node }));
    const books = createBooks(database);
    await addAccount({ database, ledger: undefined as never, books }, 'bound');
    const [one, two, three] = ledgers;
    if (one === undefined || two === undefined || three === undefined) throw new Error('no nodes');
    await one.credit(creditOf('bound', 'bound', 1_000_000n));
    // Each node has the account in its cache before another one sets the budget.
    const small = (id: string, amount: bigint) => ({
      ...holdOf(id, 'bound', amount),
      outputBound: tokenCount(100),
    });
    for (const [n, ledger] of ledgers.entries()) {
      await (await ledger.hold(small(`warm-${n}`, 10n))).written.wait();
      await ledger.settle(settleOf(`warm-${n}`, 10n));
    }
    const limits = { day: micro(100n) };
    const bound = { accountId: 'bound', family: 'key_1', keyId: 'key_1', nowMs: NOW };
    const { spend } = await two.budget({ ...bound, limits });
    expect(spend.total).toBe(micro(30n));
    const work = ledgers.flatMap((ledger, node) =>
      Array.from({ length: 40 }, async (_, n) => {
        const id = `bound-${node}-${n}`;
        const hold = await ledger.hold(small(id, 10n));
        const isHeld = await isOnDisk(hold);
        const other = ledgers[(node + 1) % ledgers.length] ?? ledger;
        if (isHeld) await other.settle(settleOf(id, 10n));
        return isHeld;
      }),
    );
    expect((await Promise.all(work)).filter(Boolean).length).toBe(7);
    await three.budget({ ...bound, limits: { day: micro(110n) } });
    const last: boolean[] = [];
    for (const [n, ledger] of ledgers.entries()) {
      const hold = await ledger.hold(small(`last-${n}`, 10n));
      await hold.written.wait();
      last.push(hold.ok);
    }
    expect(last).toEqual([true, false, false]);
    expect((await readKeyBudgets(database, ['key_1'])).get('key_1')?.spend.inDay).toBe(micro(100n));
    expect(await books.audit()).toEqual([]);
    for (const ledger of ledgers) await ledger.close();
    for (const node of nodes) await node.close();
  });

  // Of a batch: begin, the ledger's lock, balances, holds, receipts, then its statements.
  test.each(['drop', 'double', 'swallow'] as const)(
    'find out what a commit did whose replies went wrong: %s',
    async (fault) => {
      // Only a reply that is missing is found out by the clock.
      const statementTimeoutMs = fault === 'double' ? 2_000 : 300;
      const node = openPostgres({ url: proxy.url, max: 2, statementTimeoutMs });
      const write = createWriter(node);
      const books = createBooks(database);
      const account = `unsure-${fault}`;
      await addAccount({ database, ledger: undefined as never, books }, account);
      await write([{ name: 'credit', command: creditOf(account, account, 1_000n) }]);
      for (let skipped = 0; skipped < 14; skipped += 1) {
        const id = `req_${fault}_${skipped}`;
        const batch: LedgerRequest[] = [
          { name: 'hold', command: holdOf(id, account, 30n) },
          { name: 'settle', command: settleOf(id, 15n) },
        ];
        proxy.harm(fault, skipped);
        const healing = setTimeout(proxy.heal, 200);
        const first = await write(batch);
        clearTimeout(healing);
        proxy.heal();
        // What was not written then is now; what was written is not written again.
        let sure = await write(batch);
        for (let tries = 0; tries < 20 && sure[1]?.ok !== true; tries += 1)
          sure = await write(batch);
        expect(sure[1]).toMatchObject({ ok: true, result: { debited: micro(15n) } });
        if (first[1]?.ok === true) expect(first[1].result).toMatchObject({ debited: micro(15n) });
        expect((await books.balance(account)).posted).toBe(
          micro(1_000n - 15n * BigInt(skipped + 1)),
        );
      }
      expect(await books.audit()).toEqual([]);
      await node.close();
    },
  );

  /** How many transactions wait for a lock. */
  async function waiting(): Promise<number> {
    const query = sql`select 1 as it from pg_locks where not granted
      and pid in (select pid from pg_stat_activity where datname = current_database())`;
    return (await database.rows(query)).length;
  }

  async function untilOneWaits(): Promise<void> {
    while ((await waiting()) === 0) await Bun.sleep(1);
  }

  /** A writer that counts its transactions. */
  function countedWriter(node: Database = openNode()) {
    let transactions = 0;
    const write = createWriter({
      ...node,
      concurrently: (work) => {
        transactions += 1;
        return node.concurrently(work);
      },
    });
    return { write, transactions: () => transactions, close: node.close };
  }

  // What another node's batch has written is waited for, in the order that it keeps too.
  test('wait for new prices in one order, whichever account names which of them', async () => {
    const [one, other] = ['price_a', 'price_b'].map((version) => ({ ...PRICE, version }));
    const [first = '', second = ''] = ACCOUNTS;
    const ledger = createLedger({ database });
    for (const account of [first, second])
      await ledger.credit(creditOf(`prices-${account}`, account, 10n));
    const node = countedWriter();
    const row = (price = PRICE) => ({ ...price, model: 'swift-1', firstUsedAt: NOW });
    const written = await database.concurrently(async (tx) => {
      await tx.insert(priceVersions).values(row(one));
      const batch = node.write([
        { name: 'hold', command: { ...holdOf('req_b', first, 1n), price: other ?? PRICE } },
        { name: 'hold', command: { ...holdOf('req_a', second, 1n), price: one ?? PRICE } },
      ]);
      await untilOneWaits();
      await tx.insert(priceVersions).values(row(other));
      return { batch };
    });
    expect(await written.batch).toMatchObject([{ ok: true }, { ok: true }]);
    // The names have one of their own.
    expect(node.transactions()).toBe(2);
    await node.close();
    await ledger.close();
  });

  test('decide by what another node has written, regardless of their caches', async () => {
    const [one, other] = [createWriter(database), createWriter(database)];
    await addAccount(
      { database, ledger: undefined as never, books: createBooks(database) },
      'both',
    );
    const hold = (id: string, amount: bigint): LedgerRequest => ({
      name: 'hold',
      command: holdOf(id, 'both', amount),
    });
    const credit = (id: string): LedgerRequest => ({
      name: 'credit',
      command: creditOf(id, 'both', 10n),
    });
    await other([credit('both-1')]);
    expect(await one([hold('req_one', 6n)])).toMatchObject([{ result: { ok: true } }]);
    // Both have the account in memory now, and each changes it behind the other's back.
    expect(await other([hold('req_other', 6n)])).toMatchObject([{ result: { ok: false } }]);
    await other([credit('both-2')]);
    expect(await one([hold('req_two', 14n)])).toMatchObject([{ result: { ok: true } }]);
    const settled = { result: { debited: micro(4n) } };
    expect(await other([{ name: 'settle', command: settleOf('req_one', 4n) }])).toMatchObject([
      settled,
    ]);
    expect(await one([{ name: 'settle', command: settleOf('req_one', 6n) }])).toMatchObject([
      settled,
    ]);
    expect(await createBooks(database).audit()).toEqual([]);
  });

  test('wait for codes in one order, whichever account redeems which of them', async () => {
    const [first = '', second = ''] = ACCOUNTS;
    const code = { masked: 'm', amount: micro(1n), reason: 'gift', createdAt: NOW };
    await database.db
      .insert(redemptionCodes)
      .values(['code-a', 'code-b'].map((digest) => ({ ...code, digest })));
    const node = countedWriter();
    const take = (digest: string) =>
      database.rows(sql`select 1 as it from redemption_codes where digest = ${digest} for update`);
    const written = await database.concurrently(async () => {
      await take('code-a');
      const batch = node.write([
        { name: 'redeem', command: { digest: 'code-b', accountId: first, nowMs: NOW } },
        { name: 'redeem', command: { digest: 'code-a', accountId: second, nowMs: NOW } },
      ]);
      await untilOneWaits();
      await take('code-b');
      return { batch };
    });
    const redeemed = { ok: true, result: { kind: 'redeemed' } };
    expect(await written.batch).toMatchObject([redeemed, redeemed]);
    expect(node.transactions()).toBe(1);
    await node.close();
  });

  test.each([
    ['a lock', { lockTimeoutMs: 1_000 }],
    ['a statement', { statementTimeoutMs: 1_000, lockTimeoutMs: 20_000 }],
  ])('write again where %s took longer than its limit', async (what, limits) => {
    const [first = ''] = ACCOUNTS;
    const node = countedWriter(openPostgres({ url, max: 2, ...limits }));
    await createWriter(database)([
      { name: 'credit', command: creditOf(`late ${what}`, first, 1n) },
    ]);
    const written = await database.concurrently(async () => {
      await database.rows(sql`select 1 from balances where account_id = ${first} for update`);
      const batch = node.write([{ name: 'hold', command: holdOf(`req_late ${what}`, first, 1n) }]);
      // The first writes the names; the third one is the next try.
      while (node.transactions() < 3) await Bun.sleep(1);
      return { batch };
    });
    expect(await written.batch).toMatchObject([{ ok: true, result: { ok: true } }]);
    expect(await createBooks(database).audit()).toEqual([]);
    await node.close();
  });

  test('go on while a caller waits for those that are open', async () => {
    const [first = ''] = ACCOUNTS;
    const ledger = createLedger({ database });
    const history = createHistory(database);
    const ended = Promise.withResolvers<void>();
    const open = Promise.withResolvers<void>();
    // A batch as another node has it: it has its lock, and is not committed.
    const batch = database.concurrently(async () => {
      await database.rows(sql`select pg_advisory_xact_lock_shared(${sql.raw(LEDGER_AT_WORK)})`);
      open.resolve();
      await ended.promise;
    });
    await open.promise;
    let isKnown = false;
    const mark = history.mark().finally(() => {
      isKnown = true;
    });
    const credits = ['go-1', 'go-2', 'go-3'].map((id) => ledger.credit(creditOf(id, first, 1n)));
    let isGoing = true;
    const going = Promise.all(credits).finally(() => {
      isGoing = false;
    });
    while (isGoing) expect(await waiting()).toBe(0);
    await going;
    expect(isKnown).toBe(false);
    ended.resolve();
    await batch;
    expect(await mark).toBe(await history.mark());
    await ledger.close();
  });
});
