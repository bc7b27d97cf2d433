// Money moved by operator commands: payments, gifts, corrections and redemptions, each booked once
// however often it is sent.

import { beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryDirectory } from '../support/database.ts';
import { createTollgate } from './tollgate.ts';

// A child process a command takes its time on a machine that is busy with other things.
setDefaultTimeout(60_000);

const directory = temporaryDirectory();
const tollgate = createTollgate(directory);
const ANN = 'ann@example.com';

async function available(account: string): Promise<string> {
  const shown = await tollgate.json('account', 'show', account);
  return (shown['account'] as { balance: { available: string } }).balance.available;
}

beforeAll(async () => {
  for (const email of [ANN, 'bob@example.com']) {
    await tollgate.json('account', 'create', '--email', email);
  }
});

test('a credit, a grant and an adjustment are booked once each by their id', async () => {
  const commands = [
    ['credit', '100.5', '100.5', '100.5'],
    ['grant', '10', '10', '110.5'],
    ['adjust', '2.25', '2.25', '112.75'],
    ['adjust', '-12.5', '-12.5', '100.25'],
  ] as const;
  for (const [index, [command, typed, amount, left]] of commands.entries()) {
    const kind = command === 'adjust' ? 'adjustment' : command;
    const line = ['account', command, ANN, typed, '--id', `m${index}`, '--reason', 'a reason'];
    const movement = { id: `m${index}`, kind, amount, reason: 'a reason', applied: true };
    const account = { balance: { available: left } };
    expect(await tollgate.json(...line)).toMatchObject({ [kind]: movement, account });
    const again = { [kind]: { ...movement, applied: false }, account };
    expect(await tollgate.json(...line)).toMatchObject(again);
  }
});

test('the words say what happened', async () => {
  const line = ['account', 'adjust', 'bob@example.com', '7', '--reason', 'late', '--id', 'b1'];
  expect((await tollgate.run(...line)).stdout).toBe(
    'Adjusted by 7 service tokens under the id b1; 7 service tokens are available.\n',
  );
  expect((await tollgate.run(...line)).stdout).toBe(
    'The adjustment b1 was already booked; nothing has changed. 7 service tokens are available.\n',
  );
  const more = ['account', 'adjust', 'bob@example.com', '-7.000001', '--reason', 'too much'];
  const { exitCode, stderr } = await tollgate.run(...more);
  expect([exitCode, stderr]).toEqual([
    1,
    'error: The adjustment would take more than what is available.\n',
  ]);
  await tollgate.json('account', 'adjust', 'bob@example.com', '-7', '--reason', 'all of it');
  expect(await available('bob@example.com')).toBe('0');
});

test('an id that was used for something else is refused', async () => {
  const used = ['--id', 'm0', '--reason', 'a reason'];
  const refused = [1, 'ledger_refused'] as const;
  expect(await tollgate.refusal('account', 'grant', ANN, '100.5', ...used)).toEqual(refused);
  expect(await tollgate.refusal('account', 'credit', ANN, '100.4', ...used)).toEqual(refused);
  const bob = ['account', 'credit', 'bob@example.com', '100.5'];
  expect(await tollgate.refusal(...bob, ...used)).toEqual(refused);
});

test('a code is worth its amount once, and its text is shown once', async () => {
  const made = await tollgate.json(
    ...['code', 'create', '--amount', '50', '--reason', 'spring'],
    ...['--expires', '2099-01-31', '--count', '3'],
  );
  const codes = made['data'] as readonly { readonly code: string; readonly id: string }[];
  const [first = { code: '', id: '' }, second = first, third = first] = codes;
  expect(codes).toHaveLength(3);
  expect<unknown>(first).toEqual({
    code: expect.stringMatching(/^TG(-[0-9A-Z]{4}){4}$/),
    id: expect.stringMatching(/^[0-9a-f]{12}$/),
    object: 'redemption_code',
    masked: expect.stringMatching(/^TG-[0-9A-Z]{2}…$/),
    amount: '50',
    status: 'open',
    reason: 'spring',
    created_at: expect.any(String),
    expires_at: '2099-01-31T00:00:00.000Z',
    revoked_at: null,
    redeemed_at: null,
    redeemed_by: null,
  });

  const before = Number(await available(ANN));
  const redeem = (code: string, account = ANN) => ['code', 'redeem', code, '--account', account];
  const sloppy = first.code.toLowerCase().replaceAll('-', ' ');
  const results = await Promise.all(
    [first.code, sloppy, first.code.slice(3)].map((code) => tollgate.json(...redeem(code))),
  );
  for (const result of results) {
    expect(result).toMatchObject({ redemption: { id: first.id, amount: '50' } });
  }
  expect(Number(await available(ANN))).toBe(before + 50);
  const bob = redeem(first.code, 'bob@example.com');
  expect(await tollgate.refusal(...bob)).toEqual([1, 'code_used']);
  expect(await tollgate.refusal('code', 'revoke', first.code)).toEqual([1, 'ledger_refused']);

  await tollgate.json('code', 'revoke', second.id);
  expect(await tollgate.json('code', 'revoke', second.code)).toMatchObject({
    code: { id: second.id, status: 'revoked' },
  });
  expect(await tollgate.refusal(...redeem(second.code))).toEqual([1, 'code_revoked']);
  expect(Number(await available(ANN))).toBe(before + 50);

  const listed = (await tollgate.json('code', 'list'))['data'] as { id: string; status: string }[];
  expect(new Map(listed.map(({ id, status }) => [id, status]))).toEqual(
    new Map([
      [first.id, 'redeemed'],
      [second.id, 'revoked'],
      [third.id, 'open'],
    ]),
  );
  const { stdout } = await tollgate.run('code', 'list');
  const files = ['tollgate.db', 'tollgate.db-wal'].flatMap((name) => {
    try {
      return [readFileSync(join(directory, 'data', name), 'latin1')];
    } catch {
      return [];
    }
  });
  expect(files.join('').length).toBeGreaterThan(1_000);
  for (const { code } of codes) {
    for (const text of [stdout, ...files]) expect(text).not.toContain(code.slice(5));
  }
});
