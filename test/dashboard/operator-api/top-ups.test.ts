// Top-ups: a reference credits its own account once, and no other text credits anything.

import { afterAll, expect, test } from 'bun:test';
import fc from 'fast-check';
import { describeOnEachDatabase, temporaryDirectory } from '../../support/database.ts';
import { codeOf, openOperatorApi, outcomeOf } from './api.ts';

const EIGHT_DAYS_MS = 8 * 86_400_000;

describeOnEachDatabase('a top-up', async () => {
  const open = await openOperatorApi(temporaryDirectory());
  afterAll(open.close);

  const { topUps } = open.dependencies;
  /** A token does not live as long as a reference. */
  const newToken = async () => (await open.newToken(['credits:write', 'accounts:read'])).token;
  let token = await newToken();
  const pay = (reference: string, amount = '500000', bearer = token, reason = 'payment 1207') =>
    open.call('POST', '/top-ups', { reference, amount, reason }, bearer);
  const wait = async () => {
    open.advance(EIGHT_DAYS_MS);
    token = await newToken();
  };
  const balanceOf = async (id: string) =>
    (
      (await open.call('GET', `/accounts/${id}`, undefined, token)).json['balance'] as {
        total: string;
      }
    ).total;

  test('is booked once by its reference, also when it is repeated after the reference expired', async () => {
    const id = await open.account();
    const reference = topUps.issue(id);
    const [first, ...others] = await Promise.all(Array.from({ length: 4 }, () => pay(reference)));
    expect(first?.json).toMatchObject({ status: 'booked', account: id, amount: '500000' });
    for (const other of others) expect(other.json).toEqual(first?.json ?? {});
    expect(outcomeOf(await pay(reference, '500001'))).toEqual([409, 'ledger_refused']);
    const second = await pay(reference, '500000', token, 'payment 1208');
    expect(outcomeOf(second)).toEqual([409, 'conflict']);
    expect((await pay(topUps.issue(id), '7')).status).toBe(200);
    await wait();
    expect((await pay(reference)).json).toEqual(first?.json ?? {});
    expect(await balanceOf(id)).toBe('500007');
  });

  test('is refused once its reference has expired', async () => {
    const id = await open.account();
    const reference = topUps.issue(id);
    await wait();
    expect(outcomeOf(await pay(reference))).toEqual([409, 'reference_expired']);
    expect(await balanceOf(id)).toBe('0');
  });

  test('is refused with any other text, such as a reference with one other character', async () => {
    const id = await open.account();
    const reference = topUps.issue(id);
    await fc.assert(
      fc.asyncProperty(
        fc.nat({ max: reference.length - 1 }),
        fc.constantFrom(...'aZ0._-'),
        async (place, letter) => {
          fc.pre(reference[place] !== letter);
          const forged = `${reference.slice(0, place)}${letter}${reference.slice(place + 1)}`;
          expect(outcomeOf(await pay(forged))).toEqual([400, 'invalid_reference']);
        },
      ),
      { numRuns: 40 },
    );
    for (const other of ['', id, `${reference} `, reference.slice(0, -1), `${reference}A`]) {
      expect([other, codeOf(await pay(other))]).toEqual([other, 'invalid_reference']);
    }
    expect(await balanceOf(id)).toBe('0');
  });

  test('waits for another operator above the amount of four eyes', async () => {
    await open.operator('admin@example.com', 'admin');
    const owned = await open.newToken(['credits:write'], 'admin@example.com');
    const id = await open.account();
    const { json } = await pay(topUps.issue(id), '1000001', owned.token);
    expect(json).toMatchObject({ status: 'waiting_for_approval' });
    expect(await balanceOf(id)).toBe('0');
  });
});
