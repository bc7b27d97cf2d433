// Movements and codes in the console: each is booked once, however often a page sends it, and only
// after the password was confirmed.

import { afterAll, expect, test } from 'bun:test';
import { micro } from '../../../src/core/money.ts';
import { readTrail } from '../../operations/dependencies.ts';
import { describeOnEachDatabase, temporaryDirectory } from '../../support/database.ts';
import { holdOf, settleOf } from '../../support/ledger.ts';
import { ADDRESS, OPERATOR, openConsole } from './console.ts';

describeOnEachDatabase("the console's money", async () => {
  const open = await openConsole(temporaryDirectory());
  afterAll(open.close);

  const credit = (more: object = {}) => ({
    id: crypto.randomUUID(),
    kind: 'credit',
    amount: '10.5',
    reason: 'invoice 7',
    ...more,
  });

  test('fifty posts of one dialog book once; one of them says so, and so does the trail', async () => {
    const id = await open.account();
    const body = credit();
    const answers = await Promise.all(
      Array.from({ length: 50 }, () => open.post(`/accounts/${id}/movements`, body)),
    );
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    expect(answers.filter(({ json }) => json['applied'] === true)).toHaveLength(1);
    expect(answers[0]?.json).toMatchObject({
      id: body.id,
      kind: 'credit',
      amount: '10.5',
      reason: 'invoice 7',
      account: { id, balance: { available: '10.5' } },
    });
    const events = (await readTrail(open.database)).filter(({ subject }) => subject === body.id);
    expect(events).toEqual([
      {
        at: open.clock(),
        actor: `operator:${OPERATOR}`,
        address: ADDRESS,
        action: 'money.credited',
        accountId: id,
        subject: body.id,
        detail: { amount: '10.5', reason: 'invoice 7' },
      },
    ]);
  });

  test('the movements of an account, newest first, with the reason and what was left', async () => {
    const id = await open.account();
    open.advance(1_000);
    await open.post(`/accounts/${id}/movements`, credit({ id: 'a' }));
    await open.post(`/accounts/${id}/movements`, credit({ id: 'b', kind: 'grant', amount: '2' }));
    await open.post(
      `/accounts/${id}/movements`,
      credit({ id: 'c', kind: 'adjustment', amount: '-12.5', reason: 'refund' }),
    );
    const at = new Date(open.clock()).toISOString();
    const row = (
      sequence: number,
      kind: string,
      amount: string,
      reason: string,
      balance: string,
    ) => ({
      sequence,
      transfer_id: `credit:${'abc'[sequence - 1]}`,
      kind,
      amount,
      at,
      reason,
      balance,
    });
    const { json } = await open.get(`/accounts/${id}/movements?limit=2`);
    expect(json).toEqual({
      object: 'list',
      data: [
        row(3, 'adjustment', '-12.5', 'refund', '0'),
        row(2, 'grant', '2', 'invoice 7', '12.5'),
      ],
      next: '2',
    });
    expect((await open.get(`/accounts/${id}/movements?after=2`)).json).toEqual({
      object: 'list',
      data: [row(1, 'credit', '10.5', 'invoice 7', '10.5')],
      next: null,
    });
  });

  test('what is wrong with a movement is said, and nothing is booked', async () => {
    const id = await open.account();
    const refusal = (more: object) =>
      open.refusal('POST', `/accounts/${id}/movements`, credit(more));
    expect(await refusal({ amount: '-1' })).toEqual([400, 'invalid_amount']);
    expect(await refusal({ amount: 5 })).toEqual([400, 'invalid_request']);
    expect(await refusal({ reason: ' ' })).toEqual([400, 'invalid_reason']);
    expect(await refusal({ id: 'a b' })).toEqual([400, 'invalid_credit_id']);
    expect(await refusal({ kind: 'redemption' })).toEqual([400, 'invalid_request']);
    expect(await refusal({ kind: 'adjustment', amount: '-1' })).toEqual([409, 'ledger_refused']);
    expect(await refusal({ account: id })).toEqual([400, 'invalid_request']);
    const { id: _id, ...withoutId } = credit();
    expect(await open.refusal('POST', `/accounts/${id}/movements`, withoutId)).toEqual([
      400,
      'invalid_request',
    ]);
    const booked = credit();
    await open.post(`/accounts/${id}/movements`, booked);
    expect(await refusal({ id: booked.id, amount: '11' })).toEqual([409, 'ledger_refused']);
    expect((await open.books.balance(id)).posted).toBe(micro(10_500_000n));
  });

  test('codes are shown once, listed without their text, and revoked', async () => {
    const id = await open.account();
    const terms = { amount: '5', reason: 'spring', count: 2, expires_at: '2026-12-01T00:00:00Z' };
    const made = (await open.post('/codes', terms)).json['data'] as Record<string, string>[];
    expect(made.map(({ amount, status, expires_at }) => [amount, status, expires_at])).toEqual([
      ['5', 'open', '2026-12-01T00:00:00.000Z'],
      ['5', 'open', '2026-12-01T00:00:00.000Z'],
    ]);
    const [first, second] = made;
    await open.ledger.redeem({
      digest: new Bun.CryptoHasher('sha256').update(String(first?.['code'])).digest('hex'),
      accountId: id,
      nowMs: open.clock(),
    });
    const { status, json } = await open.post(`/codes/${second?.['id']}/revoke`);
    expect([status, json['status']]).toEqual([200, 'revoked']);
    expect(await open.refusal('POST', `/codes/${first?.['id']}/revoke`)).toEqual([
      409,
      'ledger_refused',
    ]);
    const listed = await open.get('/codes?limit=1');
    const rest = await open.get(`/codes?limit=1&after=${listed.json['next']}`);
    const rows = [listed, rest].flatMap(
      ({ json: page }) => page['data'] as Record<string, unknown>[],
    );
    expect(rows.map(({ id: name, status: now, redeemed_by: by }) => [name, now, by])).toEqual([
      [second?.['id'], 'revoked', null],
      [first?.['id'], 'redeemed', id],
    ]);
    expect(rest.json['next']).toBeNull();
    const everything = `${listed.text}${rest.text}${JSON.stringify(await readTrail(open.database))}`;
    for (const { code } of made) expect(everything).not.toContain(String(code));
    for (const bad of [{ count: 0 }, { count: 10_001 }, { count: 1.5 }, { expires_at: 'soon' }]) {
      const refused = await open.refusal('POST', '/codes', { ...terms, ...bad });
      expect(refused).toEqual([400, 'invalid_request']);
    }
    const over = { ...terms, expires_at: '2026-11-21T11:59:59Z' };
    expect(await open.refusal('POST', '/codes', over)).toEqual([400, 'invalid_request']);
  });

  test('codes are listed in each order page by page, and a cursor keeps its order', async () => {
    const amounts = ['7', '0.000001', '7', '999999999999', '12'];
    for (const [index, amount] of amounts.entries()) {
      const until = index % 2 === 0 ? {} : { expires_at: `2026-12-0${index}T00:00:00Z` };
      await open.post('/codes', { amount, reason: 'sorted', count: 2, ...until });
    }
    type Listed = Record<'id' | 'amount' | 'created_at', string> & { expires_at: string | null };
    const read = async (sort: string, limit: number) => {
      const rows: Listed[] = [];
      let next: unknown = '';
      while (next !== null) {
        const after = next === '' ? '' : `&after=${next}`;
        const { json } = await open.get(`/codes?sort=${sort}&limit=${limit}${after}`);
        rows.push(...(json['data'] as Listed[]));
        next = json['next'];
      }
      return rows;
    };
    const keys = {
      created: ({ created_at }: Listed) => Date.parse(created_at),
      amount: ({ amount }: Listed) => Number(amount),
      expires: ({ expires_at }: Listed) => Date.parse(expires_at ?? '9999-01-01'),
    };
    for (const [field, key] of Object.entries(keys)) {
      for (const sign of ['', '-']) {
        const all = await read(`${sign}${field}`, 200);
        expect(await read(`${sign}${field}`, 3)).toEqual(all);
        const values = all.map(key);
        const sorted = values.toSorted((a, b) => (sign === '' ? a - b : b - a));
        expect(values).toEqual(sorted);
        expect(new Set(all.map(({ id }) => id)).size).toBe(all.length);
      }
    }
    const { json } = await open.get('/codes?sort=amount&limit=1');
    for (const query of [
      `sort=-amount&after=${json['next']}`,
      `after=${json['next']}`,
      'sort=amount&after=amount:n1',
      'sort=amount&after=amount:nx:1',
      'sort=digest',
    ]) {
      expect(await open.refusal('GET', `/codes?${query}`)).toEqual([400, 'invalid_request']);
    }
  });

  test('the requests of an account, and the explanation of one, including its upstream', async () => {
    const id = await open.account();
    const other = await open.account();
    await open.post(`/accounts/${id}/movements`, credit({ amount: '100' }));
    const nowMs = open.clock();
    for (const name of ['req_one', 'req_two', 'req_three']) {
      await open.ledger.hold({ ...holdOf(name, id, 20_000_000n), nowMs });
      await open.ledger.settle({ ...settleOf(name, 12_000_000n), nowMs });
    }
    // A page ends after its time, so a busy machine may need one more.
    const pages = [await open.get(`/accounts/${id}/requests?limit=2`)];
    for (let next = pages[0]?.json['next']; next !== null; next = pages.at(-1)?.json['next']) {
      pages.push(await open.get(`/accounts/${id}/requests?after=${next}`));
    }
    expect(pages.length).toBeGreaterThan(1);
    const ids = pages.flatMap(({ json }) => json['data'] as { request_id: string }[]);
    expect(ids.map(({ request_id }) => request_id)).toEqual(['req_three', 'req_two', 'req_one']);
    expect((await open.get(`/accounts/${other}/requests`)).json['data']).toEqual([]);
    const { json } = await open.get('/requests/req_two');
    expect(json).toMatchObject({
      request_id: 'req_two',
      account_id: id,
      booked: { charged: '12', debited: '12' },
      hold: { phase: 'settled', amount: '20' },
    });
    expect(await open.refusal('GET', '/requests/req_none')).toEqual([404, 'request_not_found']);
    for (const after of ['1', 'x.y', '1.2.3']) {
      expect(await open.refusal('GET', `/accounts/${id}/requests?after=${after}`)).toEqual([
        400,
        'invalid_request',
      ]);
    }
  });
});
