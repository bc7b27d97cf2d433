// When the commit of a hold revokes its early answer (decision 0159).

import { expect, test } from 'bun:test';
import { micro } from '../../src/core/money.ts';
import type { HoldResult } from '../../src/ledger/contract.ts';
import { HoldRevoked } from '../../src/ledger/error.ts';
import { WaitingCommand } from '../../src/ledger/waiting.ts';
import { holdOf } from '../support/ledger.ts';

/** `left` is what the budget of the key leaves; absent: it has none. */
function answer(available: bigint, left?: bigint): HoldResult {
  const budget = left === undefined ? {} : { budget: { left: micro(left) } };
  return { ok: true, available: micro(available), ...budget };
}

async function endOf(hidden: bigint, early: HoldResult, final: HoldResult): Promise<unknown> {
  const command = { ...holdOf('r1', 'ada', 10n), hidden: micro(hidden) };
  const { promise, resolve, reject } = Promise.withResolvers<unknown>();
  const waiting = new WaitingCommand({ name: 'hold', command }, resolve, reject);
  waiting.decide(early);
  await promise;
  waiting.resolve(final);
  return waiting.wait().then(
    () => 'written',
    (error: unknown) => error,
  );
}

test.each([
  ['another node has spent the balance', 50n, answer(100n), { ok: false, available: micro(0n) }],
  ['the balance covers hidden output no longer', 50n, answer(100n), answer(40n)],
  ['the budget covers hidden output no longer', 50n, answer(100n, 90n), answer(100n, 40n)],
  ['another node has set a first budget', 50n, answer(100n), answer(100n, 40n)],
] as const)('revokes an early answer: %s', async (_, hidden, early, final) => {
  const end = await endOf(hidden, early, final);
  expect(end).toBeInstanceOf(HoldRevoked);
  expect((end as HoldRevoked).final).toEqual(final);
});

test.each([
  ['the balance still covers hidden output', 50n, answer(100n), answer(50n)],
  ['the early answer had less than hidden output', 50n, answer(30n, 20n), answer(30n, 20n)],
  ['no output is hidden: an extension is refused in time', 0n, answer(100n, 90n), answer(0n, 0n)],
] as const)('keeps an early answer: %s', async (_, hidden, early, final) => {
  expect(await endOf(hidden, early, final)).toBe('written');
});
