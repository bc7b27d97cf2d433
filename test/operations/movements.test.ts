// Money moved by operators: once by its id, under any concurrency, and never without its event in
// the audit trail.

import { afterAll, expect, test } from 'bun:test';
import { formatTokens } from '../../src/core/money.ts';
import { codeDigest } from '../../src/ledger/codes.ts';
import type { CreditCommand } from '../../src/ledger/contract.ts';
import { LedgerRefusal, LedgerSilent } from '../../src/ledger/error.ts';
import { createNewCodes, redeemCode } from '../../src/operations/codes.ts';
import { OperationError } from '../../src/operations/error.ts';
import { type MovementRequest, moveMoney } from '../../src/operations/movements.ts';
import { describeOnEachDatabase, newDatabase, temporaryDirectory } from '../support/database.ts';
import { createParts, readTrail } from './dependencies.ts';

const ACTOR = { name: 'operator:ops@example.com', address: '203.0.113.9' };

describeOnEachDatabase('movements', async () => {
  const database = await newDatabase(temporaryDirectory());
  const parts = createParts(database);
  afterAll(async () => {
    await parts.ledger.close();
    await database.close();
  });

  const email = () => `${crypto.randomUUID()}@example.com`;
  const newAccount = (plan = 'pro') =>
    parts.accounts.create({ email: email(), plan, emailVerified: true }, 'operator');
  const available = async (accountId: string) =>
    formatTokens((await parts.books.balance(accountId)).available);
  const eventsOf = async (accountId: string) =>
    (await readTrail(database)).filter((each) => each.accountId === accountId);

  test('fifty who ask for one movement at the same time book it once, with one event', async () => {
    const account = await newAccount();
    const request: MovementRequest = {
      kind: 'credit',
      account,
      amount: '12.5',
      reason: ' invoice 7 ',
      id: 'dialog-1',
    };
    const moved = await Promise.all(
      Array.from({ length: 50 }, () => moveMoney(parts, request, ACTOR)),
    );
    expect(moved.filter(({ applied }) => applied)).toHaveLength(1);
    expect(new Set(moved.map((each) => formatTokens(each.available)))).toEqual(new Set(['12.5']));
    expect(await available(account.id)).toBe('12.5');
    expect((await eventsOf(account.id)).slice(1)).toEqual([
      {
        at: parts.clock(),
        actor: ACTOR.name,
        address: ACTOR.address,
        action: 'money.credited',
        accountId: account.id,
        subject: 'dialog-1',
        detail: { amount: '12.5', reason: 'invoice 7' },
      },
    ]);
  });

  test('one without a confirmed booking is reported with its id, under which it is booked once', async () => {
    const account = await newAccount();
    const request = { kind: 'credit', account, amount: '3', reason: 'paid' } as const;
    const silent = {
      ...parts.ledger,
      async credit(command: CreditCommand) {
        await parts.ledger.credit(command);
        throw new LedgerSilent('cut');
      },
    };
    const refusal = await moveMoney({ ...parts, ledger: silent }, request, ACTOR).catch(String);
    const id = /with the id (cred_\w+): it is booked once/.exec(String(refusal))?.[1] ?? '';
    expect(id).not.toBe('');
    expect((await moveMoney(parts, { ...request, id }, ACTOR)).applied).toBe(false);
    expect(await available(account.id)).toBe('3');
  });

  test('each kind has its event; what is refused has none and moves nothing', async () => {
    const account = await newAccount();
    const move = (kind: MovementRequest['kind'], amount: string, id: string) =>
      moveMoney(parts, { kind, account, amount, reason: 'r', id }, 'operator');
    await move('grant', '10', 'g1');
    await move('adjustment', '-2.5', 'a1');
    await expect(move('adjustment', '-7.500001', 'a2')).rejects.toThrow(LedgerRefusal);
    await expect(move('credit', '10', 'g1')).rejects.toThrow(LedgerRefusal);
    expect(await available(account.id)).toBe('7.5');
    expect(
      (await eventsOf(account.id)).map(({ action, actor, address, detail }) => [
        action,
        actor,
        address,
        detail['amount'],
      ]),
    ).toEqual([
      ['account.created', 'operator', null, undefined],
      ['money.granted', 'operator', null, '10'],
      ['money.adjusted', 'operator', null, '-2.5'],
    ]);
  });

  const BAD: readonly (readonly [string, Partial<MovementRequest>])[] = [
    ['invalid_amount', { amount: '-1' }],
    ['invalid_amount', { amount: '0' }],
    ['invalid_amount', { amount: '1e3' }],
    ['invalid_amount', { amount: '0.0000001' }],
    ['invalid_amount', { amount: '1000000000001' }],
    ['invalid_amount', { kind: 'adjustment', amount: '0' }],
    ['invalid_reason', { reason: '  ' }],
    ['invalid_reason', { reason: 'x'.repeat(501) }],
    ['invalid_credit_id', { id: 'two words' }],
    ['invalid_credit_id', { id: '' }],
    ['invalid_credit_id', { id: 'x'.repeat(101) }],
  ];

  test.each(BAD)('%s is found before anything is asked of the books (%#)', async (code, change) => {
    const account = await newAccount();
    const request = { kind: 'credit', account, amount: '1', reason: 'r' } as const;
    const refused = moveMoney(parts, { ...request, ...change }, ACTOR);
    await expect(refused).rejects.toThrow(OperationError);
    await expect(refused).rejects.toMatchObject({ code });
    expect(await eventsOf(account.id)).toHaveLength(1);
  });

  test('a movement without an id is a new one each time', async () => {
    const account = await newAccount();
    const request = { kind: 'grant', account, amount: '1', reason: 'r' } as const;
    const ids = [await moveMoney(parts, request, ACTOR), await moveMoney(parts, request, ACTOR)];
    expect(new Set(ids.map(({ id }) => id)).size).toBe(2);
    expect(await available(account.id)).toBe('2');
  });

  test('a code is redeemed once, with the event of who did it', async () => {
    const account = await newAccount();
    const terms = { amount: '3', reason: 'spring', count: 1 };
    const [made] = await createNewCodes(parts, terms, ACTOR);
    if (made === undefined) throw new Error('no code');
    const request = { accountId: account.id, typed: made.code.toLowerCase() };
    const byOwner = { name: account.id, address: '198.51.100.4' };
    const first = await redeemCode(parts, request, byOwner);
    expect(await redeemCode(parts, request, byOwner)).toEqual(first);
    expect(await available(account.id)).toBe('3');
    expect((await eventsOf(account.id)).slice(1)).toEqual([
      {
        at: parts.clock(),
        actor: account.id,
        address: '198.51.100.4',
        action: 'code.redeemed',
        accountId: account.id,
        subject: first.id,
        detail: { amount: '3', reason: 'spring' },
      },
    ]);
    const text = JSON.stringify(await readTrail(database));
    expect(text).not.toContain(made.code);
    expect(text).not.toContain(codeDigest(made.code));
  });

  test('codes that are over, wrong or unknown are refused by name', async () => {
    const { id: accountId } = await newAccount();
    const codeOf = async (typed: string) => {
      try {
        await redeemCode(parts, { accountId, typed }, ACTOR);
        return 'redeemed';
      } catch (error) {
        return error instanceof OperationError ? error.code : String(error);
      }
    };
    const nowMs = parts.clock();
    const [short] = await createNewCodes(
      parts,
      { amount: '1', reason: 'r', count: 1, expiresAt: nowMs + 1 },
      ACTOR,
    );
    parts.advance(1);
    expect(await codeOf(short?.code ?? '')).toBe('code_expired');
    expect(await codeOf('TG-0000-0000-0000-0000')).toBe('code_not_found');
    expect(await codeOf('TG-0000-0000-0000-0001')).toBe('invalid_code');
    await expect(
      createNewCodes(parts, { amount: '1', reason: 'r', count: 1, expiresAt: nowMs }, ACTOR),
    ).rejects.toThrow('The expiry date is in the past');
  });
});
