// Four eyes in the console: what is above the amount waits for a second operator and is carried out
// exactly once.

import { afterAll, expect, test } from 'bun:test';
import { readTrail } from '../../operations/dependencies.ts';
import { describeOnEachDatabase, temporaryDirectory } from '../../support/database.ts';
import { type Answer, OPERATOR, openConsole } from './console.ts';

const ANN = OPERATOR;
const BOB = 'bob@example.com';
const CAT = 'cat@example.com';
const WEEK = 7 * 86_400_000;

describeOnEachDatabase('four eyes', async () => {
  const open = await openConsole(temporaryDirectory());
  afterAll(open.close);

  const codeOf = ({ status, json }: Answer) => [
    status,
    (json['error'] as { code?: string } | undefined)?.code,
  ];
  const balanceOf = async (id: string) =>
    ((await open.get(`/accounts/${id}`)).json['balance'] as { total: string }).total;
  const move = (account: string, amount: string, more: object = {}, who = ANN) =>
    open.ask(
      'POST',
      `/accounts/${account}/movements`,
      { id: crypto.randomUUID(), kind: 'credit', amount, reason: 'invoice', ...more },
      who,
    );
  const decide = (what: string, id: unknown, who: string, body = {}) =>
    open.ask('POST', `/approvals/${id}/${what}`, body, who);
  const actionsOf = async (id: unknown) =>
    (await readTrail(open.database))
      .filter(({ subject }) => subject === id)
      .map(({ action, actor }) => [action, actor]);

  test('a credit up to the amount is booked at once, one above it waits', async () => {
    const account = await open.account();
    expect((await move(account, '1000000')).json).toMatchObject({ applied: true });
    const { status, json } = await move(account, '1000000.000001');
    expect([status, json]).toEqual([
      200,
      expect.objectContaining({
        object: 'approval',
        kind: 'credit',
        account_id: account,
        amount: '1000000.000001',
        reason: 'invoice',
        state: 'pending',
        asked_by: `operator:${ANN}`,
        decided_by: null,
      }),
    ]);
    expect(await balanceOf(account)).toBe('1000000');
    expect((await open.ask('GET', '/approvals', undefined, BOB)).json['above']).toBe('1000000');
    expect(codeOf(await decide('approve', json['id'], ANN))).toEqual([403, 'own_approval']);
    expect((await decide('approve', json['id'], BOB)).json).toMatchObject({
      state: 'done',
      decided_by: `operator:${BOB}`,
    });
    expect(await balanceOf(account)).toBe('2000000.000001');
    expect(await actionsOf(json['id'])).toEqual([
      ['approval.asked', `operator:${ANN}`],
      ['approval.approved', `operator:${BOB}`],
    ]);
  });

  test('a correction downwards and a grant wait as well, and so do codes by their total', async () => {
    const account = await open.account();
    for (const more of [{ kind: 'adjustment', amount: '-1000001' }, { kind: 'grant' }]) {
      expect((await move(account, '1000001', more)).json).toMatchObject({ state: 'pending' });
    }
    const codes = (amount: string, count: number) =>
      open.post('/codes', { amount, count, reason: 'fair' });
    expect((await codes('100000', 10)).json).toMatchObject({ object: 'list' });
    expect((await codes('100000', 11)).json).toMatchObject({
      ...{ object: 'approval', kind: 'codes', amount: '1100000', count: 11 },
    });
  });

  test('two who approve at the same time, and again, book it once', async () => {
    const account = await open.account();
    const { json } = await move(account, '5000000');
    const turns = Array.from({ length: 10 }, (_, turn) =>
      decide('approve', json['id'], turn % 2 === 0 ? BOB : CAT),
    );
    const answers = await Promise.all(turns);
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    expect((await decide('approve', json['id'], BOB)).json).toMatchObject({ state: 'done' });
    expect(await balanceOf(account)).toBe('5000000');
    const approvals = (await actionsOf(json['id'])).filter(([action]) =>
      action?.endsWith('approved'),
    );
    expect(approvals).toHaveLength(1);
  });

  test('approving and rejecting at the same time has one outcome', async () => {
    for (let turn = 0; turn < 5; turn += 1) {
      const account = await open.account();
      const { json } = await move(account, '5000000');
      await Promise.all([decide('approve', json['id'], BOB), decide('reject', json['id'], CAT)]);
      const { data } = (await open.get('/approvals?limit=1')).json as { data: { state: string }[] };
      expect(await balanceOf(account)).toBe(data[0]?.state === 'done' ? '5000000' : '0');
    }
  });

  test('a repeated request is one approval, and another one cannot use its id', async () => {
    const account = await open.account();
    const id = crypto.randomUUID();
    const first = await move(account, '5000000', { id });
    expect((await move(account, '5000000', { id })).json).toEqual(first.json);
    expect(codeOf(await move(account, '6000000', { id }))).toEqual([409, 'approval_conflict']);
    expect(codeOf(await move(account, '5000000', { id }, BOB))).toEqual([409, 'approval_conflict']);
  });

  test('is rejected with a note, withdrawn by its own operator, and decided once', async () => {
    const account = await open.account();
    const rejected = (await move(account, '5000000')).json['id'];
    expect((await decide('reject', rejected, BOB, { note: 'no invoice' })).json).toMatchObject({
      ...{ state: 'rejected', note: 'no invoice', decided_by: `operator:${BOB}` },
    });
    expect(codeOf(await decide('approve', rejected, CAT))).toEqual([409, 'approval_decided']);
    const withdrawn = (await move(account, '5000000')).json['id'];
    expect((await decide('reject', withdrawn, ANN)).json).toMatchObject({ state: 'withdrawn' });
    expect(codeOf(await decide('approve', withdrawn, BOB))).toEqual([409, 'approval_decided']);
    expect(codeOf(await decide('approve', 'appr_x', BOB))).toEqual([404, 'approval_not_found']);
    expect(await balanceOf(account)).toBe('0');
  });

  test('what the ledger refuses has failed, and is not tried again', async () => {
    const account = await open.account();
    const { json } = await move(account, '-5000000', { kind: 'adjustment' });
    expect((await decide('approve', json['id'], BOB)).json).toMatchObject({
      state: 'failed',
      note: 'The adjustment would take more than what is available.',
    });
    await move(account, '1000000');
    expect((await decide('approve', json['id'], CAT)).json).toMatchObject({ state: 'failed' });
    expect(await balanceOf(account)).toBe('1000000');
  });

  test('approved codes are created once, by the operator who asked', async () => {
    const body = { amount: '600000', count: 2, reason: 'fair' };
    const { id } = (await open.post('/codes', body)).json;
    expect(codeOf(await decide('codes', id, ANN))).toEqual([409, 'approval_decided']);
    await decide('approve', id, BOB);
    expect(codeOf(await decide('codes', id, BOB))).toEqual([403, 'own_approval']);
    const answers = await Promise.all([1, 2, 3].map(() => decide('codes', id, ANN)));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 409, 409]);
    const made = answers.find(({ status }) => status === 200)?.json['data'];
    expect(made).toEqual([1, 2].map(() => expect.objectContaining({ amount: '600000' })));
  });

  test('for codes that expire, ends with them, whether approved or not', async () => {
    const expires_at = new Date(open.clock() + 86_400_000).toISOString();
    const body = { amount: '600000', count: 2, reason: 'fair', expires_at };
    const ids = await Promise.all(
      [1, 2].map(async () => (await open.post('/codes', body)).json['id']),
    );
    const [approved, waiting] = ids;
    expect((await decide('approve', approved, BOB)).json).toMatchObject({ state: 'approved' });
    open.advance(86_400_000);
    open.proveAgain();
    expect(codeOf(await decide('approve', waiting, BOB))).toEqual([409, 'approval_expired']);
    expect(codeOf(await decide('codes', approved, ANN))).toEqual([409, 'approval_expired']);
    const { data } = (await open.get('/approvals?limit=2')).json as { data: object[] };
    expect(data).toMatchObject([{ state: 'expired' }, { state: 'expired' }]);
  });

  test('needs a recent password, and expires after a week', async () => {
    const account = await open.account();
    const { json } = await move(account, '5000000');
    open.forgetProof();
    expect(codeOf(await decide('approve', json['id'], BOB))).toEqual([403, 'step_up_required']);
    open.advance(WEEK);
    open.proveAgain();
    expect(codeOf(await decide('approve', json['id'], BOB))).toEqual([409, 'approval_expired']);
    const { data } = (await open.get('/approvals?limit=1')).json as { data: unknown[] };
    expect(data).toEqual([expect.objectContaining({ id: json['id'], state: 'expired' })]);
    expect(await balanceOf(account)).toBe('0');
  });
});
