// Attacks on the operators' API: tokens and scopes, the roles behind them, wrong bodies, paths and
// repeats, and one person who tries to be two.

import { afterAll, describe, expect, test } from 'bun:test';
import { eq, sql } from 'drizzle-orm';
import { SCOPE_PERMISSIONS, SCOPES } from '../../../src/core/operator-scope.ts';
import { PERMISSIONS, ROLES } from '../../../src/core/role.ts';
import { users } from '../../../src/store/sign-in-tables.ts';
import { readTrail } from '../../operations/dependencies.ts';
import { describeOnEachDatabase, sqliteTest, temporaryDirectory } from '../../support/database.ts';
import { type Answer, openOperatorApi, outcomeOf } from './api.ts';

describeOnEachDatabase('tokens', async () => {
  const open = await openOperatorApi(temporaryDirectory());
  afterAll(open.close);

  const outcome = async (...call: Parameters<typeof open.call>) =>
    outcomeOf(await open.call(...call));

  test('each row of the console is open to its own scope alone, and one without a scope to none', async () => {
    const bearers = new Map<string, string>();
    for (const scope of SCOPES) bearers.set(scope, (await open.newToken([scope])).token);
    for (const { method, path, operation } of open.rows) {
      for (const [scope, bearer] of bearers) {
        const outcome = await open.outcome(method, path, bearer);
        expect([path, outcome]).not.toEqual([path, 'a row for sessions alone']);
        if (operation === undefined) continue;
        const isOpen = outcome !== 'scope_required';
        expect([operation.name, scope, isOpen]).toEqual([
          ...[operation.name, scope],
          scope === operation.scope,
        ]);
      }
    }
  });

  test('a row needs the permission of its scope, from sessions as from tokens', () => {
    expect(new Set(open.scoped.map(({ operation }) => operation.scope))).toEqual(new Set(SCOPES));
    for (const { permission, operation } of open.scoped) {
      expect([operation.name, permission]).toEqual([
        operation.name,
        SCOPE_PERMISSIONS[operation.scope],
      ]);
    }
  });

  test('persons alone decide on approvals, and manage operators, tokens and sign-in', () => {
    const paths = open.scoped.map(({ path }) => path);
    const personal = /^\/(approvals|operators|tokens|auth)\b|second-factor|export|feed/;
    expect(paths.filter((path) => personal.test(path))).toEqual([]);
  });

  test('a token can do no more than the present role of its operator', async () => {
    const owner = 'roles@example.com';
    await open.operator('admin@example.com', 'admin');
    await open.operator(owner, 'admin');
    const { token } = await open.newToken(SCOPES, owner);
    for (const role of ROLES) {
      await open.people.operators.changeRole(owner, role, 'operator');
      for (const { method, path, operation } of open.scoped) {
        const { roles } = PERMISSIONS[SCOPE_PERMISSIONS[operation.scope]];
        const isOpen = (await open.outcome(method, path, token)) !== 'role_not_permitted';
        const expected = (roles as readonly string[]).includes(role);
        expect([role, operation.scope, isOpen]).toEqual([role, operation.scope, expected]);
      }
    }
  });

  test('end when revoked, when expired, and when their operator is removed', async () => {
    const ends = async (bearer: string) => {
      expect(await outcome('GET', '/prices', undefined, bearer)).toEqual([
        401,
        'invalid_operator_token',
      ]);
    };
    const revoked = await open.newToken();
    expect((await open.call('GET', '/prices', undefined, revoked.token)).status).toBe(200);
    await open.tokens.revoke(revoked.id, 'operator');
    await ends(revoked.token);

    const short = await open.newToken(SCOPES, undefined, 1_000);
    open.advance(999);
    expect((await open.call('GET', '/prices', undefined, short.token)).status).toBe(200);
    open.advance(1);
    await ends(short.token);

    await open.operator('leaver@example.com', 'admin');
    const leaving = await open.newToken(SCOPES, 'Leaver@example.com');
    expect((await open.call('GET', '/prices', undefined, leaving.token)).status).toBe(200);
    await open.people.operators.remove('leaver@example.com', 'operator');
    await ends(leaving.token);
    // Another person with the same address does not inherit it.
    await open.operator('leaver@example.com', 'admin');
    await ends(leaving.token);
    const events = (await readTrail(open.database)).filter(({ subject }) => subject === leaving.id);
    expect(events.map(({ action }) => action)).toContain('operator_token.revoked');

    // Created while the removal was in progress.
    const { id: userId } = await open.operator('racer@example.com', 'admin');
    const racing = await open.newToken(SCOPES, 'racer@example.com');
    await open.database.db.delete(users).where(eq(users.id, userId)).run();
    await ends(racing.token);
  });

  test('are created for operators who exist, and for none else', async () => {
    for (const owner of ['missing@example.com', '', 'operator']) {
      await expect(open.newToken(SCOPES, owner)).rejects.toMatchObject({
        code: 'operator_not_found',
      });
    }
  });

  test('are not inherited where their operator is removed as they are created', async () => {
    const email = 'parting@example.com';
    await open.operator(email, 'admin');
    const [created] = await Promise.allSettled([
      open.newToken(SCOPES, email),
      open.people.operators.remove(email, 'operator'),
    ]);
    const facts = { name: 'late', scopes: SCOPES, expiresAt: open.identity.clock() + 1_000 };
    // The session of the operator was checked before the removal.
    const late = open.tokens.create(facts, `operator:${email}`);
    await expect(late).rejects.toMatchObject({ code: 'operator_not_found' });
    await open.operator(email, 'admin');
    if (created.status === 'rejected') return;
    const { token } = created.value;
    expect(await outcome('GET', '/prices', undefined, token)).toEqual([
      401,
      'invalid_operator_token',
    ]);
  });

  test('that ends while its body is on the way changes nothing', async () => {
    const { token, id } = await open.newToken();
    const account = await open.account();
    let finish: (() => void) | undefined;
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        controller.enqueue(new TextEncoder().encode('{"name":'));
        finish = () => {
          controller.enqueue(new TextEncoder().encode('"late"}'));
          controller.close();
        };
      },
    });
    const answer = open.send(`/accounts/${account}/keys`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body,
    });
    await Bun.sleep(20);
    await open.tokens.revoke(id, 'operator');
    finish?.();
    expect(outcomeOf(await answer)).toEqual([401, 'invalid_operator_token']);
    expect((await open.call('GET', `/accounts/${account}/keys`)).json['data']).toEqual([]);
  });

  test('wrong ones are slowed down per network, and right ones are not', async () => {
    open.comeFrom('198.51.100.77');
    const guess = () => outcome('GET', '/prices', undefined, `tgo-${'x'.repeat(48)}`);
    const seen: unknown[] = [];
    for (let turn = 0; turn < 70; turn += 1) seen.push((await guess())[0]);
    expect(seen.filter((status) => status === 401)).toHaveLength(60);
    expect(seen.slice(60)).toEqual(Array.from({ length: 10 }, () => 429));
    expect((await open.call('GET', '/prices')).status).toBe(200);
    open.comeFrom('203.0.113.8');
    expect(await guess()).toEqual([401, 'invalid_operator_token']);
  });

  test('every call of one is recorded, also one that finds nothing', async () => {
    const { token, id } = await open.newToken(['prices:read']);
    await open.call('GET', '/prices', undefined, token);
    await open.call('GET', '/accounts', undefined, token);
    await open.call('GET', '/secret', undefined, token);
    await open.call('DELETE', '/prices', undefined, token);
    const events = (await readTrail(open.database)).filter(
      ({ subject, action }) => subject === id && action === 'operator_api.called',
    );
    const detail = (method: string, path: string, status: number) => ({ method, path, status });
    expect(events.map((event) => event.detail)).toEqual([
      detail('GET', '/prices', 200),
      detail('GET', '/accounts', 403),
      detail('GET', 'unknown', 404),
      detail('DELETE', 'unknown', 405),
    ]);
  });

  const triggerTest = sqliteTest('its trigger refuses in the words of SQLite');
  triggerTest('a call that cannot be recorded is answered as it went', async () => {
    const account = await open.account();
    const internal: unknown[] = [];
    open.catchInternal((error) => internal.push(error));
    await open.database.db.run(
      sql`create trigger unrecorded before insert on audit_events
        when new.action = 'operator_api.called' begin select raise(abort, 'no room'); end`,
    );
    const answer = await open.call('POST', `/accounts/${account}/keys`, { name: 'ci' });
    await open.database.db.run(sql`drop trigger unrecorded`);
    expect(answer.status).toBe(200);
    expect(String(internal)).toContain('no room');
    expect((await open.call('GET', `/accounts/${account}/keys`)).json['data']).toHaveLength(1);
  });

  test('above the limit a call is refused and not recorded, and other tokens go on', async () => {
    open.limit(3);
    const { token, id } = await open.newToken();
    const account = await open.account();
    const pages = ['/prices', '/none', `/accounts/${account}`];
    for (const path of pages) await open.call('GET', path, undefined, token);
    const before = await readTrail(open.database);
    expect(before.filter(({ subject }) => subject === id)).toHaveLength(1 + pages.length);
    const path = `/accounts/${account}/keys`;
    const refused = await open.call('POST', path, { name: 'ci' }, token);
    expect(outcomeOf(refused)).toEqual([429, 'too_many_attempts']);
    expect(refused.headers.get('retry-after')).toBe('60');
    expect(await readTrail(open.database)).toEqual(before);
    expect((await open.call('GET', path)).json['data']).toEqual([]);
    open.advance(60_000);
    expect((await open.call('POST', path, { name: 'ci' }, token)).status).toBe(200);
  });
});

