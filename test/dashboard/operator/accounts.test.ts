// Accounts in the console: searched, shown, created and changed, with every change in the audit
// trail.

import { afterAll, expect, test } from 'bun:test';
import { micro } from '../../../src/core/money.ts';
import { createRollUp } from '../../../src/ledger/series/roll-up.ts';
import { accountDeletions, users } from '../../../src/store/sign-in-tables.ts';
import { readTrail } from '../../operations/dependencies.ts';
import {
  countQueries,
  describeOnEachDatabase,
  temporaryDirectory,
} from '../../support/database.ts';
import { addRecords, DAY, HOUR_MS, usageRecord } from '../../support/usage.ts';
import { ADDRESS, OPERATOR, openConsole } from './console.ts';

describeOnEachDatabase('accounts in the console', async () => {
  const open = await openConsole(temporaryDirectory());
  afterAll(open.close);

  const rowsOf = (json: Record<string, unknown>) => json['data'] as { id: string; email: string }[];
  const eventsOf = async (id: string) =>
    (await readTrail(open.database))
      .filter(({ accountId }) => accountId === id)
      .map(({ action, actor, address, detail }) => ({ action, actor, address, detail }));

  test('the list is turned page by page, and filtered', async () => {
    const ids: string[] = [];
    for (let made = 0; made < 5; made += 1) ids.push(await open.account());
    const first = await open.get('/accounts?limit=2');
    expect(rowsOf(first.json).map(({ id }) => id)).toEqual(ids.toReversed().slice(0, 2));
    await open.account();
    const second = await open.get(`/accounts?limit=2&after=${first.json['next']}`);
    expect(rowsOf(second.json).map(({ id }) => id)).toEqual(ids.toReversed().slice(2, 4));
    const third = await open.get(`/accounts?limit=2&after=${second.json['next']}`);
    expect([rowsOf(third.json).map(({ id }) => id), third.json['next']]).toEqual([
      ids.slice(0, 1),
      null,
    ]);
    const [id = ''] = ids;
    const { email } = await open.accounts.get(id);
    expect(rowsOf((await open.get(`/accounts?text=${encodeURIComponent(email)}`)).json)).toEqual([
      {
        id,
        object: 'account',
        email,
        email_verified: true,
        standing: 'active',
        standing_without_block: 'active',
        plan: { slug: 'pro', name: 'Pro', since: expect.any(String) },
        balance: {
          available: '0',
          reserved: '0',
          total: '0',
          available_usd: '0',
          unit: 'svc_token',
        },
        api_keys: { active: 0, limit: 20 },
        created_at: '2026-11-21T12:00:00.000Z',
        last_active_at: null,
        last_30_days: {
          ...{ requests: 0, failed: 0, uncosted: 0 },
          ...{ spent: '0', spent_usd: '0', cost: '0', cost_usd: '0', margin: '0', margin_usd: '0' },
        },
      } as never,
    ]);
    expect(rowsOf((await open.get('/accounts?text=%25')).json)).toEqual([]);
    expect(rowsOf((await open.get('/accounts?text=')).json).length).toBe(6);
    expect(rowsOf((await open.get('/accounts?plan=starter')).json)).toEqual([]);
  });

  test('a page of accounts takes three queries, however many rows it has', async () => {
    const rich = await open.account('rich@example.com');
    await open.account('blocked@example.com');
    await open.post(`/accounts/${rich}/movements`, {
      id: crypto.randomUUID(),
      kind: 'credit',
      amount: '7.5',
      reason: 'invoice 7',
    });
    for (const name of ['one', 'two']) await open.post(`/accounts/${rich}/keys`, { name });
    const [revoked] = await open.keys.list(rich);
    await open.post(`/keys/${revoked?.id}/revoke`, { reason: 'operator' });
    await open.post('/blocks', { kind: 'account', value: 'blocked@example.com', reason: '' });
    const list = async (path: string) => {
      let rows: ReturnType<typeof rowsOf> = [];
      let queries = Number.POSITIVE_INFINITY;
      // The fewest of some tries: now and then the operator's session is read again.
      for (let tries = 0; tries < 3; tries += 1) {
        const count = await countQueries(async () => {
          rows = rowsOf((await open.get(path)).json);
        });
        queries = Math.min(queries, count);
      }
      return { rows, queries };
    };
    expect((await list('/accounts?limit=1')).queries).toBe(3);
    const { rows, queries } = await list('/accounts?limit=50');
    expect([rows.length > 5, queries]).toEqual([true, 3]);
    const shown = new Map(rows.map((row) => [row.email, row as unknown]));
    expect(shown.get('rich@example.com')).toMatchObject({
      standing: 'active',
      balance: { available: '7.5', reserved: '0', total: '7.5' },
      api_keys: { active: 1 },
    });
    expect(shown.get('blocked@example.com')).toMatchObject({
      ...{ standing: 'blocked', standing_without_block: 'active' },
      api_keys: { active: 0 },
    });
  });

  test('the list is sorted on the server, and a cursor belongs to its order', async () => {
    const sorted = async (path: string) =>
      rowsOf((await open.get(path)).json).map(({ email }) => email);
    const up = await sorted('/accounts?sort=email&limit=200');
    expect(up).toEqual(up.toSorted());
    expect(await sorted('/accounts?sort=-email&limit=200')).toEqual(up.toReversed());
    const first = await open.get('/accounts?sort=-balance&limit=1');
    expect(rowsOf(first.json)[0]?.email).toBe('rich@example.com');
    const next = `limit=1&after=${first.json['next']}`;
    expect((await open.get(`/accounts?sort=-balance&${next}`)).status).toBe(200);
    expect(await open.refusal('GET', `/accounts?sort=balance&${next}`)).toEqual([
      400,
      'invalid_request',
    ]);
  });

  test('all accounts that match are exported as CSV without formulas', async () => {
    const email = '=cmd@formula.example';
    const id = await open.account(email);
    const response = await open.open('GET', '/accounts/export?text=formula');
    expect(response.headers.get('content-disposition')).toContain('accounts-');
    const [head = '', line = '', ...more] = (await response.text()).split('\r\n');
    expect(head.split(',').slice(0, 2)).toEqual(['"account_id"', '"email"']);
    expect(line).toStartWith(`"${id}","'${email}",true,"active",false,"pro",`);
    expect(line.split(',')).toHaveLength(head.split(',').length);
    expect(more).toEqual(['']);
  });

  test.each([
    '/accounts?standing=gone',
    '/accounts?limit=0',
    '/accounts?limit=-1',
    '/accounts?limit=1e9',
    '/accounts?after=x%27y',
    '/accounts?after=abc',
    '/accounts?verified=maybe',
    '/accounts?sort=colour',
    `/accounts?text=${'x'.repeat(255)}`,
  ])('what is no query of the list is refused: %s', async (path) => {
    expect(await open.refusal('GET', path)).toEqual([400, 'invalid_request']);
  });

  test('an account is created with its first key, which no later answer has', async () => {
    const body = {
      email: ' New@Example.com ',
      plan: 'starter',
      email_verified: false,
      key_name: 'first',
    };
    const { status, json } = await open.post('/accounts', body);
    const account = json['account'] as { id: string };
    const key = String(json['key']);
    expect([status, json['account'], key]).toEqual([
      200,
      expect.objectContaining({ email: 'new@example.com', email_verified: false }),
      expect.stringMatching(/^sk-[A-Za-z0-9]{48}$/),
    ]);
    const [row] = await open.keys.list(account.id);
    expect([row?.name, (await open.keys.find(key)).id]).toEqual(['first', String(row?.id)]);
    const shown = await open.get(`/accounts/${account.id}/keys`);
    expect(shown.text).toContain(String(row?.masked));
    for (const path of ['', '/keys', '/movements']) {
      const { text } = await open.get(`/accounts/${account.id}${path}`);
      expect(text).not.toContain(key);
      expect(text).not.toContain(String(row?.digest));
    }
    expect(await open.refusal('POST', '/accounts', body)).toEqual([409, 'email_taken']);
    expect(await open.refusal('POST', '/accounts', { ...body, email: 'x' })).toEqual([
      400,
      'invalid_email',
    ]);
    expect(await open.refusal('POST', '/accounts', { ...body, balance: '5' })).toEqual([
      400,
      'invalid_request',
    ]);
  });

  test('everything about one account, its limits in use included', async () => {
    const id = await open.account('shown@example.com');
    const { json } = await open.get(`/accounts/${id}`);
    expect(json).toMatchObject({
      id,
      email: 'shown@example.com',
      limits: {
        requests_per_minute: 300,
        tokens_per_minute: 1_000_000,
        concurrent_requests: 10,
        daily_tokens: null,
        monthly_tokens: null,
      },
      usage: { in_flight: 0, requests_this_minute: { used: 0, remaining: 300 } },
      owner: null,
      deletion: null,
    });
    const createdAt = open.clock();
    await open.database.db
      .insert(users)
      .values({
        id: 'user_shown',
        realm: 'customer',
        email: 'shown@example.com',
        twoFactorEnabled: true,
        accountId: id,
        createdAt,
      })
      .run();
    expect((await open.get(`/accounts/${id}`)).json['owner']).toEqual({
      two_factor: true,
      signed_up_at: '2026-11-21T12:00:00.000Z',
    });
    expect(await open.refusal('GET', '/accounts/acct_unknown')).toEqual([404, 'account_not_found']);
    const found = await open.get('/accounts/shown%40example.com');
    expect(found.json['id']).toBe(id);
  });

  test('plan, address and standing are changed, each with its event and the reason', async () => {
    const id = (
      await open.accounts.create(
        { email: 'change@example.com', plan: 'pro', emailVerified: false },
        'operator',
      )
    ).id;
    const before = open.changes();
    expect((await open.post(`/accounts/${id}/plan`, { plan: 'starter' })).json).toMatchObject({
      plan: { slug: 'starter' },
    });
    expect((await open.post(`/accounts/${id}/verify`)).json).toMatchObject({
      email_verified: true,
    });
    const suspend = { standing: 'suspended', reason: ' chargeback ' };
    expect((await open.post(`/accounts/${id}/standing`, suspend)).json).toMatchObject({
      standing: 'suspended',
    });
    await open.post(`/accounts/${id}/standing`, suspend);
    await open.post(`/accounts/${id}/standing`, { standing: 'active' });
    expect(open.changes() - before).toBe(5);
    const by = { actor: `operator:${OPERATOR}`, address: ADDRESS };
    expect((await eventsOf(id)).slice(1)).toEqual([
      { action: 'account.plan_changed', ...by, detail: { from: 'pro', to: 'starter' } },
      { action: 'account.email_verified', ...by, detail: { from: false, to: true } },
      {
        action: 'account.standing_changed',
        ...by,
        detail: { from: 'active', to: 'suspended', reason: 'chargeback' },
      },
      { action: 'account.standing_changed', ...by, detail: { from: 'suspended', to: 'active' } },
    ]);
    expect(await open.refusal('POST', `/accounts/${id}/plan`, { plan: 'gold' })).toEqual([
      400,
      'unknown_plan',
    ]);
    expect(await open.refusal('POST', `/accounts/${id}/standing`, { standing: 'blocked' })).toEqual(
      [400, 'invalid_request'],
    );
  });

  test('a deletion that its owner has asked for is shown, and taken back with the standing', async () => {
    const id = await open.account();
    const at = open.clock();
    await open.accounts.changeStanding(id, 'pending_deletion', id);
    await open.database.db
      .insert(accountDeletions)
      .values({ accountId: id, askedAt: at, dueAt: at + 86_400_000 })
      .run();
    expect((await open.get(`/accounts/${id}`)).json).toMatchObject({
      standing: 'pending_deletion',
      deletion: { asked_at: '2026-11-21T12:00:00.000Z', due_at: '2026-11-22T12:00:00.000Z' },
    });
    await open.post(`/accounts/${id}/standing`, { standing: 'active' });
    expect((await open.get(`/accounts/${id}`)).json).toMatchObject({
      standing: 'active',
      deletion: null,
    });
  });

  test('the plans to choose from are those of the catalog', async () => {
    const { json } = await open.get('/plan-names');
    expect(json['data']).toContainEqual({ slug: 'pay-as-you-go', name: 'Pay as you go' });
  });

  test('the usage of an account is that of its requests alone', async () => {
    const [id, other] = [await open.account(), await open.account()];
    const facts = { startedAt: DAY, debited: micro(1_500_000n) };
    await addRecords(open.database, [
      usageRecord({ ...facts, accountId: id }),
      usageRecord({ ...facts, accountId: other }),
    ]);
    await createRollUp(open.database).step(2);
    const span = new URLSearchParams({
      from: new Date(DAY).toISOString(),
      to: new Date(DAY + 24 * HOUR_MS).toISOString(),
      group_by: 'model',
      measure: 'tokens',
    });
    const { status, json } = await open.get(`/accounts/${id}/usage/series?${span}`);
    expect(status).toBe(200);
    expect(json).toMatchObject({
      object: 'usage',
      total: { requests: 1, input_tokens: 100, spent: '1.5' },
      groups: [{ group: 'swift-1 swift-1' }],
    });
    expect((await open.get(`/accounts/acct_x/usage/series?${span}`)).status).toBe(404);
  });
});
