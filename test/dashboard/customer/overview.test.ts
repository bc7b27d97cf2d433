// The overview: what it adds up from the books, its warnings, and its first steps for new customers.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { micro, tokenCount } from '../../../src/core/money.ts';
import type {
  NoticeRecord,
  OverviewRecord,
} from '../../../src/dashboard/records/customer-overview.ts';
import { get } from '../../support/client.ts';
import { describeOnEachDatabase, temporaryDirectory } from '../../support/database.ts';
import { startGateway } from '../../support/gateway.ts';
import { type CustomerApp, NOW_MS, openCustomerApp } from './app.ts';

const directory = temporaryDirectory();
describeOnEachDatabase('the overview', () => {
  let app: CustomerApp;
  beforeAll(async () => {
    app = await openCustomerApp(directory);
  });
  afterAll(() => app.close());

  const DAY_MS = 86_400_000;
  const NOTHING = { requests: 0, input_tokens: 0, output_tokens: 0, spent: '0', spent_usd: '0' };

  async function overviewOf(account: string): Promise<OverviewRecord> {
    const { status, json } = await app.get(account, '/overview');
    expect(status).toBe(200);
    return json as unknown as OverviewRecord;
  }

  async function kindsOf(account: string): Promise<NoticeRecord['kind'][]> {
    return (await overviewOf(account)).notices.map(({ kind }) => kind);
  }

  test('of a new account has zeros, thirty days of them, and the first steps', async () => {
    const account = await app.customer({ plan: 'starter' });
    const overview = await overviewOf(account);
    expect(overview.account).toMatchObject({
      id: account,
      email: (await app.accounts.get(account)).email,
      plan: { slug: 'starter', name: 'Starter', since: new Date(NOW_MS).toISOString() },
      api_keys: { active: 0, limit: 5 },
    });
    expect(overview.live).toEqual({
      balance: {
        available: '0',
        reserved: '0',
        total: '0',
        available_usd: '0',
        unit: 'svc_token',
      },
      usage: overview.account.usage,
      today: NOTHING,
      open_requests: [],
    });
    expect(overview.days.map(({ day }) => day).slice(-2)).toEqual(['2026-11-20', '2026-11-21']);
    expect(overview.days).toHaveLength(30);
    expect(overview.spend).toEqual({ today: NOTHING, this_month: NOTHING, last_30_days: NOTHING });
    expect(overview.first_steps).toEqual({
      has_key: false,
      has_balance: false,
      has_request: false,
    });
    expect(overview.connection).toEqual({
      base_url: 'https://gate.example',
      model: 'demo-chat',
      reasoning: false,
      responses: true,
    });
    expect([overview.lasts_days, overview.notices]).toEqual([null, [{ kind: 'balance_empty' }]]);
  });

  test('adds up days, months and the pace from the books, exactly', async () => {
    const own = await openCustomerApp(directory);
    const account = await own.customer({ credit: 1_000n });
    const other = await own.customer({ credit: 1_000n });
    own.advance(-25 * DAY_MS);
    await own.spend(account, 15n);
    await own.spend(other, 15n);
    own.advance(22 * DAY_MS);
    await own.spend(account, 300_000_015n);
    own.advance(3 * DAY_MS);
    await own.spend(account, 15n);
    await own.spend(account, 15n);
    await own.ledger.hold({
      ...{ requestId: 'req_open', accountId: account, keyId: 'key_1', format: 'messages' },
      ...{
        stream: true,
        model: 'demo-chat',
        amount: micro(2_500_000n),
        promptTokens: tokenCount(1),
        outputBound: tokenCount(9),
      },
      price: own.dependencies.serviceState().catalog.models[0]?.prices[0].price ?? fail(),
      nowMs: NOW_MS,
    });
    const { json } = await own.get(account, '/overview');
    const overview = json as unknown as OverviewRecord;
    expect(overview.spend.today).toEqual({
      requests: 2,
      input_tokens: 180,
      output_tokens: 20,
      spent: '0.00003',
      spent_usd: '0.00000000003',
    });
    expect(overview.spend.this_month).toMatchObject({ requests: 3, spent: '300.000045' });
    expect(overview.spend.last_30_days).toMatchObject({ requests: 4, spent: '300.00006' });
    const days = overview.days.filter(({ requests }) => requests > 0);
    expect(days.map(({ day, requests, spent }) => [day, requests, spent])).toEqual([
      ['2026-10-27', 1, '0.000015'],
      ['2026-11-18', 1, '300.000015'],
      ['2026-11-21', 2, '0.00003'],
    ]);
    expect(overview.live.balance).toMatchObject({
      available: '697.49994',
      reserved: '2.5',
      total: '699.99994',
    });
    expect(overview.live.open_requests).toEqual([
      {
        request_id: 'req_open',
        model: 'demo-chat',
        key_id: 'key_1',
        format: 'messages',
        stream: true,
        started_at: new Date(NOW_MS).toISOString(),
        reserved: '2.5',
      },
    ]);
    // 300 within four days, and nearly 700 left.
    expect(overview.lasts_days).toBe(9);
    expect(overview.first_steps).toEqual({ has_key: false, has_balance: true, has_request: true });
    await own.close();
  });

  describe('it warns', () => {
    test('of a balance that will not last, and of an empty one', async () => {
      const account = await app.customer({ credit: 100n });
      expect(await kindsOf(account)).toEqual([]);
      await app.spend(account, 40_000_000n);
      expect((await overviewOf(account)).notices).toEqual([{ kind: 'balance_low', lasts_days: 1 }]);
      await app.spend(account, 59_500_000n);
      expect(await kindsOf(account)).toEqual(['balance_empty']);
    });

    test('of keys that are about to expire, the next one first', async () => {
      const account = await app.customer({ credit: 1n });
      const key = async (name: string, inMs: number) =>
        (await app.keys.create({ accountId: account, name, expiresAt: NOW_MS + inMs }, account))
          .row;
      await key('later', 8 * DAY_MS);
      const second = await key('second', 6 * DAY_MS);
      const first = await key('first', DAY_MS);
      await app.keys.revoke((await key('revoked', DAY_MS)).id, 'user', account);
      const shown = [first, second].map(({ id, name, masked, expiresAt }) => {
        return { id, name, masked, expires_at: new Date(expiresAt ?? 0).toISOString() };
      });
      expect((await overviewOf(account)).notices).toEqual([{ kind: 'keys_expiring', keys: shown }]);
    });

    test('of an address that is not verified, of a suspension, of maintenance and of incidents', async () => {
      const account = await app.customer({ credit: 1n, verified: false });
      expect(await kindsOf(account)).toEqual(['email_unverified']);
      await app.accounts.changeStanding(account, 'suspended', 'operator');
      const { incidentOf, maintenance } = app.dependencies.serviceState();
      app.operate({
        maintenance: { on: true, message: 'Back at noon.' },
        incidentOf: (slug) => (slug === 'demo-chat' ? { requestsPerMinute: 1 } : undefined),
      });
      expect((await overviewOf(account)).notices).toEqual([
        { kind: 'inactive', standing: 'suspended' },
        { kind: 'email_unverified', mail_in_log: true },
        { kind: 'maintenance', message: 'Back at noon.' },
        { kind: 'incident_limits', models: ['demo-chat'] },
      ]);
      app.operate({ incidentOf, maintenance });
    });
  });

  test('an account whose plan is missing gets an error, and can still revoke its keys', async () => {
    const account = await app.customer();
    const { row } = await app.keys.create({ accountId: account }, account);
    const { catalog } = app.dependencies.serviceState();
    app.operate({ catalog: { ...catalog, plans: new Map() } });
    const answer = await app.get(account, '/overview');
    expect([answer.status, answer.json['error']]).toMatchObject([503, { code: 'unavailable' }]);
    expect((await app.ask(account, 'POST', `/keys/${row.id}/revoke`)).status).toBe(200);
    app.operate({ catalog });
  });

  test('the account is what /v1 shows a key of it, with the e-mail address', async () => {
    await using gateway = await startGateway();
    const account = await gateway.createAccount({ plan: 'pro' });
    const { json } = await get(account, '/v1/account');
    expect(json['email']).toBeUndefined();
    const own = await app.customer({ credit: 1_000_000n });
    const { email, created_at, ...shown } = (await app.get(own, '/account')).json;
    expect(Object.keys(shown)).toEqual(Object.keys(json));
    expect([email, created_at]).toEqual([
      (await app.accounts.get(own)).email,
      new Date(NOW_MS).toISOString(),
    ]);
  });
});

function fail(): never {
  throw new Error('the demonstration catalog has a price');
}
