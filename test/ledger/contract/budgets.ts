// Budgets of keys: parallel requests never overspend one, and nothing resets it.

import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { DAY_MS, utcDay, utcMonth } from '../../../src/core/calendar.ts';
import type { BudgetLimits } from '../../../src/core/key-budget.ts';
import { micro, tokenCount } from '../../../src/core/money.ts';
import type { HoldCommand } from '../../../src/ledger/contract.ts';
import { recoverAll } from '../../../src/ledger/recover.ts';
import { testDialect } from '../../support/database.ts';
import { creditOf, holdOf, NOW, releaseOf, settleOf } from '../../support/ledger.ts';
import { samples } from '../../support/tier.ts';
import type { LedgerUnderTest } from './contract.ts';

const DAY = utcDay(NOW).fromMs;

type Limits = { readonly [Period in keyof BudgetLimits]?: bigint | null };

function budgetOf(accountId: string, limits: Limits, keyId = 'key_1', nowMs = NOW) {
  const amounts = Object.entries(limits).map(([period, limit]) => [
    period,
    limit === null ? null : micro(limit),
  ]);
  const amountsByPeriod: Partial<BudgetLimits> = Object.fromEntries(amounts);
  return { accountId, family: keyId, keyId, limits: amountsByPeriod, nowMs };
}

/** A hold that reserves `amount` and `excess` of its budget: its first slice is all its output. */
function smallHold(id: string, account: string, amount: bigint, excess = 0n): HoldCommand {
  const outputBound = tokenCount(100);
  return { ...holdOf(id, account, amount), excess: micro(excess), outputBound };
}

async function funded(open: () => Promise<LedgerUnderTest>): Promise<LedgerUnderTest> {
  const subject = await open();
  await subject.addAccount('ada');
  await subject.ledger.credit(creditOf('c1', 'ada', 1_000_000n));
  return subject;
}

async function spentBy(subject: LedgerUnderTest, family = 'key_1') {
  const { total, inDay, inMonth } = (await subject.budget(family))?.spend ?? {};
  return [total, inDay, inMonth];
}

