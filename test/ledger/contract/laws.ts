// The ledger against its model: every short sequence of commands, and random ones.

import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { micro } from '../../../src/core/money.ts';
import { testDialect } from '../../support/database.ts';
import { samples } from '../../support/tier.ts';
import type { LedgerUnderTest } from './contract.ts';
import { createModel, type ModelCode, type Step } from './model.ts';
import { expectInvariants, run } from './run.ts';

const CODES: readonly ModelCode[] = [
  { code: 'open-1', amount: micro(7n), state: 'open' },
  { code: 'open-2', amount: 2n ** 53n + 1n, state: 'open' },
  { code: 'too-late', amount: micro(7n), state: 'expired' },
  { code: 'taken-back', amount: micro(7n), state: 'revoked' },
];

/** Over a network, every step takes its time; what the steps do is the same. */
const stepsMax = (): number => (testDialect() === 'postgres' ? 2 : samples(3, 4, 2));

/** Every sequence of `length` choices out of `count`. */
function sequences(count: number, length: number): number[][] {
  if (length === 0) return [[]];
  const choices = Array.from({ length: count }, (_, choice) => choice);
  return sequences(count, length - 1).flatMap((head) => choices.map((next) => [...head, next]));
}

/**
 * Gives all steps at once, which carries them out in order, many in one transaction. A recovery is
 * given alone: it passes over requests whose end is still waiting.
 */
async function runAll(subject: LedgerUnderTest, steps: readonly Step[]): Promise<string[]> {
  const answers: string[] = [];
  let waiting: Promise<string>[] = [];
  for (const step of steps) {
    if (step.kind === 'recover') {
      answers.push(...(await Promise.all(waiting)), await run(subject, step));
      waiting = [];
    } else waiting.push(run(subject, step));
  }
  return [...answers, ...(await Promise.all(waiting))];
}

/** Runs the steps, and holds answers, balances and holds against the model's. */
async function compare(
  subject: LedgerUnderTest,
  accounts: readonly string[],
  steps: readonly Step[],
) {
  const model = createModel(CODES);
  expect(await runAll(subject, steps)).toEqual(steps.map(model.run));
  await expectEqual(subject, model, accounts);
}

async function expectEqual(
  subject: LedgerUnderTest,
  model: ReturnType<typeof createModel>,
  accounts: readonly string[],
): Promise<void> {
  for (const account of accounts) {
    expect(await subject.balance(account)).toEqual(model.balance(account));
  }
  const found = new Map<string, string>();
  for (const id of model.holds().keys()) {
    const story = await subject.story(id);
    const { record, hold } = story ?? {};
    const end =
      record === undefined ? hold?.amount : `debited ${record.debited} lost ${record.loss}`;
    found.set(id, `${hold?.phase} ${end}`);
  }
  expect(found).toEqual(new Map(model.holds()));
}

