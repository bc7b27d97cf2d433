// Several ledgers over one PostgreSQL, as the nodes of a cluster have them: they wait for each other
// and never in a circle, each movement is booked once, and a commit that nobody answered is found out.

import { afterAll, beforeAll, expect, test } from 'bun:test';
import { createBooks } from '../../src/ledger/books.ts';
import { createLedger } from '../../src/ledger/ledger.ts';
import { createWriter, type Request } from '../../src/ledger/writer.ts';
import type { Database } from '../../src/store/contract.ts';
import { openPostgres } from '../../src/store/postgres/database.ts';
import { addAccount, creditOf, holdOf, releaseOf, settleOf } from '../support/ledger.ts';
import { newPostgresUrl } from '../support/postgres-database.ts';
import { type ReplyProxy, startReplyProxy } from '../support/reply-proxy.ts';
import { describeWithServices } from '../support/services.ts';

const ACCOUNTS = Array.from({ length: 12 }, (_, n) => `acct-${n}`);

describeWithServices('several ledgers over one database', ['PostgreSQL'], () => {
  let url: string;
  let database: Database;
  let proxy: ReplyProxy;

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
    const nodes = Array.from({ length: 3 }, () => openPostgres({ url, max: 2 }));
    const ledgers = nodes.map((node) => createLedger({ database: node }));
    const work = ledgers.flatMap((ledger, node) =>
      Array.from({ length: 120 }, async (_, n) => {
        const account = ACCOUNTS[(n * (node + 5)) % ACCOUNTS.length] ?? '';
        const id = `${node}-${n}`;
        await ledger.credit(creditOf(id, account, 100n));
        const held = await ledger.hold(holdOf(`req_${id}`, account, 60n));
        // Two nodes end each request; the first one counts.
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
    const nodes = Array.from({ length: 3 }, () => openPostgres({ url, max: 2 }));
    const ledgers = nodes.map((node) => createLedger({ database: node }));
    const books = createBooks(database);
    await addAccount({ database, ledger: undefined as never, books }, 'few');
    await ledgers[0]?.credit(creditOf('few', 'few', 10n));
    const holds = ledgers.flatMap((ledger, node) =>
      Array.from({ length: 40 }, (_, n) => ledger.hold(holdOf(`few-${node}-${n}`, 'few', 1n))),
    );
    expect((await Promise.all(holds)).filter(({ ok }) => ok).length).toBe(10);
    expect(await books.balance('few')).toEqual({ posted: 10n, held: 10n, available: 0n });
    for (const ledger of ledgers) await ledger.close();
    for (const node of nodes) await node.close();
  });

  // Of a batch: begin, the ledger's lock, balances, holds, receipts, then its statements.
  test.each(['drop', 'double', 'swallow'] as const)(
    'find out what a commit did whose replies went wrong: %s',
    async (fault) => {
      // Only a reply that is missing is found out by the clock.
      const statementTimeoutMs = fault === 'double' ? 2_000 : 100;
      const node = openPostgres({ url: proxy.url, max: 2, statementTimeoutMs });
      const write = createWriter(node);
      const books = createBooks(database);
      const account = `unsure-${fault}`;
      await addAccount({ database, ledger: undefined as never, books }, account);
      await write([{ name: 'credit', command: creditOf(account, account, 1_000n) }]);
      for (let skipped = 0; skipped < 14; skipped += 1) {
        const id = `req_${fault}_${skipped}`;
        const batch: Request[] = [
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
        expect(sure[1]).toMatchObject({ ok: true, result: { debited: 15n } });
        if (first[1]?.ok === true) expect(first[1].result).toMatchObject({ debited: 15n });
        expect((await books.balance(account)).posted).toBe(1_000n - 15n * BigInt(skipped + 1));
      }
      expect(await books.audit()).toEqual([]);
      await node.close();
    },
  );
});
