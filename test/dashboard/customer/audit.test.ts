// The account's audit trail: facts, actor, address, paging, and no events of other accounts.

import { afterAll, beforeAll, expect, test } from 'bun:test';
import { auditRecord } from '../../../src/dashboard/customer/audit.ts';
import type { AuditRecord } from '../../../src/dashboard/records/customer-audit.ts';
import { describeOnEachDatabase, temporaryDirectory } from '../../support/database.ts';
import { type CustomerApp, NOW_MS, openCustomerApp } from './app.ts';

const directory = temporaryDirectory();
describeOnEachDatabase("a customer's audit log", () => {
  let app: CustomerApp;
  beforeAll(async () => {
    app = await openCustomerApp(directory);
  });
  afterAll(() => app.close());

  async function trailOf(account: string, query = ''): Promise<AuditRecord[]> {
    const { status, json } = await app.get(account, `/audit${query}`);
    expect(status).toBe(200);
    return json['data'] as AuditRecord[];
  }

  test('lists who did what, with addresses only for users of the account', async () => {
    const account = await app.customer({ plan: 'starter' });
    const created = (await app.ask(account, 'POST', '/keys', { name: 'ci' })).json;
    await app.ask(account, 'POST', `/keys/${created['id']}/revoke`);
    const address = '198.51.100.9';
    await app.accounts.changePlan(account, 'pro', { name: 'operator:ada@gate.example', address });
    await app.accounts.changeStanding(account, 'suspended', 'system');
    const trail = await trailOf(account);
    const at = new Date(NOW_MS).toISOString();
    const masked = String(created['masked']);
    expect(
      trail.map(({ id: _id, operation_id: _operation, subject: _subject, ...rest }) => rest),
    ).toEqual([
      {
        at,
        detail: { to: 'suspended' },
        action: 'account.standing_changed',
        actor: 'system',
        address: null,
      },
      {
        at,
        detail: { from: 'starter', to: 'pro' },
        action: 'account.plan_changed',
        actor: 'operator',
        address: null,
      },
      {
        at,
        detail: { masked, reason: 'user' },
        action: 'api_key.revoked',
        actor: 'you',
        address: '203.0.113.7',
      },
      {
        at,
        detail: { masked, rotated_from: null },
        action: 'api_key.created',
        actor: 'you',
        address: '203.0.113.7',
      },
      {
        at,
        detail: {},
        action: 'account.created',
        actor: 'operator',
        address: null,
      },
    ]);
    expect(JSON.stringify(trail)).not.toContain('ada@');
    expect(JSON.stringify(trail)).not.toContain(address);
  });

  test('comes page by page, each event once, and nothing of another account', async () => {
    const account = await app.customer();
    const other = await app.customer();
    for (let made = 0; made < 5; made += 1) {
      await app.keys.create({ accountId: account }, account);
      await app.keys.create({ accountId: other }, other);
    }
    const all = await trailOf(account);
    const seen: AuditRecord[] = [];
    for (let after: unknown = null; ; ) {
      const { json } = await app.get(
        account,
        `/audit?limit=4${after === null ? '' : `&after=${after}`}`,
      );
      seen.push(...(json['data'] as AuditRecord[]));
      after = json['next'];
      if (after === null) break;
    }
    expect(seen).toEqual(all);
    expect(all).toHaveLength(6);
    expect((await app.get(account, '/audit?after=key_x')).status).toBe(400);
  });

  test('has no reason that an operator recorded for operators', () => {
    const reason = 'chargeback, see ticket 4711';
    const shown = (action: string, detail: object) =>
      JSON.stringify(auditRecord(eventOf(action, JSON.stringify({ ...detail, reason }))));
    expect(shown('block.added', { kind: 'account' })).not.toContain('4711');
    expect(shown('account.unheard_of', {})).not.toContain('4711');
    expect(shown('money.adjusted', { amount: '5' })).not.toContain('4711');
    expect(shown('money.adjusted', { amount: '5' })).toContain('"amount":"5"');
  });
});

function eventOf(action: string, detail: string): Parameters<typeof auditRecord>[0] {
  return {
    id: 1,
    operationId: 'op_1',
    at: NOW_MS,
    actor: 'operator',
    address: null,
    action,
    accountId: 'acct_1',
    subject: 'acct_1',
    detail,
  };
}
