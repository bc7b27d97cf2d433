// Everything the writer has answered is committed: nothing is left for a later transaction.

import { expect, test } from 'bun:test';
import type { BudgetLimits } from '../../src/core/key-budget.ts';
import { AMOUNT_MAX, micro, ZERO } from '../../src/core/money.ts';
import { readKeyBudgets } from '../../src/ledger/budget-list.ts';
import type { LedgerRequest } from '../../src/ledger/writer.ts';
import { createWriter } from '../../src/ledger/writer.ts';
import { PostgresFailure, UnknownOutcome } from '../../src/store/postgres/error.ts';
import { describeOnEachDatabase, failingAt, temporaryDirectory } from '../support/database.ts';
import {
  addAccount,
  addAccounts,
  creditOf,
  fundAccount,
  holdOf,
  NOW,
  openBooks,
  releaseOf,
  settleOf,
} from '../support/ledger.ts';

const directory = temporaryDirectory();

/** The last one takes from the available balance and leaves a loss. */
const STEPS: readonly LedgerRequest[] = [
  { name: 'credit', command: creditOf('c1', 'ada', 1_000n) },
  { name: 'hold', command: holdOf('r1', 'ada', 600n) },
  { name: 'settle', command: settleOf('r1', 15n) },
  { name: 'hold', command: holdOf('r2', 'ada', 600n) },
  { name: 'release', command: releaseOf('r2') },
  { name: 'hold', command: holdOf('r3', 'ada', 600n) },
  { name: 'settle', command: settleOf('r3', 1_200n) },
];