describeOnEachDatabase('requests', async () => {
  const open = await openOperatorApi(temporaryDirectory());
  afterAll(open.close);

  test('a browser cannot use the API: no cookie, no CORS, no simple request', async () => {
    const cookie = 'ops@example.com';
    for (const headers of [
      { cookie, origin: 'http://console.test' },
      { cookie, authorization: 'Basic dXNlcjpwYXNz' },
      { 'x-api-key': `tgo-${'x'.repeat(48)}` },
    ]) {
      const answer = await open.send('/prices', { headers });
      expect(outcomeOf(answer)).toEqual([401, 'invalid_operator_token']);
      expect(answer.headers.get('www-authenticate')).toBe('Bearer');
    }
    const preflight = await open.send('/prices', {
      method: 'OPTIONS',
      headers: {
        origin: 'https://evil.example',
        'access-control-request-method': 'GET',
        'access-control-request-headers': 'authorization',
      },
    });
    expect(preflight.status).toBe(401);
    const asked = await open.call('GET', '/prices');
    for (const { headers } of [preflight, asked]) {
      expect([...headers.keys()].filter((name) => name.startsWith('access-control'))).toEqual([]);
      expect(headers.get('cache-control')).toBe('no-store');
      expect(headers.getSetCookie()).toEqual([]);
    }
  });

  describe('bodies of the wrong size or type', () => {
    const account = open.account();
    const token = open.newToken();
    const create = async (body: string, type = 'application/json'): Promise<Answer> =>
      open.send(`/accounts/${await account}/credits`, {
        method: 'POST',
        headers: { authorization: `Bearer ${(await token).token}`, 'content-type': type },
        body,
      });
    const credit = { id: 'credit-1', amount: '1', reason: 'test' };
    test.each([
      ['[]', 400],
      ['null', 400],
      ['"text"', 400],
      ['', 400],
      ['{', 400],
      ['{"id":"a"}', 400],
      [JSON.stringify({ ...credit, amount: 1 }), 400],
      [JSON.stringify({ ...credit, extra: true }), 400],
      [JSON.stringify({ ...credit, kind: 'adjustment' }), 400],
      [JSON.stringify({ ...credit, amount: '-1' }), 400],
      [JSON.stringify({ ...credit, amount: '1e9' }), 400],
      [JSON.stringify({ ...credit, amount: '0' }), 400],
      [JSON.stringify({ ...credit, amount: 'NaN' }), 400],
      [JSON.stringify({ ...credit, id: '' }), 400],
      [JSON.stringify({ ...credit, id: 'a b' }), 400],
      [JSON.stringify({ ...credit, id: 'a\u0000b' }), 400],
      [JSON.stringify({ ...credit, reason: '' }), 400],
      [JSON.stringify({ ...credit, reason: 'a\u0000b' }), 400],
      // Half of an emoji, as a program leaves it that shortens a text.
      [JSON.stringify({ ...credit, reason: '🎁'.slice(0, 1) }), 400],
      [JSON.stringify({ ...credit, reason: 'x'.repeat(501) }), 400],
      [JSON.stringify({ ...credit, reason: 'x'.repeat(300_000) }), 413],
    ])('%# is refused', async (body, status) => {
      expect((await create(body)).status).toBe(status);
    });

    test('a form is refused', async () => {
      const answer = await create(JSON.stringify(credit), 'application/x-www-form-urlencoded');
      expect(outcomeOf(answer)).toEqual([415, 'unsupported_media_type']);
    });

    test('nothing was booked', async () => {
      const { json } = await open.call('GET', `/accounts/${await account}`);
      expect(json['balance']).toMatchObject({ total: '0' });
    });
  });

  test('ids of other shapes lead nowhere', async () => {
    for (const id of [
      ...[
        '%00',
        'acct_%00',
        '..%2f..%2fprices',
        '%2e%2e',
        '%',
        '%ff',
        "'%20or%201=1--",
        '*',
        '%25',
      ],
      ...['__proto__', 'constructor', 'x'.repeat(5_000), '%F0%9F%94%91', '%0d%0ax-a:%20b', ':id'],
    ]) {
      for (const path of [`/accounts/${id}`, `/accounts/${id}/keys`, `/accounts/${id}/usage`]) {
        expect([path, (await open.call('GET', path)).status]).toEqual([path, 404]);
      }
      const paused = await open.call('POST', `/keys/${id}/pause`);
      expect([id, paused.status]).toEqual([id, 404]);
    }
    for (const path of [
      '/',
      '//',
      '/accounts/',
      '/accounts//keys',
      '/keys',
      '/prices/',
      '/PRICES',
    ]) {
      const { status } = await open.call('GET', path);
      expect([path, status]).toEqual([path, 404]);
    }
  });

  test('texts that a database cannot hold are refused', async () => {
    for (const query of ['text=%00', 'plan=%00', 'text=a%00b']) {
      const { status } = await open.call('GET', `/accounts?${query}`);
      expect([query, status]).toEqual([query, 400]);
    }
    const account = await open.account();
    for (const body of [{ name: 'a\u0000b' }, { models: ['\u0000'] }, { networks: ['\u0000'] }]) {
      const { status } = await open.call('POST', `/accounts/${account}/keys`, body);
      expect([body, status]).toEqual([body, 400]);
    }
    // The console reads bodies, queries and paths in the same way.
    expect((await open.get('/accounts?text=%00')).status).toBe(400);
    expect((await open.get('/accounts/%00')).status).toBe(404);
    const email = 'a\u0000b@example.com';
    const made = await open.call('POST', '/accounts', { email, plan: 'pro' });
    expect(made.status).toBe(400);
  });

  test('an empty list does not open a key to all networks or models', async () => {
    const account = await open.account();
    const bounds = { networks: ['192.0.2.0/24'], models: ['demo-chat'] };
    const made = await open.call('POST', `/accounts/${account}/keys`, bounds);
    expect(made.json).toMatchObject(bounds);
    for (const body of [{ networks: [] }, { models: [] }]) {
      const edited = await open.call('PATCH', `/keys/${made.json['id']}`, body);
      expect([body, ...outcomeOf(edited)]).toEqual([body, 400, 'invalid_request']);
      const created = await open.call('POST', `/accounts/${account}/keys`, body);
      expect([body, created.status]).toEqual([body, 400]);
    }
    const { data } = (await open.call('GET', `/accounts/${account}/keys`)).json;
    expect(data).toMatchObject([bounds]);
  });

  test('another method is refused with those that the path has', async () => {
    const answer = await open.call('PUT', '/accounts');
    expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'GET, POST']);
    const head = await open.call('HEAD', '/prices');
    expect([head.status, head.text]).toEqual([200, '']);
  });

  test('the description needs no token, and is all that does not', async () => {
    const { status, json } = await open.send('/openapi.json', {});
    expect([status, json['openapi']]).toEqual([200, '3.1.0']);
    expect((await open.send('/openapi.json', { method: 'POST' })).status).toBe(401);
  });
});

