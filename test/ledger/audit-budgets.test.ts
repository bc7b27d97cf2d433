// The audit of key budgets: what it compares, and that its work grows with the rows of an account
// and not with their product.

import { expect, test } from 'bun:test';
import { micro } from '../../src/core/money.ts';
import { budgetDifferences } from '../../src/ledger/audit/budgets.ts';
import type { Difference } from '../../src/ledger/audit/difference.ts';
import { ACCOUNTS_PAGE } from '../../src/ledger/audit/pages.ts';
import { createRollUp } from '../../src/ledger/series/roll-up.ts';
import { createQueries } from '../../src/store/database.ts';
import { apiKeys } from '../../src/store/tables.ts';
import {
  describeOnEachDatabase,
  dropGuards,
  sqliteTest,
  tamper,
  temporaryDirectory,
} from '../support/database.ts';
import {
  addAccounts,
  fundAccount,
  holdOf,
  NOW,
  type OpenBooks,
  openBooks,
  settleOf,
} from '../support/ledger.ts';

const directory = temporaryDirectory();

const lineOf = ({ accountId, subject, detail }: Difference): string =>
  `${accountId} ${subject}: ${detail}`;

async function differences({ database }: OpenBooks, accountId?: string): Promise<string[]> {
  const scope = accountId === undefined ? {} : { accountId };
  return (await Array.fromAsync(budgetDifferences(database, scope))).map(lineOf);
}

async function addKey({ database }: OpenBooks, id: string, family: string | null): Promise<void> {
  const row = { id, accountId: 'ada', digest: id, masked: id, createdAt: NOW, family };
  await database.db.insert(apiKeys).values(row).run();
}

function setBudget({ ledger }: OpenBooks, accountId: string, family: string): Promise<unknown> {
  const limits = { total: micro(100_000n) };
  return ledger.budget({ accountId, family, keyId: family, limits, nowMs: NOW });
}

describeOnEachDatabase('the audit of budgets', () => {
  test('sums what all keys of a rotation were charged, before and after the roll-up', async () => {
    await using open = await openBooks(directory);
    const { database, ledger } = open;
    await fundAccount(open, 'ada', 1_000n);
    await addKey(open, 'key_1', null);
    await addKey(open, 'key_2', 'key_1');
    await addKey(open, 'key_3', null);
    await setBudget(open, 'ada', 'key_1');
    const hold = (id: string, keyId: string, family?: string) =>
      ledger.hold({ ...holdOf(id, 'ada', 30n), keyId, ...(family !== undefined && { family }) });
    for (const part of ['rolled up', 'new']) {
      await hold(`${part} 1`, 'key_1');
      await hold(`${part} 2`, 'key_2', 'key_1');
      await hold(`${part} 3`, 'key_3');
      // A request goes on when its key is revoked, and its charge still counts.
      await database.db.update(apiKeys).set({ revokedAt: NOW, revokedReason: 'user' }).run();
      for (const n of [1, 2, 3]) await ledger.settle(settleOf(`${part} ${n}`, 15n));
      if (part === 'rolled up') await createRollUp(database).step(1_000);
    }
    expect(await differences(open)).toEqual([]);
    await dropGuards(database);
    await tamper(database, 'UPDATE key_budgets SET spent_total = spent_total + 1');
    const wrong = 'ada key_1: its keys were charged 0.00006, and its budget has counted 0.000061';
    expect(await differences(open)).toEqual([wrong]);
    expect(await differences(open, 'ada')).toEqual([wrong]);
    expect(await differences(open, 'bob')).toEqual([]);
  });

  test('finds what is wrong on each page of accounts', async () => {
    await using open = await openBooks(directory);
    const ids = Array.from({ length: ACCOUNTS_PAGE + 1 }, (_, n) => `a${n}`);
    const last = `a${ACCOUNTS_PAGE}`;
    await addAccounts(open, ids);
    await Promise.all(ids.map((id) => setBudget(open, id, `key-${id}`)));
    expect(await differences(open)).toEqual([]);
    await dropGuards(open.database);
    await tamper(open.database, "UPDATE balances SET budgets = 0 WHERE account_id = 'a0'");
    await tamper(
      open.database,
      `UPDATE key_budgets SET spent_total = 7 WHERE account = (SELECT number FROM balances WHERE account_id = '${last}')`,
    );
    const wrong = `${last} key-${last}: its keys were charged 0, and its budget has counted 0.000007`;
    expect(await differences(open)).toEqual([
      'a0 key-a0: it has a budget that no account counts',
      wrong,
    ]);
    expect(await differences(open, last)).toEqual([wrong]);
    await tamper(open.database, 'UPDATE key_budgets SET account = 9999 WHERE spent_total = 7');
    expect(await differences(open)).toEqual([
      'a0 key-a0: it has a budget that no account counts',
      `null key-${last}: it has a budget that no account counts`,
    ]);
  });

  sqliteTest('it reads a plan of SQLite')(
    'is one statement for each account, which scans no table for a budget of it',
    async () => {
      await using open = await openBooks(directory);
      await fundAccount(open, 'ada', 1_000n);
      await fundAccount(open, 'bob', 1_000n);
      await setBudget(open, 'bob', 'key-bob');
      const texts: string[] = [];
      const { rows } = createQueries((ask) => {
        texts.push(ask.text);
        return open.database.ask(ask);
      });
      for (const count of [1, 40]) {
        await Promise.all(
          Array.from({ length: count }, (_, n) => setBudget(open, 'ada', `key_${n}`)),
        );
        texts.length = 0;
        const found = budgetDifferences({ ...open.database, rows }, {});
        expect(await Array.fromAsync(found)).toEqual([]);
        // The accounts, and each of the two.
        expect(texts).toHaveLength(3);
      }
      const plan = texts.flatMap((text) => {
        using explained = open.database.connection.prepare<{ detail: string }, []>(
          `explain query plan ${text}`,
        );
        return explained.all().map(({ detail }) => detail);
      });
      const scans = plan.filter((detail) => /CORRELATED|AUTOMATIC|^SCAN /.test(detail));
      expect(new Set(scans)).toEqual(
        new Set(['SCAN page', 'SCAN usage_mark', 'SCAN booked', 'SCAN spent']),
      );
      expect(plan).toContain('SEARCH r USING INTEGER PRIMARY KEY (rowid>?)');
    },
  );
});