export function describeBudgets(open: () => Promise<LedgerUnderTest>): void {
  describe('budgets', () => {
    test.each(['total', 'day', 'month'] as const)(
      'of 200 holds at once, a %s budget admits as many as it covers',
      async (period) => {
        const subject = await funded(open);
        await subject.ledger.budget(budgetOf('ada', { [period]: 100n }));
        const holds = await Promise.all(
          Array.from({ length: 200 }, (_, n) =>
            subject.ledger.hold(smallHold(`r${n}`, 'ada', 9n, 1n)),
          ),
        );
        expect(holds.filter(({ ok }) => ok).length).toBe(10);
        expect(holds.at(-1)).toMatchObject({
          ok: false,
          budget: { period, rest: micro(100n), room: micro(0n), openHolds: 10 },
        });
        // Each costs the most that it can; then the budget is spent, exactly.
        await Promise.all(
          Array.from({ length: 10 }, (_, n) => subject.ledger.settle(settleOf(`r${n}`, 10n))),
        );
        expect(await spentBy(subject)).toEqual([micro(100n), micro(100n), micro(100n)]);
        expect(await subject.ledger.hold(smallHold('late', 'ada', 1n))).toMatchObject({
          ok: false,
        });
        expect(await subject.differences()).toEqual([]);
        await subject.close();
      },
    );

    test('a key without one, and one of another key, are untouched', async () => {
      const subject = await funded(open);
      await subject.ledger.budget(budgetOf('ada', { total: 5n }));
      const other = { ...smallHold('r1', 'ada', 500n), keyId: 'key_2' };
      expect((await subject.ledger.hold(other)).budget).toBeUndefined();
      await subject.ledger.settle(settleOf('r1', 500n));
      expect(await spentBy(subject)).toEqual([micro(0n), micro(0n), micro(0n)]);
      await subject.close();
    });

    test('an empty balance is refused before a budget', async () => {
      const subject = await funded(open);
      await subject.ledger.budget(budgetOf('ada', { total: 5n }));
      const hold = await subject.ledger.hold(smallHold('r1', 'ada', 2_000_000n));
      expect(hold).toMatchObject({ ok: false, available: micro(1_000_000n) });
      expect(hold.budget).toBeUndefined();
      await subject.close();
    });

    test('a replacement shares the budget of the key that it replaced', async () => {
      const subject = await funded(open);
      await subject.addKey('ada', 'key_2', 'key_1');
      await subject.ledger.budget(budgetOf('ada', { total: 100n }));
      await subject.ledger.hold(smallHold('r1', 'ada', 60n));
      const rotated = { ...smallHold('r2', 'ada', 60n), keyId: 'key_2', family: 'key_1' };
      expect(await subject.ledger.hold(rotated)).toMatchObject({ ok: false });
      await subject.ledger.settle(settleOf('r1', 50n));
      const fitting = { ...smallHold('r3', 'ada', 50n), keyId: 'key_2', family: 'key_1' };
      expect(await subject.ledger.hold(fitting)).toMatchObject({ ok: true });
      await subject.ledger.settle(settleOf('r3', 50n));
      expect((await spentBy(subject))[0]).toBe(micro(100n));
      await subject.close();
    });

    test('reserves output above the first slice as far as budget and balance allow', async () => {
      const subject = await funded(open);
      await subject.ledger.budget(budgetOf('ada', { total: 3_000n }));
      const first = await subject.ledger.hold(holdOf('r1', 'ada', 100n));
      // 8,192 tokens of output, of which 4,096 are in the amount.
      expect(first.budget).toEqual({ left: micro(2_458n) });
      const second = await subject.ledger.hold(holdOf('r2', 'ada', 100n));
      expect(second.budget).toEqual({ left: micro(342n) });
      expect(await subject.ledger.hold(holdOf('r3', 'ada', 100n))).toMatchObject({ ok: false });
      // What was reserved at the start can be bought later.
      const grown = await subject.ledger.extend({ requestId: 'r2', amount: micro(442n) });
      expect(grown.ok).toBe(true);
      const more = await subject.ledger.extend({ requestId: 'r2', amount: micro(443n) });
      expect(more).toMatchObject({ ok: false, budget: { room: micro(442n) } });
      await subject.close();
    });

    test('a charge above its reservation takes the rest of the budget, and no more', async () => {
      const subject = await funded(open);
      await subject.ledger.budget(budgetOf('ada', { total: 100n }));
      await subject.ledger.hold(smallHold('r1', 'ada', 40n));
      await subject.ledger.hold(smallHold('r2', 'ada', 40n));
      // An upstream may report a prompt that is far above our count.
      const first = await subject.ledger.settle(settleOf('r1', 90n));
      expect(first).toMatchObject({ debited: micro(60n), loss: micro(30n) });
      const second = await subject.ledger.settle(settleOf('r2', 40n));
      expect(second).toMatchObject({ debited: micro(40n), loss: micro(0n) });
      expect((await spentBy(subject))[0]).toBe(micro(100n));
      expect(await subject.differences()).toEqual([]);
      await subject.close();
    });

    test('a new day and a new month start at zero, and the total never does', async () => {
      const subject = await funded(open);
      const limits = { total: 1_000n, day: 10n, month: 30n };
      await subject.ledger.budget(budgetOf('ada', limits));
      const spend = async (id: string, nowMs: number) => {
        const hold = await subject.ledger.hold({ ...smallHold(id, 'ada', 10n), nowMs });
        if (hold.ok) await subject.ledger.settle({ ...settleOf(id, 10n), nowMs });
        return hold.ok ? 'ok' : hold.budget && 'period' in hold.budget && hold.budget.period;
      };
      const last = DAY + DAY_MS - 1;
      expect(await spend('d1', last)).toBe('ok');
      expect(await spend('d1 again', last)).toBe('day');
      expect(await spend('d2', last + 1)).toBe('ok');
      expect(await spend('d3', last + 1 + DAY_MS)).toBe('ok');
      expect(await spend('d4', last + 1 + 2 * DAY_MS)).toBe('month');
      const next = Date.UTC(2026, 11, 1);
      expect(utcMonth(next - 1).fromMs).toBe(utcMonth(NOW).fromMs);
      expect(await spend('end of month', next - 1)).toBe('month');
      expect(await spend('month', next)).toBe('ok');
      // A clock that goes back opens no day again.
      expect(await spend('back', next - 1)).toBe('day');
      expect(await spentBy(subject)).toEqual([micro(40n), micro(10n), micro(10n)]);
      expect(await subject.differences()).toEqual([]);
      await subject.close();
    });

    test('a request that spans midnight counts for the day in which it is booked', async () => {
      const subject = await funded(open);
      await subject.ledger.budget(budgetOf('ada', { day: 100n }));
      await subject.ledger.hold({ ...smallHold('r1', 'ada', 60n), nowMs: DAY + DAY_MS - 1 });
      const tomorrow = DAY + DAY_MS;
      // Its reservation counts on the new day, too.
      const hold = await subject.ledger.hold({ ...smallHold('r2', 'ada', 60n), nowMs: tomorrow });
      expect(hold).toMatchObject({ ok: false, budget: { room: micro(40n) } });
      await subject.ledger.settle({ ...settleOf('r1', 60n), nowMs: tomorrow });
      expect(await spentBy(subject)).toEqual([micro(60n), micro(60n), micro(60n)]);
      await subject.close();
    });

    test('lowered below what is spent, it refuses new requests and bills running ones', async () => {
      const subject = await funded(open);
      await subject.ledger.budget(budgetOf('ada', { total: 100n }));
      await subject.ledger.hold(smallHold('r1', 'ada', 80n));
      await subject.ledger.budget(budgetOf('ada', { total: 10n }));
      expect(await subject.ledger.settle(settleOf('r1', 80n))).toMatchObject({
        debited: micro(80n),
        loss: micro(0n),
      });
      const hold = await subject.ledger.hold(smallHold('r2', 'ada', 1n));
      expect(hold).toMatchObject({ ok: false, budget: { rest: micro(-70n), openHolds: 0 } });
      await subject.ledger.budget(budgetOf('ada', { total: 81n }));
      expect(await subject.ledger.hold(smallHold('r3', 'ada', 1n))).toMatchObject({ ok: true });
      await subject.close();
    });

    test('the first one starts with what its keys have spent, and covers what they are doing', async () => {
      const subject = await funded(open);
      await subject.addKey('ada', 'key_1');
      await subject.addKey('ada', 'key_2', 'key_1');
      await subject.addKey('ada', 'key_3');
      for (const [n, keyId] of ['key_1', 'key_2', 'key_3'].entries()) {
        await subject.ledger.hold({ ...smallHold(`r${n}`, 'ada', 10n), keyId });
        await subject.ledger.settle(settleOf(`r${n}`, 10n));
      }
      await subject.addUp();
      await subject.ledger.hold(smallHold('after', 'ada', 10n));
      await subject.ledger.settle(settleOf('after', 10n));
      await subject.ledger.hold(smallHold('running', 'ada', 10n));
      const { spend } = await subject.ledger.budget(budgetOf('ada', { total: 45n }));
      expect(spend).toMatchObject({ total: micro(30n), inDay: micro(30n), inMonth: micro(30n) });
      expect(await subject.ledger.hold(smallHold('more', 'ada', 10n))).toMatchObject({
        ok: false,
        budget: { rest: micro(15n), room: micro(5n), openHolds: 1 },
      });
      await subject.ledger.settle(settleOf('running', 10n));
      expect((await spentBy(subject))[0]).toBe(micro(40n));
      expect(await subject.differences()).toEqual([]);
      await subject.close();
    });

    test('removing it and setting it again does not reset it', async () => {
      const subject = await funded(open);
      await subject.ledger.budget(budgetOf('ada', { total: 10n }));
      await subject.ledger.hold(smallHold('r1', 'ada', 10n));
      await subject.ledger.settle(settleOf('r1', 10n));
      await subject.ledger.budget(budgetOf('ada', { total: null }));
      await subject.ledger.hold(smallHold('r2', 'ada', 500n));
      await subject.ledger.settle(settleOf('r2', 500n));
      await subject.ledger.budget(budgetOf('ada', { total: 10n }));
      expect(await subject.ledger.hold(smallHold('r3', 'ada', 1n))).toMatchObject({
        ok: false,
        budget: { rest: micro(-500n) },
      });
      await subject.close();
    });

    test('a request that is released or recovered without a charge gives back its reservation', async () => {
      const subject = await funded(open);
      await subject.ledger.budget(budgetOf('ada', { total: 10n }));
      await subject.ledger.hold(smallHold('r1', 'ada', 10n));
      await subject.ledger.release(releaseOf('r1'));
      await subject.ledger.hold(smallHold('r2', 'ada', 10n));
      await recoverAll(subject.ledger, {
        ...{ live: [], phase: 'ended', createdBefore: NOW + 1, nowMs: NOW + 2 },
        usdPerMillion: settleOf('', 1n).usdPerMillion,
      });
      expect(await subject.ledger.hold(smallHold('r3', 'ada', 10n))).toMatchObject({ ok: true });
      await subject.close();
    });

    test('in any order of commands, no day is charged more than its budget', async () => {
      const subject = await open();
      let round = 0;
      await fc.assert(
        fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 40 }), async (steps) => {
          round += 1;
          const account = `acct-${round}`;
          await subject.addAccount(account);
          await subject.ledger.credit(creditOf(account, account, 1_000_000n));
          await play(subject, account, steps);
        }),
        { numRuns: testDialect() === 'postgres' ? 5 : samples(40, 200, 20) },
      );
      expect(await subject.differences()).toEqual([]);
      await subject.close();
    });
  });
}