export function describeLaws(open: () => Promise<LedgerUnderTest>): void {
  describe('every short sequence is as the model says:', () => {
    test('two requests that are held and ended, four steps', async () => {
      const subject = await open();
      const all = [1, 2, 3, 4].slice(0, stepsMax()).flatMap((length) => sequences(6, length));
      for (let from = 0; from < all.length; from += 500) {
        const checks = all.slice(from, from + 500).map(async (sequence) => {
          const account = `acct-${sequence.join('')}`;
          await subject.addAccount(account);
          const choices = ['a', 'b'].flatMap((request): Step[] => {
            const id = `${account}-${request}`;
            return [
              { kind: 'hold', account, amount: micro(60n), id },
              { kind: 'settle', charge: micro(90n), withinHold: false, id },
              { kind: 'release', id },
            ];
          });
          const steps = sequence.flatMap((choice) => choices[choice] ?? []);
          await compare(subject, [account], [opening(account), ...steps]);
        });
        await Promise.all(checks);
      }
      expect(await subject.differences()).toEqual([]);
      await subject.close();
    }, 60_000);

    test('the life of one request, four steps and a crash', async () => {
      const subject = await open();
      const all = [0, 1, 2, 3, 4]
        .slice(0, stepsMax() + 1)
        .flatMap((length) => sequences(8, length));
      for (const sequence of all) {
        const account = `acct-${sequence.join('')}`;
        const id = `${account}-r`;
        const recover: Step = { kind: 'recover', live: [], phase: 'ended' };
        const choices: Step[] = [
          { kind: 'hold', account, amount: micro(60n), id },
          { kind: 'extend', amount: micro(80n), id },
          { kind: 'extend', amount: micro(120n), id },
          { kind: 'checkpoint', output: 100, cheap: false, id },
          { kind: 'checkpoint', output: 50, cheap: true, id },
          { kind: 'settle', charge: micro(90n), withinHold: true, id },
          { kind: 'release', id },
          { ...recover, phase: 'expired' },
        ];
        const steps = sequence.flatMap((choice) => choices[choice] ?? []);
        await subject.addAccount(account);
        await compare(subject, [account], [opening(account), ...steps, recover]);
      }
      expect(await subject.differences()).toEqual([]);
      await subject.close();
    }, 60_000);
  });

  test('money is conserved, for any commands in any order', async () => {
    const accounts = ['ada', 'bob'];
    const property = fc.asyncProperty(
      fc.array(STEP, { maxLength: 40 }),
      fc.boolean(),
      async (steps, atOnce) => {
        const subject = await open();
        for (const account of accounts) await subject.addAccount(account);
        for (const code of CODES) await subject.addCode(code);
        if (atOnce) {
          await compare(subject, accounts, steps);
          await expectInvariants(subject, accounts);
        } else {
          const model = createModel(CODES);
          for (const step of steps) {
            expect(await run(subject, step)).toBe(model.run(step));
            await expectInvariants(subject, accounts);
          }
          await expectEqual(subject, model, accounts);
        }
        expect(await subject.differences()).toEqual([]);
        await subject.close();
      },
    );
    await fc.assert(property, {
      numRuns: testDialect() === 'postgres' ? samples(10, 20) : samples(80, 80, 40),
    });
  }, 120_000);
}

function opening(account: string): Step {
  return { kind: 'credit', account, amount: micro(100n), as: 'credit', id: `opening-${account}` };
}

const amount = fc.bigInt({ min: 0n, max: 40n }).map((n) => n * 2n ** 50n + n);
const small = fc.bigInt({ min: 0n, max: 90n });
const account = fc.constantFrom('ada', 'bob');
const request = fc.constantFrom('r1', 'r2', 'r3', 'r4', 'r5');
const either = fc.oneof(amount, small);
/** Two or three of these lie below, at or above the allowance that worst cases may lack. */
const nearAllowance = fc
  .tuple(fc.constantFrom(1n, 2n, 3n), fc.bigInt({ min: -2n, max: 2n }))
  .map(([share, around]) => 10_000_000_000n / share + around);
const beyond = fc.oneof(fc.constant(0n), either, nearAllowance);

const STEP: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('credit' as const),
      account,
      amount: fc.oneof(
        either,
        small.map((n) => -n),
      ),
      as: fc.constantFrom('credit' as const, 'grant' as const, 'adjustment' as const),
      id: fc.constantFrom('c1', 'c2', 'c3', 'c4', 'c5', 'c6', 'c7', 'c8'),
    }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant('hold' as const),
      account,
      amount: either,
      beyond: fc.record({ excess: beyond, hidden: beyond }),
      id: request,
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('extend' as const),
      amount: either,
      excess: beyond,
      id: request,
    }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant('checkpoint' as const),
      output: fc.nat({ max: 200 }),
      cheap: fc.boolean(),
      id: request,
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('settle' as const),
      charge: either,
      withinHold: fc.boolean(),
      id: request,
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('release' as const), id: request }) },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('recover' as const),
      live: fc.subarray(['r1', 'r2', 'r3']),
      phase: fc.constantFrom('ended' as const, 'expired' as const),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('redeem' as const),
      code: fc.constantFrom(...CODES.map(({ code }) => code), 'never-made'),
      account,
    }),
  },
);