describeOnEachDatabase('four eyes with a token', async () => {
  const open = await openOperatorApi(temporaryDirectory());
  afterAll(open.close);
  const ANN = 'ann@example.com';
  const BOB = 'bob@example.com';
  const admin = await open.operator(ANN, 'admin');
  const second = await open.operator(BOB, 'finance');
  const { token, name } = await open.newToken(SCOPES, ANN);

  /** As the session of the console names the signed-in operator. */
  const decide = (what: string, id: unknown, who: { readonly email: string }) =>
    open.ask('POST', `/approvals/${id}/${what}`, {}, who.email);
  const ask = async (more: object = {}, bearer = token, account = open.account()) => {
    const credit = { id: crypto.randomUUID(), amount: '5000000', reason: 'invoice', ...more };
    const path = `/accounts/${await account}/credits`;
    return { credit, path, answer: await open.call('POST', path, credit, bearer) };
  };
  const approvalOf = ({ json }: Answer) => json['approval'] as Record<string, unknown>;

  test('a credit that could never be booked does not wait for an approval', async () => {
    for (const id of ['', 'invoice 7', 'Rechnung-ü']) {
      const { answer } = await ask({ id });
      expect(answer).toMatchObject({ status: 400, json: { error: { code: 'invalid_credit_id' } } });
    }
  });

  test('the operator of a token cannot approve what it asked for, and another one can', async () => {
    const { credit, path, answer } = await ask();
    expect(answer.json).toMatchObject({ status: 'waiting_for_approval' });
    const { id } = approvalOf(answer);
    expect(outcomeOf((await decide('approve', id, admin)) as Answer)).toEqual([
      403,
      'own_approval',
    ]);
    const { data } = (await open.get('/approvals?limit=1')).json as { data: unknown[] };
    expect(data).toEqual([
      expect.objectContaining({ id, asked_by: `token:${name}`, asked_by_email: ANN }),
    ]);
    expect((await decide('approve', id, second)).json).toMatchObject({ state: 'done' });
    expect((await open.call('POST', path, credit, token)).json).toMatchObject({
      status: 'booked',
      balance: '5000000',
    });
  });

  test('a token without an owner cannot ask', async () => {
    const { token: orphan } = await open.newToken();
    const { answer } = await ask({}, orphan);
    expect(outcomeOf(answer)).toEqual([403, 'token_without_owner']);
    expect((await ask({ amount: '1000000' }, orphan)).answer.json).toMatchObject({
      status: 'booked',
    });
  });

  test('the id of a waiting credit books nothing else', async () => {
    const account = open.account();
    const { credit, path, answer } = await ask({}, token, account);
    for (const change of [{ amount: '1' }, { amount: '5000001' }, { reason: 'other' }]) {
      const replay = await open.call('POST', path, { ...credit, ...change }, token);
      expect(outcomeOf(replay)).toEqual([409, 'approval_conflict']);
    }
    expect((await ask({ id: credit.id })).answer.status).toBe(409);
    const other = (await open.newToken(SCOPES, BOB)).token;
    expect((await open.call('POST', path, credit, other)).status).toBe(409);
    expect((await open.call('POST', path, credit, token)).json).toEqual(answer.json);
    expect((await open.call('GET', `/accounts/${await account}`)).json['balance']).toMatchObject({
      total: '0',
    });
  });

  test('a repeat says when the request was rejected or withdrawn, and books nothing', async () => {
    for (const [who, status] of [
      [second, 'rejected'],
      [admin, 'withdrawn'],
    ] as const) {
      const { credit, path, answer } = await ask();
      await decide('reject', approvalOf(answer)['id'], who);
      expect((await open.call('POST', path, credit, token)).json).toMatchObject({ status });
    }
  });
});
