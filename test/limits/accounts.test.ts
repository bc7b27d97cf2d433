// Which accounts stay in memory as requests come and go: those in use, and idle ones for a while.

import { expect, test } from 'bun:test';
import { AccountUses } from '../../src/limits/accounts.ts';
import { PLAN } from './world.ts';

const MINUTE = 60_000;

test('accounts that come and go are forgotten after a minute', () => {
  const accounts = new AccountUses(() => []);
  let most = 0;
  for (let other = 0; other < 100_000; other += 1) {
    accounts.find(`account ${other}`, PLAN, other * 100);
    most = Math.max(most, accounts.size);
  }
  // 600 in a minute.
  expect(most).toBeLessThanOrEqual(2 * 601);
});

test('what a crowd has left is forgotten by the first new account ten minutes later', () => {
  const accounts = new AccountUses(() => []);
  for (let other = 0; other < 1_000; other += 1) accounts.find(`${other}`, PLAN, 0);
  accounts.find('late', PLAN, 10 * MINUTE);
  expect(accounts.size).toBe(1);
});

test('an account with an open claim is kept, and one that is idle begins again', () => {
  const accounts = new AccountUses(() => []);
  const busy = accounts.find('busy', PLAN, 0);
  const idle = accounts.find('idle', PLAN, 0);
  busy.take(1, 0);
  for (let other = 0; other < 1_000; other += 1) accounts.find(`${other}`, PLAN, 2 * MINUTE);
  expect(accounts.find('busy', PLAN, 2 * MINUTE)).toBe(busy);
  expect(accounts.find('idle', PLAN, 2 * MINUTE)).not.toBe(idle);
});

test('a model that is not used for a minute gives way to the next one', () => {
  const account = new AccountUses(() => []).find('ada', PLAN, 0);
  const [swift, deep] = [account.modelOf('swift', 0), account.modelOf('deep', 0)];
  deep.take(1, 0);
  account.modelOf('new', MINUTE);
  expect(account.modelOf('deep', MINUTE)).toBe(deep);
  expect(account.modelOf('swift', MINUTE)).not.toBe(swift);
});
