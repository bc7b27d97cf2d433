// Operator searches: accounts, blocks and the audit trail, each a page at a time. One law holds for
// all: paging returns each row once, even while rows are added.

import { expect, test } from 'bun:test';
import fc from 'fast-check';
import type { Account } from '../../src/identity/accounts.ts';
import { searchAuditEvents } from '../../src/identity/audit-search.ts';
import { listBlocks } from '../../src/identity/block-list.ts';
import { createBlocks, findBlock } from '../../src/identity/blocks.ts';
import { type AccountFilter, searchAccounts } from '../../src/operations/account-records.ts';
import {
  describeOnEachDatabase,
  newDatabase,
  sqliteTest,
  temporaryDirectory,
} from '../support/database.ts';
import { addAccount, createIdentity, START_MS } from './fixtures.ts';

const directory = temporaryDirectory();

async function open() {
  const database = await newDatabase(directory);
  return { database, identity: createIdentity(database) };
}

/** Turns all pages, and calls `between` after each. */
async function turn<Row>(
  page: (limit: number, before: number | undefined) => Promise<readonly Row[]>,
  numberOf: (row: Row) => number,
  limit: number,
  between: () => Promise<unknown> = async () => undefined,
): Promise<Row[]> {
  const seen: Row[] = [];
  for (let before: number | undefined; ; ) {
    const rows = await page(limit, before);
    seen.push(...rows);
    const last = rows.at(-1);
    if (last === undefined) return seen;
    // A page that begins where it ended before would be turned for ever.
    expect(before).not.toBe(numberOf(last));
    before = numberOf(last);
    await between();
  }
}

describeOnEachDatabase('accounts', async () => {
  const { database, identity } = await open();
  const create = (email: string, plan = 'pro', emailVerified = true) =>
    identity.accounts.create({ email, plan, emailVerified }, 'operator');
  const ann = await create('ann@example.com');
  const bob = await create('bob_smith@example.com', 'starter', false);
  const cat = await create('cat%100@shop.example', 'starter');
  const dan = await create('dan@sub.example.org');
  await identity.accounts.changeStanding(dan.id, 'suspended', 'operator');
  const blocks = createBlocks(identity);
  await blocks.add('account', ann.id, { reason: '' }, 'operator');
  await blocks.add('account', bob.id, { reason: '', forMs: 1_000 }, 'operator');

  const found = async (filter: AccountFilter, nowMs = START_MS) =>
    (await searchAccounts(database, filter, { limit: 10, before: undefined, nowMs })).map(
      ({ account }) => account,
    );
  const emails = async (filter: AccountFilter) => (await found(filter)).map(({ email }) => email);

  test.each([
    ['all, newest first', {}, [dan.email, cat.email, bob.email, ann.email]],
    ['a part of the address', { text: 'example.com' }, [bob.email, ann.email]],
    ['in any case, with spaces around it', { text: ' BOB_S ' }, [bob.email]],
    ['% stands for itself', { text: '%' }, [cat.email]],
    ['_ stands for itself', { text: '_' }, [bob.email]],
    ['a quote is text', { text: "' or 1=1 --" }, []],
    ['a whole id', { text: cat.id }, [cat.email]],
    ['the beginning of an id', { text: cat.id.slice(0, 12) }, [cat.email]],
    ['the end of an id is none', { text: cat.id.slice(5) }, []],
    ['a plan', { plan: 'starter' }, [cat.email, bob.email]],
    ['a standing', { standing: 'suspended' }, [dan.email]],
    ['an unverified address', { emailVerified: false }, [bob.email]],
    ['several at once', { plan: 'starter', emailVerified: true }, [cat.email]],
  ] as const)('%s', async (_name, filter, expected) => {
    expect(await emails(filter)).toEqual([...expected]);
  });

  test('blocked are those whose block is effective', async () => {
    expect(await emails({ standing: 'blocked' })).toEqual([bob.email, ann.email]);
    expect(await found({ standing: 'blocked' }, START_MS + 1_000)).toEqual([ann]);
  });

  sqliteTest('it fills a file')(
    'a search for nothing that exists stays quick among a hundred thousand',
    async () => {
      const many = await open();
      const insert = many.database.connection.prepare(
        `insert into accounts (id, email, plan, plan_since, standing, email_verified, created_at)
       values (?, ?, 'pro', 0, 'active', 1, 0)`,
      );
      await many.database.transaction(async () => {
        for (let index = 0; index < 100_000; index += 1) {
          insert.run(`acct_${index}`, `customer-${index}@example.com`);
        }
      });
      const search = async (filter: AccountFilter) => {
        const startedAt = performance.now();
        const page = { limit: 50, before: undefined, nowMs: START_MS };
        const rows = await searchAccounts(many.database, filter, page);
        return { rows: rows.length, ms: performance.now() - startedAt };
      };
      const looks = [];
      for (const filter of [{}, { text: 'customer-9' }, { text: 'unknown' }, { plan: 'none' }]) {
        looks.push(await search(filter));
      }
      expect(looks.map(({ rows }) => rows)).toEqual([50, 50, 0, 0]);
      // A read of them all takes some 30 ms; the bound is for a machine that is busy with other
      // things.
      expect(Math.max(...looks.map(({ ms }) => ms))).toBeLessThan(1_000);
      await many.database.close();
    },
  );
});

