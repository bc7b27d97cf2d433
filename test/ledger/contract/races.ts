// Concurrent callers: an operation that may happen once happens once.

import { describe, expect, test } from 'bun:test';
import { micro, usdRate } from '../../../src/core/money.ts';
import { RECOVER_MAX, recoverAll } from '../../../src/ledger/recover.ts';
import { creditOf, holdOf, NOW, releaseOf, settleOf } from '../../support/ledger.ts';
import type { LedgerUnderTest } from './contract.ts';
import { expectInvariants } from './run.ts';

export function describeRaces(open: () => Promise<LedgerUnderTest>): void {
  describe('at once', () => {
    test('200 times the same credit is one', async () => {
      const subject = await open();
      await subject.addAccount('ada');
      const results = await Promise.all(
        Array.from({ length: 200 }, () => subject.ledger.credit(creditOf('c1', 'ada', 5n))),
      );
      expect(results.filter((result) => result.applied).length).toBe(1);
      expect(new Set(results.map((result) => result.available))).toEqual(new Set([micro(5n)]));
      expect((await subject.receipts('ada')).length).toBe(1);
      await subject.close();
    });

    test('200 redemptions of one code by 50 accounts are one', async () => {
      const subject = await open();
      const accounts = Array.from({ length: 50 }, (_, n) => `acct-${n}`);
      for (const account of accounts) await subject.addAccount(account);
      await subject.addCode({ code: 'gift', amount: micro(5n), state: 'open' });
      const redemptions = Array.from({ length: 200 }, async (_, n) => {
        const accountId = accounts[n % 50] ?? '';
        const result = await subject.ledger.redeem({ digest: 'gift', accountId, nowMs: NOW });
        return result.kind === 'redeemed' ? `${accountId} ${result.available}` : result.why;
      });
      const results = await Promise.all(redemptions);
      // The account that was first asks four times and hears the same each time.
      expect(new Set(results)).toEqual(new Set(['acct-0 5', 'used']));
      expect(results.filter((result) => result !== 'used').length).toBe(4);
      await expectInvariants(subject, accounts);
      expect((await subject.legs()).length).toBe(2);
      expect(await subject.differences()).toEqual([]);
      await subject.close();
    });

    test('holds beyond the balance are refused, each hold is there once', async () => {
      const subject = await open();
      await subject.addAccount('ada');
      await subject.ledger.credit(creditOf('c1', 'ada', 10n));
      const results = await Promise.all(
        Array.from({ length: 1_000 }, (_, n) => subject.ledger.hold(holdOf(`r${n}`, 'ada', 1n))),
      );
      expect(results.filter((result) => result.ok).length).toBe(10);
      const again = await Promise.all(
        Array.from({ length: 20 }, (_, n) => subject.ledger.hold(holdOf(`r${n}`, 'ada', 1n))),
      );
      expect(again.map((result) => result.ok)).toEqual(
        Array.from({ length: 20 }, (_, n) => n < 10),
      );
      expect(await subject.balance('ada')).toEqual({
        posted: micro(10n),
        held: micro(10n),
        available: micro(0n),
      });
      await subject.close();
    });

    test('of many settles and releases of one request, one counts', async () => {
      const subject = await open();
      await subject.addAccount('ada');
      await subject.ledger.credit(creditOf('c1', 'ada', 1_000n));
      await subject.ledger.hold(holdOf('r1', 'ada', 100n));
      const results = await Promise.all(
        Array.from({ length: 300 }, (_, n) =>
          n % 3 === 2
            ? subject.ledger.release(releaseOf('r1'))
            : subject.ledger.settle(settleOf('r1', BigInt(40 + n))),
        ),
      );
      const distinct = new Set(
        results.map(({ debited, loss, available }) => [debited, loss, available].join(' ')),
      );
      expect(distinct).toEqual(new Set(['40 0 960']));
      expect((await subject.receipts('ada')).length).toBe(2);
      await expectInvariants(subject, ['ada']);
      await subject.close();
    });
  });

  test('thousands of holds are recovered in portions, and nothing is left', async () => {
    const subject = await open();
    await subject.addAccount('ada');
    await subject.ledger.credit(creditOf('c1', 'ada', 1_000_000n));
    const count = 2 * RECOVER_MAX + 10;
    await Promise.all(
      Array.from({ length: count }, (_, n) => subject.ledger.hold(holdOf(`r${n}`, 'ada', 20n))),
    );
    const command = {
      live: ['r3', 'r4'],
      createdBefore: NOW + 1,
      phase: 'ended',
      usdPerMillion: usdRate(1n),
      nowMs: NOW + 5,
    } as const;
    expect((await subject.ledger.recover(command)).length).toBe(RECOVER_MAX);
    expect((await recoverAll(subject.ledger, command)).length).toBe(count - RECOVER_MAX - 2);
    expect(await subject.ledger.recover(command)).toEqual([]);
    expect(await subject.balance('ada')).toEqual({
      posted: micro(1_000_000n),
      held: micro(40n),
      available: micro(999_960n),
    });
    await expectInvariants(subject, ['ada']);
    expect(await subject.differences()).toEqual([]);
    await subject.close();
  });
}
