// The account's audit trail: sentences, actor, address, paging, and no events of other accounts.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { auditWords } from '../../../src/dashboard/customer/audit-labels.ts';
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
    const { masked } = created;
    expect(
      trail.map(({ id: _id, operation_id: _operation, subject: _subject, ...rest }) => rest),
    ).toEqual([
      {
        at,
        words: 'Account suspended',
        action: 'account.standing_changed',
        actor: 'system',
        address: null,
      },
      {
        at,
        words: 'Plan changed from starter to pro',
        action: 'account.plan_changed',
        actor: 'operator',
        address: null,
      },
      {
        at,
        words: `API key ${masked} revoked`,
        action: 'api_key.revoked',
        actor: 'you',
        address: '203.0.113.7',
      },
      {
        at,
        words: `API key ${masked} created`,
        action: 'api_key.created',
        actor: 'you',
        address: '203.0.113.7',
      },
      {
        at,
        words: 'Account created',
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

  describe('the words', () => {
    const words = (action: string, detail: object = {}) =>
      auditWords({ action, detail: JSON.stringify(detail) });

    test.each([
      ['api_key.created', { masked: 'sk-a…z', rotated_from: 'key_1' }, 'by rotation'],
      ['api_key.revoked', { masked: 'sk-a…z', reason: 'rotated' }, 'by rotation'],
      ['api_key.revoked', { reason: 'leak_report' }, 'API key revoked (reported as leaked)'],
      ['api_key.renamed', { masked: 'sk-a…z', from: null, to: 'ci' }, 'renamed to “ci”'],
      [
        'api_key.renamed',
        { masked: 'sk-a…z', from: 'ci', to: null },
        'Name of API key sk-a…z removed',
      ],
      ['account.standing_changed', { to: 'active' }, 'Account activated'],
      ['money.credited', { amount: '1234512.5' }, 'Balance added: 1,234,512.5 service tokens'],
      ['user.signed_in', { with: 'password and code' }, 'Signed in with password and code'],
      ['user.sessions_ended', { ended: 3 }, '3 other sessions'],
      ['two_factor.turned_on', {}, 'Two factor: turned on'],
    ])('of %s %p say "%s"', (action, detail, expected) => {
      expect(words(action, detail)).toContain(expected);
    });

    test('tell no reason that an operator wrote down for the operator', () => {
      const reason = 'chargeback, see ticket 4711';
      expect(words('block.added', { kind: 'account', reason })).toBe('Account blocked');
      expect(words('account.unheard_of', { reason })).not.toContain('4711');
      expect(words('money.adjusted', { reason, amount: '5' })).not.toContain('4711');
    });
  });
});
