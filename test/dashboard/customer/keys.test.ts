// Keys as their owner manages them: what is shown, and what each change answers. Caps under many
// requests at once and keys of other accounts are in test/identity and test/dashboard/security.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { eq } from 'drizzle-orm';
import { apiKeys } from '../../../src/store/tables.ts';
import { accountEvents } from '../../support/audit.ts';
import { describeOnEachDatabase, temporaryDirectory } from '../../support/database.ts';
import { holdOf, settleOf } from '../../support/ledger.ts';
import { type CustomerApp, NOW_MS, openCustomerApp } from './app.ts';

const directory = temporaryDirectory();
describeOnEachDatabase("a customer's keys", () => {
  let app: CustomerApp;
  beforeAll(async () => {
    app = await openCustomerApp(directory);
  });
  afterAll(() => app.close());

  const HOUR_MS = 3_600_000;
  const MINUTE_MS = 60_000;
  /** What the list adds to a key without requests. */
  const UNUSED = {
    ...{ last_used_address: null, spent_today: '0', spent_today_usd: '0' },
    ...{ spent: '0', spent_usd: '0', budget: null },
  };

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
        json: { object: 'list', data: [], next: null },
      });
      expect(await app.get(account, '/keys/summary')).toEqual({
        status: 200,
        json: {
          counts: { all: 0, kept: 0, active: 0, expiring: 0, expired: 0, revoked: 0 },
          active_count: 0,
          active_limit: 20,
          creations: { last_hour: 0, limit: 20, next_at: null },
        },
      });
    });

    test('has every key in the shape of /v1 with its spend, newest first, page by page, and never the key', async () => {
      const account = await app.customer();
      const made = [];
      for (const name of ['one', 'two', 'three']) made.push(await create(account, { name }));
      const { json: first } = await app.get(account, '/keys?limit=2');
      const { key: _key, ...newest } = made[2] ?? {};
      const rows = first['data'] as Record<string, unknown>[];
      expect(rows[0]).toEqual({ ...newest, ...UNUSED });
      expect(rows.map(({ name }) => name)).toEqual(['three', 'two']);
      const { json: second } = await app.get(account, `/keys?limit=2&after=${first['next']}`);
      expect((second['data'] as { name: string }[]).map(({ name }) => name)).toEqual(['one']);
      expect(second['next']).toBeNull();
      for (const { key } of made)
        expect(JSON.stringify([first, second])).not.toContain(String(key));
    });
  });

  describe('spend', () => {
    const DAY_MS = 86_400_000;

    /** Books a request of a key that started at an instant. */
    async function spend(accountId: string, keyId: string, charge: bigint, nowMs: number) {
      const id = `req_spend_${Bun.randomUUIDv7()}`;
      await app.ledger.hold({ ...holdOf(id, accountId, charge), keyId, nowMs });
      await app.ledger.settle({ ...settleOf(id, charge), nowMs: nowMs + 1 });
    }

    test('is that of today and of 30 days, key by key, and sorts the list', async () => {
      const account = await app.customer({ credit: 1n });
      const ids: string[] = [];
      for (const name of ['old', 'busy', 'idle', 'small']) {
        ids.push(String((await create(account, { name }))['id']));
      }
      const [old = '', busy = '', idle = '', small = ''] = ids;
      const stranger = await app.customer({ credit: 1n });
      await spend(stranger, busy, 15n, NOW_MS);
      await spend(account, old, 15n, NOW_MS - 30 * DAY_MS);
      await spend(account, busy, 15n, NOW_MS - 29 * DAY_MS);
      await spend(account, busy, 15n, NOW_MS);
      await spend(account, small, 15n, NOW_MS);
      const list = async (query: string) =>
        (await app.get(account, `/keys?${query}`)).json as {
          data: Record<string, unknown>[];
          next: string | null;
        };
      const { data } = await list('sort=-spent');
      expect(
        data.map(({ name, spent_today, spent, spent_usd }) => [
          name,
          spent_today,
          spent,
          spent_usd,
        ]),
      ).toEqual([
        ['busy', '0.000015', '0.00003', '0.00000000003'],
        ['small', '0.000015', '0.000015', '0.000000000015'],
        ['idle', '0', '0', '0'],
        ['old', '0', '0', '0'],
      ]);
      const first = await list('sort=-spent&limit=3');
      expect(first.data.map(({ id }) => id)).toEqual([busy, small, idle]);
      const second = await list(`sort=-spent&limit=3&after=${first.next}`);
      expect([second.data.map(({ id }) => id), second.next]).toEqual([[old], null]);
      expect((await list('sort=spent_today&limit=1')).data[0]?.['id']).toBe(idle);
      expect((await list('q=BUS&state=active&sort=name')).data.map(({ id }) => id)).toEqual([busy]);
      for (const wrong of [
        ...['sort=digest', 'sort=-spent&after=key_1', `after=${first.next}`],
        ...['after=-created:tYQ:1', 'after=-created:n9999999999999999999:1', 'after=-created:n1:a'],
        ...['sort=name&after=name:n1:1', 'sort=name&after=name:tAA:1'],
      ]) {
        expect((await app.get(account, `/keys?${wrong}`)).status).toBe(400);
      }
      const { json } = await app.get(stranger, '/keys?sort=-spent');
      expect(json['data']).toEqual([]);
    });

    test.each(['-last_used', '-spent'])('is paged by %s while it changes', async (sort) => {
      const account = await app.customer({ credit: 1n });
      const ids: string[] = [];
      const use = async (id: string, times: number): Promise<void> => {
        await spend(account, id, BigInt(times), NOW_MS);
        const used = { lastUsedAt: NOW_MS + times };
        await app.database.db.update(apiKeys).set(used).where(eq(apiKeys.id, id)).run();
      };
      for (const times of [1, 2, 3, 4]) {
        const id = String((await create(account))['id']);
        await use(id, times);
        ids.unshift(id);
      }
      const page = async (after: string) => {
        const { json } = await app.get(account, `/keys?sort=${sort}&limit=2${after}`);
        return { next: json['next'], ids: (json['data'] as { id: string }[]).map(({ id }) => id) };
      };
      const first = await page('');
      expect(first.ids).toEqual(ids.slice(0, 2));
      // The last key of the page becomes the first of the list.
      await use(ids[1] ?? '', 9);
      expect(await page(`&after=${first.next}`)).toEqual({ next: null, ids: ids.slice(2) });
    });
  });

  describe('several', () => {
    test('are revoked as one operation, all of them or none', async () => {
      const account = await app.customer();
      const stranger = await app.customer();
      const foreign = await create(stranger);
      const ids = [String((await create(account))['id']), String((await create(account))['id'])];
      const refused = await app.ask(account, 'POST', '/keys/revoke', {
        ids: [...ids, foreign['id']],
      });
      expect([refused.status, codeOf(refused)]).toEqual([404, 'key_not_found']);
      expect(await app.keys.countActive(account)).toBe(2);
      const before = app.changes();
      const { json } = await app.ask(account, 'POST', '/keys/revoke', { ids });
      expect((json['data'] as { status: string }[]).map(({ status }) => status)).toEqual([
        'revoked',
        'revoked',
      ]);
      expect(app.changes()).toBe(before + 1);
      const events = await accountEvents(app.dependencies.store.database, account, 2);
      expect(events.map(({ action, actor }) => [action, actor])).toEqual([
        ['api_key.revoked', account],
        ['api_key.revoked', account],
      ]);
      expect(new Set(events.map(({ operationId }) => operationId)).size).toBe(1);
      for (const wrong of [[], ['x', 'x'], Array.from({ length: 201 }, (_, n) => `key_${n}`)]) {
        expect((await app.ask(account, 'POST', '/keys/revoke', { ids: wrong })).status).toBe(400);
      }
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
      const [event] = await accountEvents(app.dependencies.store.database, account, 1);
      expect(event).toMatchObject({
        action: 'api_key.created',
        actor: account,
        address: '203.0.113.7',
        subject: record['id'],
      });
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
      const { json } = await app.get(account, '/keys/summary');
      expect(json['creations']).toEqual({
        last_hour: 20,
        limit: 20,
        next_at: new Date(NOW_MS + HOUR_MS).toISOString(),
      });
    });
  });

  test('an account makes 60 changes a minute, invalid ones included; reads do not count', async () => {
    const account = await app.customer();
    const other = await app.customer();
    const { id } = await create(account);
    const { id: foreign } = await create(other);
    const path = `/keys/${id}`;
    const rename = (name: number) => app.ask(account, 'PATCH', path, { name: `ci ${name}` });
    for (let name = 1; name < 30; name += 1) {
      expect((await rename(name)).status).toBe(200);
      expect((await app.ask(account, 'PATCH', path, { name: 7 })).status).toBe(400);
      expect((await app.get(account, '/keys')).status).toBe(200);
    }
    expect((await rename(30)).status).toBe(200);
    const trail = () => accountEvents(app.database, account, 200);
    const before = await trail();
    const changesBefore = app.changes();
    const refused = await app.open(account, 'PATCH', path, { name: 'one more' });
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '60']);
    expect(await refused.json()).toMatchObject({
      error: {
        code: 'too_many_attempts',
        message: 'The limit of 60 changes a minute is reached. Try again in 60 seconds.',
      },
    });
    expect((await app.ask(account, 'POST', `${path}/pause`)).status).toBe(429);
    expect([await trail(), app.changes()]).toEqual([before, changesBefore]);
    expect((await app.get(account, '/keys')).status).toBe(200);
    expect((await app.ask(other, 'PATCH', `/keys/${foreign}`, { name: 'ci' })).status).toBe(200);
  });

  describe('rotation', () => {
    test('answers both keys, the new one whole, as one operation', async () => {
      const account = await app.customer();
      const old = await create(account, { name: 'ci' });
      const { status, json } = await app.ask(account, 'POST', `/keys/${old['id']}/rotate`);
      const { replaced, created } = json as Record<string, Record<string, unknown>>;
      expect(status).toBe(200);
      expect(replaced).toMatchObject({
        id: old['id'],
        status: 'revoked',
        revoked_reason: 'rotated',
        replaced_by: created?.['id'],
      });
      expect(created).toMatchObject({ name: 'ci', status: 'active', rotated_from: old['id'] });
      expect(created?.['key']).toMatch(/^sk-/);
      expect(replaced).not.toHaveProperty('key');
      const events = await accountEvents(app.dependencies.store.database, account, 2);
      expect(new Set(events.map(({ operationId }) => operationId)).size).toBe(1);
      expect(events.map(({ action }) => action)).toEqual(['api_key.revoked', 'api_key.created']);
    });

    test('with a grace period answers when the old key ends, and the trail says it', async () => {
      const account = await app.customer();
      const old = await create(account, { name: 'ci' });
      const path = `/keys/${old['id']}/rotate`;
      for (const wrong of [-1, 1.5, 604_801, '60']) {
        expect((await app.ask(account, 'POST', path, { grace_seconds: wrong })).status).toBe(400);
      }
      const { json } = await app.ask(account, 'POST', path, { grace_seconds: 3_600 });
      expect(json).toMatchObject({
        replaced: {
          ...{ id: old['id'], status: 'active', revoked_at: null },
          expires_at: new Date(NOW_MS + HOUR_MS).toISOString(),
          replaced_by: (json['created'] as { id: string }).id,
        },
        created: { name: 'ci', expires_at: null },
      });
      const { data } = (await app.get(account, '/audit')).json as { data: object[] };
      expect(data).toContainEqual(
        expect.objectContaining({
          action: 'api_key.replaced',
          detail: { masked: old['masked'], works_until: new Date(NOW_MS + HOUR_MS).toISOString() },
        }),
      );
    });
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

  test('what a key is pasted into is the public address and a model of the plan', async () => {
    const account = await app.customer();
    expect((await app.get(account, '/connection')).json).toEqual({
      base_url: 'https://gate.example',
      model: 'demo-chat',
      reasoning: false,
      responses: true,
    });
  });

  describe('bounds', () => {
    test('are set at creation and by an edit, and the list shows the spend against a budget', async () => {
      const account = await app.customer();
      const made = await create(account, {
        budget: { day: '5', month: null },
        networks: ['10.1.2.3/8', '::ffff:192.0.2.7'],
      });
      expect(made).toMatchObject({ networks: ['10.0.0.0/8', '192.0.2.7/32'], models: null });
      const id = String(made['id']);
      const edited = await app.ask(account, 'PATCH', `/keys/${id}`, {
        budget: { total: '100.5' },
        networks: null,
      });
      expect(edited.json).toMatchObject({
        networks: null,
        budget: {
          total: { limit: '100.5', spent: '0', remaining: '100.5', renews_at: null },
          day: { limit: '5', spent: '0', renews_at: expect.any(String) },
          month: null,
          reserved: '0',
        },
      });
      const none = await app.ask(account, 'PATCH', `/keys/${id}`, { budget: null });
      expect(none.json['budget']).toBeNull();
      const [row] = (await app.get(account, '/keys')).json['data'] as Record<string, unknown>[];
      expect(row).toMatchObject({ id, budget: null });
    });

    test.each([
      [{ budget: { day: '-1' } }, 'invalid_budget'],
      [{ budget: { day: '1.0000001' } }, 'invalid_budget'],
      [{ budget: { day: 'NaN' } }, 'invalid_budget'],
      [{ budget: { week: '1' } }, 'invalid_request'],
      [{ networks: ['10.0.0.0/33'] }, 'invalid_networks'],
      [{ models: ['no-such-model'] }, 'invalid_models'],
      [{ family: 'key_other' }, 'invalid_request'],
    ])('%j is refused, and changes nothing', async (body, code) => {
      const account = await app.customer();
      const { id, key: _key, ...before } = await create(account, { budget: { total: '7' } });
      const answer = await app.ask(account, 'PATCH', `/keys/${id}`, { name: 'changed', ...body });
      expect([answer.status, codeOf(answer)]).toEqual([400, code]);
      const [row] = (await app.get(account, '/keys')).json['data'] as Record<string, unknown>[];
      expect(row).toMatchObject({ ...before, budget: { total: { limit: '7' } } });
    });

    test('the budget of a key that is revoked or has expired cannot be set', async () => {
      const account = await app.customer();
      const budget = { total: '7' };
      const revoked = await create(account, { budget });
      const { json } = await app.ask(account, 'POST', `/keys/${revoked['id']}/rotate`);
      const expired = (json['created'] as { readonly id: string }).id;
      const graced = await app.ask(account, 'POST', `/keys/${expired}/rotate`, {
        grace_seconds: 60,
      });
      const shown = `/keys?q=${(graced.json['created'] as { readonly id: string }).id}`;
      app.advance(60_000);
      for (const id of [revoked['id'], expired]) {
        const refused = await app.ask(account, 'PATCH', `/keys/${id}`, {
          ...{ name: 'changed', budget: { total: '1000' } },
        });
        expect([refused.status, codeOf(refused)]).toEqual([409, 'key_not_active']);
      }
      expect((await app.get(account, shown)).json['data']).toMatchObject([
        { name: null, budget: { total: { limit: '7' } } },
      ]);
      const renamed = await app.ask(account, 'PATCH', `/keys/${revoked['id']}`, { name: 'old' });
      expect(renamed.json).toMatchObject({ name: 'old', status: 'revoked' });
    });

    test('a pause is the owner’s to lift, unless the operator made it', async () => {
      const account = await app.customer();
      const { id } = await create(account);
      const paused = await app.ask(account, 'POST', `/keys/${id}/pause`);
      expect(paused.json).toMatchObject({ paused_reason: 'user', paused_at: expect.any(String) });
      const resumed = await app.ask(account, 'POST', `/keys/${id}/resume`);
      expect(resumed.json).toMatchObject({ paused_reason: null, paused_at: null });
      await app.keys.pause(String(id), 'operator', 'operator');
      const refused = await app.ask(account, 'POST', `/keys/${id}/resume`);
      expect([refused.status, codeOf(refused)]).toEqual([403, 'key_paused_by_operator']);
      // A repeated pause does not make it the owner's.
      await app.ask(account, 'POST', `/keys/${id}/pause`);
      expect((await app.ask(account, 'POST', `/keys/${id}/resume`)).status).toBe(403);
    });

    test('a pause of the runaway guard is the owner’s to lift, until an operator pauses, too', async () => {
      const account = await app.customer();
      const { id } = await create(account);
      const why = { spent: '9', allowed: '8', busiest_hour: '1' };
      expect(await app.keys.pauseRunaway(String(id), why)).toMatchObject({ row: { id } });
      expect(await app.keys.pauseRunaway(String(id), why)).toBeUndefined();
      const shown = await app.get(account, '/audit');
      expect((shown.json['data'] as { detail: object }[])[0]).toMatchObject({
        detail: { masked: expect.any(String), reason: 'runaway', spent: '9' },
      });
      const resumed = await app.ask(account, 'POST', `/keys/${id}/resume`);
      expect(resumed.json).toMatchObject({ paused_reason: null, runaway_guard: true });
      expect(await app.keys.pauseRunaway(String(id), why)).toBeUndefined();
      const exempt = await app.ask(account, 'PATCH', `/keys/${id}`, { runaway_guard: false });
      expect(exempt.json).toMatchObject({ runaway_guard: false });

      const other = await create(account);
      await app.keys.pauseRunaway(String(other['id']), why);
      await app.keys.pause(String(other['id']), 'operator', 'operator');
      const refused = await app.ask(account, 'POST', `/keys/${other['id']}/resume`);
      expect([refused.status, codeOf(refused)]).toEqual([403, 'key_paused_by_operator']);
    });
  });

  test('an account makes 200 changes an hour, and may revoke keys after that', async () => {
    const account = await app.customer();
    const { id } = await create(account);
    const path = `/keys/${id}`;
    for (let change = 1; change < 200; change += 1) {
      if (change % 60 === 0) app.advance(MINUTE_MS);
      expect((await app.ask(account, 'PATCH', path, { name: `ci ${change}` })).status).toBe(200);
    }
    app.advance(MINUTE_MS);
    const refused = await app.open(account, 'POST', `${path}/pause`);
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '3360']);
    expect(await refused.json()).toMatchObject({
      error: {
        code: 'too_many_attempts',
        message: 'The limit of 200 changes an hour is reached. Try again in 3360 seconds.',
      },
    });
    expect((await app.ask(account, 'POST', `${path}/revoke`)).status).toBe(200);
    app.advance(HOUR_MS);
    expect((await app.ask(account, 'POST', '/keys')).status).toBe(200);
  });
});
