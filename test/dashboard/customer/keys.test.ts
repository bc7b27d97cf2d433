// Keys as their owner manages them: what is shown, what each change answers, the caps under many
// requests at once, and that no other account's key is there.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { listAuditEvents } from '../../../src/identity/audit.ts';
import { describeOnEachDatabase, temporaryDirectory } from '../../support/database.ts';
import { type CustomerApp, NOW_MS, openCustomerApp } from './app.ts';

const directory = temporaryDirectory();
describeOnEachDatabase("a customer's keys", () => {
  let app: CustomerApp;
  beforeAll(async () => {
    app = await openCustomerApp(directory);
  });
  afterAll(() => app.close());

  const HOUR_MS = 3_600_000;

  /** Creates a key over the JSON and returns the whole answer. */
  async function create(account: string, body: object = {}): Promise<Record<string, unknown>> {
    const { status, json } = await app.ask(account, 'POST', '/keys', body);
    expect(status).toBe(200);
    return json;
  }

  function codeOf({ json }: { readonly json: Record<string, unknown> }): unknown {
    return (json['error'] as Record<string, unknown> | undefined)?.['code'];
  }

  describe('the list', () => {
    test('of a new account is empty and says what may be created', async () => {
      const account = await app.customer();
      expect(await app.get(account, '/keys')).toEqual({
        status: 200,
        json: {
          object: 'list',
          data: [],
          next: null,
          active_count: 0,
          active_limit: 20,
          creations: { last_hour: 0, limit: 20, next_at: null },
        },
      });
    });

    test('has every key in the shape of /v1, newest first, page by page, and never the key', async () => {
      const account = await app.customer();
      const made = [];
      for (const name of ['one', 'two', 'three']) made.push(await create(account, { name }));
      const { json: first } = await app.get(account, '/keys?limit=2');
      const { key: _key, ...newest } = made[2] ?? {};
      const rows = first['data'] as Record<string, unknown>[];
      expect(rows[0]).toEqual(newest);
      expect(rows.map(({ name }) => name)).toEqual(['three', 'two']);
      const { json: second } = await app.get(account, `/keys?limit=2&after=${first['next']}`);
      expect((second['data'] as { name: string }[]).map(({ name }) => name)).toEqual(['one']);
      expect(second['next']).toBeNull();
      for (const { key } of made)
        expect(JSON.stringify([first, second])).not.toContain(String(key));
    });
  });

  describe('creation', () => {
    test('returns the key once, uncached, and records who created it from where', async () => {
      const account = await app.customer();
      const before = app.changes();
      const response = await app.open(account, 'POST', '/keys', {
        name: ' laptop ',
        expires_at: '2027-01-31T12:00:00Z',
      });
      const { key, ...record } = (await response.json()) as Record<string, unknown>;
      expect(response.headers.get('cache-control')).toBe('no-store');
      expect(key).toMatch(/^sk-[A-Za-z0-9]{48}$/);
      expect(record).toMatchObject({
        object: 'api_key',
        name: 'laptop',
        status: 'active',
        expires_at: '2027-01-31T12:00:00.000Z',
        created_at: new Date(NOW_MS).toISOString(),
      });
      expect(app.changes()).toBe(before + 1);
      const [event] = await listAuditEvents(app.dependencies.store.database, account, 1);
      expect(event).toMatchObject({
        action: 'api_key.created',
        actor: account,
        address: '203.0.113.7',
        subject: record['id'],
      });
    });

    test.each([
      [{ name: 'x'.repeat(101) }, 400, 'invalid_key_name'],
      [{ expires_at: '2026-11-21T11:59:59Z' }, 400, 'invalid_expiry'],
      [{ expires_at: '2026-12-01' }, 400, 'invalid_request'],
      [{ name: 7 }, 400, 'invalid_request'],
      [{ accountId: 'acct_other' }, 400, 'invalid_request'],
    ])('refuses %p', async (body, status, code) => {
      const account = await app.customer();
      const answer = await app.ask(account, 'POST', '/keys', body);
      expect([answer.status, codeOf(answer)]).toEqual([status, code]);
      expect(await app.keys.list(account)).toEqual([]);
    });

    test('twenty at once, one below the cap, leave exactly the cap', async () => {
      const account = await app.customer({ plan: 'starter' });
      for (let made = 0; made < 4; made += 1) await create(account);
      const answers = await Promise.all(
        Array.from({ length: 20 }, () => app.ask(account, 'POST', '/keys')),
      );
      const statuses = answers.map(({ status }) => status).sort();
      expect(statuses).toEqual([200, ...Array.from({ length: 19 }, () => 409)]);
      expect(await app.keys.countActive(account)).toBe(5);
    });

    test('the 21st within an hour is refused, and the list says when there is room again', async () => {
      const account = await app.customer({ plan: 'business' });
      for (let made = 0; made < 20; made += 1) await create(account);
      const refused = await app.ask(account, 'POST', '/keys');
      expect([refused.status, codeOf(refused)]).toEqual([429, 'key_creation_limit_reached']);
      const [{ id } = { id: '' }] = await app.keys.list(account);
      for (const path of ['/keys', `/keys/${id}/rotate`]) {
        const { status, headers } = await app.open(account, 'POST', path);
        expect([status, headers.get('retry-after')]).toEqual([429, '3600']);
      }
      const { json } = await app.get(account, '/keys');
      expect(json['creations']).toEqual({
        last_hour: 20,
        limit: 20,
        next_at: new Date(NOW_MS + HOUR_MS).toISOString(),
      });
    });
  });

  describe('rotation', () => {
    test('answers both keys, the new one whole, as one operation', async () => {
      const account = await app.customer();
      const old = await create(account, { name: 'ci' });
      const { status, json } = await app.ask(account, 'POST', `/keys/${old['id']}/rotate`);
      const { revoked, created } = json as Record<string, Record<string, unknown>>;
      expect(status).toBe(200);
      expect(revoked).toMatchObject({
        id: old['id'],
        status: 'revoked',
        revoked_reason: 'rotated',
        replaced_by: created?.['id'],
      });
      expect(created).toMatchObject({ name: 'ci', status: 'active', rotated_from: old['id'] });
      expect(created?.['key']).toMatch(/^sk-/);
      expect(revoked).not.toHaveProperty('key');
      const events = await listAuditEvents(app.dependencies.store.database, account, 2);
      expect(new Set(events.map(({ operationId }) => operationId)).size).toBe(1);
      expect(events.map(({ action }) => action)).toEqual(['api_key.revoked', 'api_key.created']);
    });

    test('fifty at once of one key have one effect', async () => {
      const account = await app.customer({ plan: 'starter' });
      const [only] = await Promise.all([1, 2, 3, 4, 5].map(() => create(account)));
      const answers = await Promise.all(
        Array.from({ length: 50 }, () => app.ask(account, 'POST', `/keys/${only?.['id']}/rotate`)),
      );
      expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
      const others = answers.filter(({ status }) => status !== 200);
      expect(new Set(others.map(codeOf))).toEqual(new Set(['key_not_active']));
      expect(await app.keys.countActive(account)).toBe(5);
      expect(await app.keys.list(account)).toHaveLength(6);
    });
  });

  test('a key gets another name, and loses it', async () => {
    const account = await app.customer();
    const { id } = await create(account);
    const named = await app.ask(account, 'PATCH', `/keys/${id}`, { name: 'ci' });
    expect([named.status, named.json['name']]).toEqual([200, 'ci']);
    const unnamed = await app.ask(account, 'PATCH', `/keys/${id}`, { name: null });
    expect([unnamed.status, unnamed.json['name']]).toEqual([200, null]);
  });

  test('revocation is for good, and doing it again changes nothing', async () => {
    const account = await app.customer();
    const { id } = await create(account);
    const once = await app.ask(account, 'POST', `/keys/${id}/revoke`);
    expect(once.json).toMatchObject({ status: 'revoked', revoked_reason: 'user' });
    expect(await app.ask(account, 'POST', `/keys/${id}/revoke`)).toEqual(once);
  });

  test('a suspended account can only read and revoke', async () => {
    const account = await app.customer();
    const { id } = await create(account);
    await app.accounts.changeStanding(account, 'suspended', 'operator');
    const statuses = [];
    for (const [method, path] of [
      ['GET', '/keys'],
      ['POST', '/keys'],
      ['PATCH', `/keys/${id}`],
      ['POST', `/keys/${id}/rotate`],
      ['POST', `/keys/${id}/revoke`],
    ] as const) {
      statuses.push(
        (await app.ask(account, method, path, method === 'PATCH' ? { name: 'x' } : {})).status,
      );
    }
    expect(statuses).toEqual([200, 403, 403, 403, 200]);
  });

  describe('the key of another account', () => {
    test.each([
      ['PATCH', '', { name: 'mine' }],
      ['POST', '/rotate', {}],
      ['POST', '/revoke', {}],
    ] as const)(
      'is as unknown as none to %s %s, by its id and by its text',
      async (method, action, body) => {
        const [mine, theirs] = [await app.customer(), await app.customer()];
        const { id, key } = await create(theirs);
        const before = await app.keys.list(theirs);
        const shown = async (name: unknown) => {
          const { status, json } = await app.ask(mine, method, `/keys/${name}${action}`, body);
          const { request_id: _id, ...error } = json['error'] as Record<string, unknown>;
          return { status, error };
        };
        const unknown = await shown('key_nobody');
        expect(unknown.status).toBe(404);
        expect(await shown(id)).toEqual(unknown);
        expect(await shown(key)).toEqual(unknown);
        expect(await app.keys.list(theirs)).toEqual(before);
      },
    );
  });

  test('what a key is pasted into is the public address and a model of the plan', async () => {
    const account = await app.customer();
    expect((await app.get(account, '/connection')).json).toEqual({
      base_url: 'https://gate.example',
      model: 'demo-chat',
    });
  });
});