const LIMIT = 50n;

type Step =
  | { readonly kind: 'hold'; readonly amount: bigint; readonly excess: bigint; rotated: boolean }
  /** `share` of what it reserved, in percent. */
  | { readonly kind: 'settle'; readonly which: number; readonly share: bigint }
  | { readonly kind: 'release'; readonly which: number }
  | { readonly kind: 'night' };

const which = fc.nat(20);
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('hold' as const),
      amount: fc.bigInt({ min: 1n, max: 30n }),
      excess: fc.bigInt({ min: 0n, max: 15n }),
      rotated: fc.boolean(),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('settle' as const),
      which,
      share: fc.constantFrom(0n, 50n, 100n, 300n),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('release' as const), which }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('night' as const) }) },
);

/** Plays the steps under a daily budget, and compares the ledger's spend with the sum of charges. */
async function play(subject: LedgerUnderTest, account: string, steps: readonly Step[]) {
  const { ledger } = subject;
  const key = `key-${account}`;
  await subject.addKey(account, `${key}-next`, key);
  await ledger.budget(budgetOf(account, { day: LIMIT }, key));
  const open: { id: string; worst: bigint }[] = [];
  let nowMs = NOW;
  let total = 0n;
  let today = 0n;
  for (const [n, step] of steps.entries()) {
    if (step.kind === 'night') {
      nowMs += DAY_MS;
      today = 0n;
    } else if (step.kind === 'hold') {
      const id = `${account}-${n}`;
      const keys = step.rotated ? { keyId: `${key}-next`, family: key } : { keyId: key };
      const command = { ...smallHold(id, account, step.amount, step.excess), ...keys, nowMs };
      const worst = step.amount + step.excess;
      const reserved = open.reduce((sum, each) => sum + each.worst, 0n);
      const { ok } = await ledger.hold(command);
      expect(ok).toBe(today + reserved + worst <= LIMIT);
      if (ok) open.push({ id, worst });
    } else {
      const [one] = open.splice(step.which % Math.max(1, open.length), 1);
      if (one === undefined) continue;
      if (step.kind === 'release') await ledger.release(releaseOf(one.id));
      else {
        const charge = (one.worst * step.share) / 100n;
        const { debited } = await ledger.settle({ ...settleOf(one.id, charge), nowMs });
        expect(debited).toBeGreaterThanOrEqual(charge < one.worst ? charge : one.worst);
        total += debited;
        today += debited;
      }
      expect(today <= LIMIT).toBe(true);
    }
  }
  const { spend } = (await subject.budget(key)) ?? {};
  expect(spend?.total).toBe(micro(total));
  const isSameDay = spend?.day === utcDay(nowMs).fromMs;
  expect(isSameDay ? spend.inDay : 0n).toBe(micro(today));
}