describeOnEachDatabase('the writer', () => {
  test('the books are whole when a batch is answered, before anything else has a turn', async () => {
    await using open = await openBooks(directory);
    // Books without any receipt pass for books from before there were some.
    await fundAccount(open, 'bob', 1n);
    await addAccount(open, 'ada');
    const write = createWriter(open.database);
    for (const step of STEPS) {
      expect(await write([step])).toMatchObject([{ ok: true }]);
      expect(await open.books.audit()).toEqual([]);
    }
    expect(await open.books.balance('ada')).toEqual({
      posted: micro(0n),
      held: micro(0n),
      available: micro(0n),
    });
  });

  test('a first budget counts the charges of its own batch, on either side of it', async () => {
    await using open = await openBooks(directory);
    await fundAccount(open, 'ada', 1_000_000n);
    const write = createWriter(open.database);
    const hold = (id: string): LedgerRequest => ({
      name: 'hold',
      command: holdOf(id, 'ada', 10n),
    });
    const settle = (id: string): LedgerRequest => ({ name: 'settle', command: settleOf(id, 7n) });
    await write([hold('r0'), hold('r1'), hold('r2')]);
    await write([settle('r0')]);
    const of = { accountId: 'ada', family: 'key_1', keyId: 'key_1', nowMs: NOW };
    const budget = { ...of, limits: { total: micro(1_000n) } };
    const answers = await write([settle('r1'), { name: 'budget', command: budget }, settle('r2')]);
    expect(answers).toMatchObject([{ ok: true }, { ok: true }, { ok: true }]);
    expect(await open.books.audit()).toEqual([]);
    const { spend } = (await readKeyBudgets(open.database, ['key_1'])).get('key_1') ?? {};
    expect(spend?.total).toBe(micro(21n));
  });

  test('a key without a budget keeps none, unread, when no limit is set', async () => {
    await using open = await openBooks(directory);
    await fundAccount(open, 'ada', 1_000n);
    let reads = 0;
    const write = createWriter({
      ...open.database,
      rows: (query) => {
        reads += 1;
        return open.database.rows(query);
      },
    });
    const of = { accountId: 'ada', family: 'key_1', keyId: 'key_1', nowMs: NOW };
    const set = (limits: Partial<BudgetLimits>): Promise<unknown> =>
      write([{ name: 'budget', command: { ...of, limits } }]);
    await write([{ name: 'hold', command: holdOf('r1', 'ada', 10n) }]);
    await write([{ name: 'settle', command: settleOf('r1', 7n) }]);
    const before = reads;
    for (const limits of [{}, { total: null, day: null, month: null }]) await set(limits);
    expect(reads).toBe(before);
    expect((await readKeyBudgets(open.database, ['key_1'])).size).toBe(0);
    await set({ day: null, total: micro(1_000n) });
    expect(reads).toBe(before + 1);
    const { spend } = (await readKeyBudgets(open.database, ['key_1'])).get('key_1') ?? {};
    expect(spend?.total).toBe(micro(7n));
  });

  test('a batch in which a command is refused leaves whole chains, of the others alone', async () => {
    await using open = await openBooks(directory);
    await addAccount(open, 'ada');
    const write = createWriter(open.database);
    const tooMuch = { ...creditOf('c9', 'ada', -5_000n), kind: 'adjustment' } as const;
    for (let batch = 0; batch < 3; batch += 1) {
      const answers = await write([
        { name: 'credit', command: creditOf(`a${batch}`, 'ada', 10n) },
        { name: 'credit', command: tooMuch },
        { name: 'credit', command: creditOf(`c${batch}`, 'ada', AMOUNT_MAX) },
        { name: 'credit', command: creditOf(`b${batch}`, 'ada', 1n) },
      ]);
      expect(answers.map(({ ok }) => ok)).toEqual([true, false, false, true]);
      expect(await open.books.audit()).toEqual([]);
    }
    expect((await open.books.balance('ada')).posted).toBe(micro(33n));
  });

  test('a hold of a request that has ended is refused alone, in a batch of cached accounts', async () => {
    await using open = await openBooks(directory);
    for (const account of ['ada', 'bob']) await fundAccount(open, account, 100n);
    const write = createWriter(open.database);
    const hold = (id: string, account: string): LedgerRequest => ({
      name: 'hold',
      command: holdOf(id, account, 10n),
    });
    const settle: LedgerRequest = { name: 'settle', command: settleOf('r1', 7n) };
    await write([hold('r1', 'ada'), hold('b1', 'bob')]);
    await write([settle]);
    for (const [account, ...more] of [
      ['ada'],
      ['bob'],
      ['ada', settle],
      ['ada', hold('r2', 'bob')],
    ] as const) {
      const id = `n${crypto.randomUUID().slice(0, 8)}`;
      const answers = await write([hold(id, 'bob'), hold('r1', account), ...more]);
      const ended = { name: 'LedgerRefusal', message: 'This request has ended already.' };
      expect(answers).toMatchObject([
        { ok: true, result: { ok: true } },
        { ok: false, error: ended },
        ...more.map(() => ({ ok: true })),
      ]);
    }
    expect(await open.books.audit()).toEqual([]);
    expect(await open.books.balance('ada')).toMatchObject({ posted: micro(93n), held: ZERO });
    expect(await open.books.balance('bob')).toMatchObject({ held: micro(60n) });
  });

  test('a disk that fails in the middle of a batch undoes all of it, even if other commands were refused', async () => {
    await using open = await openBooks(directory);
    await fundAccount(open, 'ada', 10n);
    const write = createWriter(failingAt(open.database, 'open_holds'));
    const tooMuch = { ...creditOf('c9', 'ada', -5_000n), kind: 'adjustment' } as const;
    const batch: readonly LedgerRequest[] = [
      { name: 'hold', command: holdOf('r1', 'ada', 1n) },
      { name: 'credit', command: tooMuch },
    ];
    const failed = { ok: false, error: { name: 'LedgerUnavailable' } };
    expect(await write(batch)).toMatchObject([failed, failed]);
    expect(await open.books.balance('ada')).toMatchObject({ posted: micro(10n), held: micro(0n) });
  });

  test('a commit of unknown outcome stays unknown, even if looking it up fails', async () => {
    await using open = await openBooks(directory);
    await fundAccount(open, 'ada', 10n);
    const failures: Error[] = [];
    const failing = [
      new UnknownOutcome('CONNECTION_CLOSED', 'cut'),
      new PostgresFailure('57P03', 'starting up'),
    ];
    const write = createWriter({
      ...open.database,
      async concurrently(work) {
        const [failure] = failures.splice(0, 1);
        if (failure === undefined) return open.database.concurrently(work);
        if (failure instanceof UnknownOutcome) await open.database.concurrently(work);
        throw failure;
      },
    });
    // What it names has its numbers by then.
    await write([{ name: 'hold', command: holdOf('r0', 'ada', 0n) }]);
    failures.push(...failing);
    const hold: LedgerRequest = { name: 'hold', command: holdOf('r1', 'ada', 4n) };
    // The caller takes it back.
    expect(await write([hold])).toMatchObject([{ ok: false, error: { silent: true } }]);
    expect(await open.books.balance('ada')).toMatchObject({ held: micro(4n) });
    expect(await write([hold])).toMatchObject([
      { ok: true, result: { ok: true, available: micro(6n) } },
    ]);
  });

  test('more accounts and more open holds than are remembered are looked up again', async () => {
    await using open = await openBooks(directory);
    const write = createWriter(open.database);
    const ids = Array.from({ length: 10_001 }, (_, n) => `a${n}`);
    await addAccounts(open, ids);
    const inAll = async (request: (id: string) => LedgerRequest) => {
      const answers = await write(ids.map(request));
      expect(answers.filter(({ ok }) => !ok)).toEqual([]);
    };
    await inAll((id) => ({ name: 'credit', command: creditOf(`c-${id}`, id, 100n) }));
    await inAll((id) => ({ name: 'hold', command: holdOf(`r-${id}`, id, 60n) }));
    await inAll((id) => ({ name: 'settle', command: settleOf(`r-${id}`, 15n) }));
    expect(await open.books.audit()).toEqual([]);
    expect(await open.books.balance('a0')).toEqual({
      posted: micro(85n),
      held: micro(0n),
      available: micro(85n),
    });
  }, 180_000);
});