describeOnEachDatabase('pages', () => {
  test('accounts: each that was there is seen once, in order, while others are created', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 0, max: 12 }),
        fc.integer({ min: 1, max: 5 }),
        async (size, limit) => {
          const { database, identity } = await open();
          const made: string[] = [];
          while (made.length < size) made.push((await addAccount(identity)).id);
          const seen = await turn(
            (count, before) =>
              searchAccounts(database, {}, { limit: count, before, nowMs: START_MS }),
            ({ number }) => number,
            limit,
            () => addAccount(identity),
          );
          expect(seen.map(({ account }) => account.id)).toEqual(made.toReversed());
          await database.close();
        },
      ),
      { numRuns: 30 },
    );
  });

  test('the trail: by account, actor, action and subject, each event once', async () => {
    const { database, identity } = await open();
    const ops = { name: 'operator:ops@example.com', address: '203.0.113.9' };
    const accounts: Account[] = [];
    while (accounts.length < 3) accounts.push(await addAccount(identity));
    for (const { id } of accounts) {
      await identity.accounts.changePlan(id, 'starter', ops);
      await identity.accounts.changeStanding(id, 'suspended', 'operator');
    }
    const read = (filter: Parameters<typeof searchAuditEvents>[1], limit = 2) =>
      turn(
        (count, before) => searchAuditEvents(database, filter, { limit: count, before }),
        ({ id }) => id,
        limit,
        () => addAccount(identity),
      );
    const [first] = accounts;
    if (first === undefined) throw new Error('no account');
    expect((await read({ accountId: first.id })).map(({ action }) => action)).toEqual([
      'account.standing_changed',
      'account.plan_changed',
      'account.created',
    ]);
    expect(await read({ subject: first.id })).toEqual(await read({ accountId: first.id }));
    const byOps = await read({ actor: ops.name });
    expect(byOps.map(({ address, accountId }) => [address, accountId])).toEqual(
      accounts.toReversed().map(({ id }) => [ops.address, id]),
    );
    expect(await read({ actor: ' Ops@Example.com' })).toEqual(byOps);
    expect(await read({ action: 'account.plan_changed' })).toEqual(byOps);
    expect(await read({ action: 'account.plan_changed', accountId: first.id })).toHaveLength(1);
    expect(await read({ actor: 'unknown' })).toEqual([]);
    await database.close();
  });

  test('blocks: with whom they concern, and only effective ones', async () => {
    const { database, identity } = await open();
    const blocks = createBlocks(identity);
    const account = await addAccount(identity);
    const { row: key } = await identity.keys.create({ accountId: account.id }, 'operator');
    await blocks.add('account', account.id, { reason: 'fraud' }, 'operator');
    await blocks.add('key', key.id, { reason: 'leak', forMs: 1_000 }, 'operator');
    await blocks.add('network', '203.0.113.0/24', { reason: '' }, 'operator');
    const read = async (kind: 'account' | 'key' | 'network' | undefined, nowMs = START_MS) => {
      const listed = await turn(
        (count, before) => listBlocks(database, kind, { limit: count, before, nowMs }),
        ({ number }) => number,
        1,
      );
      return listed.map(({ block, number: _, ...whom }) => [block.kind, block.value, whom]);
    };
    const { id: accountId, email } = account;
    const ofNetwork = ['network', '203.0.113.0/24', { accountId: null, email: null, masked: null }];
    const ofKey = ['key', key.id, { accountId, email, masked: key.masked }];
    const ofAccount = ['account', accountId, { accountId, email, masked: null }];
    expect<unknown>(await read(undefined)).toEqual([ofNetwork, ofKey, ofAccount]);
    expect<unknown>(await read(undefined, START_MS + 1_000)).toEqual([ofNetwork, ofAccount]);
    expect<unknown>(await read('account')).toEqual([ofAccount]);
    expect((await findBlock(database, 'key', key.id, START_MS))?.reason).toBe('leak');
    expect(await findBlock(database, 'key', key.id, START_MS + 1_000)).toBeUndefined();
    expect(await findBlock(database, 'key', accountId, START_MS)).toBeUndefined();
    await database.close();
  });
});
