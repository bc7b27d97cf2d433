// Runs the steps of tables and laws on a ledger, and checks the invariants after each.

import { expect } from 'bun:test';
import { micro, pico, usdRate } from '../../../src/core/money.ts';
import type { HoldResult, Settlement } from '../../../src/ledger/contract.ts';
import { recoverAll } from '../../../src/ledger/recover.ts';
import { creditOf, holdOf, NOW, PRICE, releaseOf, settleOf } from '../../support/ledger.ts';
import { checkChain } from '../../support/receipt-chain.ts';
import type { LedgerUnderTest } from './contract.ts';
import type { Beyond, Step } from './model.ts';

export const CHEAP = {
  version: 'swift-0@1',
  input: pico(15_000n),
  cachedInput: pico(15_000n),
  cacheWrite: pico(15_000n),
  output: pico(60_000n),
};

/** The step's answer in the model's words; a refusal is one word, any other failure its own. */
export async function run(subject: LedgerUnderTest, step: Step): Promise<string> {
  try {
    return await carryOut(subject, step);
  } catch (error) {
    if (error instanceof Error && error.name === 'LedgerRefusal') return 'refused';
    throw error;
  }
}

async function carryOut({ ledger }: LedgerUnderTest, step: Step): Promise<string> {
  switch (step.kind) {
    case 'credit': {
      const command = { ...creditOf(step.id, step.account, step.amount), kind: step.as };
      const { applied, available } = await ledger.credit(command);
      return `applied ${applied} available ${available}`;
    }
    case 'hold':
      return held(
        await ledger.hold({
          ...holdOf(step.id, step.account, step.amount),
          ...beyond(step.beyond),
        }),
      );
    case 'extend':
      return held(await ledger.extend({ requestId: step.id, ...pick(step) }));
    case 'checkpoint': {
      const { id: requestId, output: outputTokens } = step;
      const served = { model: 'swift-0', upstream: 'demo', price: step.cheap ? CHEAP : PRICE };
      const reasoningTokens = Math.floor(outputTokens / 2);
      const progress = { outputTokens, reasoningTokens, nowMs: NOW + 2 };
      // Awaited, so that the queue does not drop it where an end comes in the same turn.
      await ledger.checkpoint({ requestId, served, ...progress, isAwaited: true });
      return 'done';
    }
    case 'settle': {
      const { id, charge, withinHold } = step;
      return ended(await ledger.settle({ ...settleOf(id, charge), withinHold }));
    }
    case 'release':
      return ended(await ledger.release(releaseOf(step.id)));
    case 'recover': {
      const { live, phase } = step;
      const command = {
        live,
        phase,
        createdBefore: NOW + 1,
        usdPerMillion: usdRate(1n),
        nowMs: NOW + 3,
      };
      const all = await recoverAll(ledger, command);
      const lines = all.map(({ requestId, debited }) => `${requestId} ${debited}`);
      return `recovered ${lines.sort().join(', ')}`;
    }
    case 'redeem': {
      const { code: digest, account: accountId } = step;
      const result = await ledger.redeem({ digest, accountId, nowMs: NOW });
      if (result.kind === 'refused') return result.why;
      return `redeemed ${result.amount} available ${result.available}`;
    }
  }
}

function pick({ amount, excess = 0n }: Extract<Step, { kind: 'extend' }>) {
  return { amount: micro(amount), excess: micro(excess) };
}

function beyond({ excess, hidden }: Beyond = { excess: 0n, hidden: 0n }) {
  return { excess: micro(excess), hidden: micro(hidden) };
}

function held({ ok, available }: HoldResult): string {
  return `ok ${ok} available ${available}`;
}

function ended({ debited, loss, available }: Settlement): string {
  return `debited ${debited} lost ${loss} available ${available}`;
}

/** What must be true of the books at any moment. */
export async function expectInvariants(
  subject: LedgerUnderTest,
  accounts: readonly string[],
): Promise<void> {
  const legs = await subject.legs();
  expect(legs.reduce((sum, leg) => sum + leg.amount, 0n)).toBe(0n);
  for (const account of accounts) {
    const { posted, held: reserved, available } = await subject.balance(account);
    expect(available).toBe(micro(posted - reserved));
    expect(available >= 0n && reserved >= 0n).toBe(true);
    const own = legs.filter((leg) => leg.ledgerAccount === `customer:${account}`);
    expect(own.reduce((sum, leg) => sum + leg.amount, 0n)).toBe(posted);
    const { problems, totals } = checkChain(await subject.receipts(account));
    expect(problems).toEqual([]);
    expect(totals.closingBalance).toBe(posted);
  }
}
