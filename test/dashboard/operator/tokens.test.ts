// Tokens of the operators' API in the console: shown once, owned by the operator who creates them.
// `security/roles.test.ts` proves that only admins reach them.

import { afterAll, expect, test } from 'bun:test';
import { randomBytes } from 'node:crypto';
import { SCOPES } from '../../../src/core/operator-scope.ts';
import { createPeople } from '../../../src/identity/sign-in/people.ts';
import { operatorTokens } from '../../../src/store/console-tables.ts';
import { readTrail } from '../../operations/dependencies.ts';
import { newPassword } from '../../support/customer.ts';
import { describeOnEachDatabase, temporaryDirectory } from '../../support/database.ts';
import { ADDRESS, OPERATOR, openConsole } from './console.ts';

const DAY_MS = 86_400_000;

describeOnEachDatabase('tokens in the console', async () => {
  const open = await openConsole(temporaryDirectory());
  afterAll(open.close);
  const { database, clock } = open;
  const { operators } = createPeople({ database, clock, randomBytes });
  await operators.create(OPERATOR, 'admin', newPassword(), 'operator');
  const create = (more: object = {}) =>
    open.post('/tokens', { name: 'billing', scopes: ['prices:read'], ...more });

  test('a token is shown once, listed without its text, and revoked', async () => {
    const { status, json } = await create({ scopes: ['usage:read', 'accounts:read'] });
    const { token, ...record } = json;
    expect([status, token]).toEqual([200, expect.stringMatching(/^tgo-[A-Za-z0-9]{48}$/)]);
    expect(record).toMatchObject({
      ...{ object: 'operator_token', name: 'billing', status: 'active', owner: OPERATOR },
      ...{ scopes: ['accounts:read', 'usage:read'], last_used_at: null },
      expires_at: new Date(clock() + 90 * DAY_MS).toISOString(),
    });
    const list = await open.get('/tokens');
    expect((list.json['data'] as unknown[])[0]).toEqual(record);
    const stored = JSON.stringify(await open.database.db.select().from(operatorTokens).all());
    for (const text of [list.text, stored]) expect(text).not.toContain(String(token));

    const revoked = await open.post(`/tokens/${record['id']}/revoke`);
    expect(revoked.json).toMatchObject({ id: record['id'], status: 'revoked' });
    expect((await open.post(`/tokens/${record['id']}/revoke`)).json).toEqual(revoked.json);
    const events = (await readTrail(open.database)).filter(
      ({ subject }) => subject === record['id'],
    );
    expect(events.map(({ action, actor, address }) => [action, actor, address])).toEqual([
      ['operator_token.created', `operator:${OPERATOR}`, ADDRESS],
      ['operator_token.revoked', `operator:${OPERATOR}`, ADDRESS],
    ]);
  });

  test.each([
    [{ name: ' ' }, 'invalid_key_name'],
    [{ name: 'a\nb' }, 'invalid_key_name'],
    [{ name: 'x'.repeat(101) }, 'invalid_key_name'],
    [{ scopes: [] }, 'invalid_scopes'],
    [{ scopes: ['accounts:delete'] }, 'invalid_request'],
    [{ scopes: 'prices:read' }, 'invalid_request'],
    [{ expires_at: 'tomorrow' }, 'invalid_request'],
    [{ expires_at: '2020-01-01T00:00:00Z' }, 'invalid_request'],
    [{ expires_at: '2999-01-01T00:00:00Z' }, 'invalid_expiry'],
    [{ owner: 'other@example.com' }, 'invalid_request'],
  ])('%j is refused', async (more, code) => {
    const before = (await open.get('/tokens')).text;
    const { status, json } = await create(more);
    expect([status, (json['error'] as { code: string }).code]).toEqual([400, code]);
    expect((await open.get('/tokens')).text).toBe(before);
  });

  test('an active token has its name alone, also where two are created at once', async () => {
    const named = (name = 'reports') => create({ name });
    const both = await Promise.all([named(), named(' reports ')]);
    expect(both.map(({ status }) => status).toSorted()).toEqual([200, 409]);
    const taken = both.find(({ status }) => status === 409);
    expect(taken?.json['error']).toMatchObject({ code: 'token_exists' });
    const made = both.find(({ status }) => status === 200);
    await open.post(`/tokens/${made?.json['id']}/revoke`);
    const expires_at = new Date(clock() + DAY_MS).toISOString();
    expect((await create({ name: 'reports', expires_at })).status).toBe(200);
    open.advance(DAY_MS);
    open.proveAgain();
    expect((await named()).status).toBe(200);
  });

  test('creating and revoking need a recent password, and an unknown one is not found', async () => {
    const { json } = await create({ scopes: SCOPES });
    expect(await open.refusal('POST', '/tokens/tok_x/revoke')).toEqual([404, 'token_not_found']);
    open.forgetProof();
    for (const path of ['/tokens', `/tokens/${json['id']}/revoke`]) {
      const body = path === '/tokens' ? { name: 'a', scopes: ['prices:read'] } : {};
      expect(await open.refusal('POST', path, body)).toEqual([403, 'step_up_required']);
    }
    open.proveAgain();
  });
});
