// A node whose cached books are outdated, because an account has used another node since: what it
// writes must not undo the writes of the other one.

import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test';
import { micro } from '../../src/core/money.ts';
import { createBooks } from '../../src/ledger/books.ts';
import type { HoldResult, LedgerRequest } from '../../src/ledger/contract.ts';
import { createWriter, type LedgerAnswer, type Writer } from '../../src/ledger/writer.ts';
import type { Database } from '../../src/store/contract.ts';
import { openHolds } from '../../src/store/money-tables.ts';
import { openPostgres } from '../../src/store/postgres/database.ts';
import { addAccount, creditOf, holdOf, NOW, PRICE, settleOf } from '../support/ledger.ts';
import { newPostgresUrl } from '../support/postgres-database.ts';
import { describeWithServices } from '../support/services.ts';

describeWithServices('outdated books of a node', ['PostgreSQL'], () => {
  let nodes: readonly Database[];
  let a: Writer;
  let b: Writer;

  beforeAll(async () => {
    const url = await newPostgresUrl();
    nodes = Array.from({ length: 2 }, () => openPostgres({ url, max: 2 }));
  });
  beforeEach(() => {
    [a, b] = nodes.map((node) => createWriter(node)) as [Writer, Writer];
  });
  afterAll(async () => {
    for (const node of nodes) await node.close();
  });

  async function fund(id: string, amount: bigint): Promise<void> {
    const [database] = nodes;
    if (database === undefined) throw new Error('no nodes');
    const books = createBooks(database);
    await addAccount({ database, ledger: undefined as never, books }, id);
    await a([{ name: 'credit', command: creditOf(id, id, amount) }]);
  }

  const resultOf = (answer: LedgerAnswer | undefined): HoldResult => {
    if (answer?.ok !== true) throw new Error('no answer');
    return answer.result as HoldResult;
  };

  const hold = (write: Writer, id: string, amount: bigint) =>
    write([{ name: 'hold', command: holdOf(id, 'kept', amount) }]);

  test('leave what another node has written of a hold', async () => {
    await fund('kept', 1_000_000n);
    const served = { model: 'swift-1', upstream: 'demo', price: PRICE };
    const checkpoint = (outputTokens: number): LedgerRequest => ({
      name: 'checkpoint',
      command: { requestId: 'kept-1', served, outputTokens, reasoningTokens: 0, nowMs: NOW },
    });
    await hold(a, 'kept-1', 10n);
    // The other node reads the hold before its first checkpoint, and then gives its key a budget.
    await hold(b, 'kept-2', 15n);
    await b([{ name: 'settle', command: settleOf('kept-2', 15n) }]);
    await a([checkpoint(7)]);
    const bound = { accountId: 'kept', family: 'key_1', keyId: 'key_1', nowMs: NOW };
    await b([{ name: 'budget', command: { ...bound, limits: { total: micro(100n) } } }]);
    const rowOf = async () => {
      const rows = await nodes[0]?.db.select().from(openHolds);
      return rows?.find(({ id }) => id === 'kept-1');
    };
    expect(await rowOf()).toMatchObject({ outputTokens: 7, checkpointAt: NOW });
    await a([checkpoint(9)]);
    expect(await rowOf()).toMatchObject({ outputTokens: 9, budgeted: micro(10n) });
    // So its budget bounds what it may cost.
    const [more] = await a([
      { name: 'extend', command: { requestId: 'kept-1', amount: micro(5_000n) } },
    ]);
    expect(resultOf(more)).toMatchObject({ ok: false, budget: { period: 'total' } });
  });
});
