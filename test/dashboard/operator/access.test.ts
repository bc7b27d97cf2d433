// Which requests the console refuses, and which need the password again: keys, blocks, maintenance,
// and their audit trail.

import { afterAll, expect, test } from 'bun:test';
import { readTrail } from '../../operations/dependencies.ts';
import { describeOnEachDatabase, temporaryDirectory } from '../../support/database.ts';
import { ADDRESS, OPERATOR, openConsole, ROUTES } from './console.ts';

describeOnEachDatabase('access to the console', async () => {
  const open = await openConsole(temporaryDirectory());
  afterAll(open.close);

  test('a key is found by its id and as a customer pasted it, and nothing repeats it', async () => {
    const id = await open.account('owner@example.com');
    const { row, key } = await open.keys.create({ accountId: id, name: 'leaked' }, id);
    for (const typed of [row.id, key, ` ${key}\n`]) {
      const { status, json, text } = await open.post('/keys/find', { key: typed });
      expect([status, json]).toEqual([
        200,
        {
          key: expect.objectContaining({ id: row.id, masked: row.masked, status: 'active' }),
          account: expect.objectContaining({ id, email: 'owner@example.com' }),
          block: null,
        },
      ]);
      expect(text).not.toContain(key);
      expect(text).not.toContain(row.digest);
    }
    for (const typed of [row.masked, `sk-${'A'.repeat(48)}`, 'key_none', '']) {
      const { status, text } = await open.post('/keys/find', { key: typed });
      expect(status).toBe(404);
      if (typed !== '') expect(text).not.toContain(typed);
    }
    await open.post('/blocks', { kind: 'key', value: key, reason: 'leak' });
    expect((await open.post('/keys/find', { key: row.id })).json['block']).toEqual({
      reason: 'leak',
      expires_at: null,
    });
    expect(JSON.stringify(await readTrail(open.database))).not.toContain(key);
  });

  test('a key is revoked once with its reason, and rotated into another one', async () => {
    const id = await open.account();
    const { row, key } = await open.keys.create({ accountId: id }, id);
    const revoke = () => open.post(`/keys/${row.id}/revoke`, { reason: 'leak_report' });
    const answers = await Promise.all(Array.from({ length: 20 }, revoke));
    expect(new Set(answers.map(({ json }) => json['revoked_reason']))).toEqual(
      new Set(['leak_report']),
    );
    const events = (await readTrail(open.database)).filter(({ subject }) => subject === row.id);
    expect(events.map(({ action, actor, address }) => [action, actor, address])).toEqual([
      ['api_key.created', id, null],
      ['api_key.revoked', `operator:${OPERATOR}`, ADDRESS],
    ]);
    expect(await open.refusal('POST', `/keys/${row.id}/rotate`)).toEqual([409, 'key_not_active']);
    expect(await open.refusal('POST', `/keys/${row.id}/revoke`, { reason: 'rotated' })).toEqual([
      400,
      'invalid_request',
    ]);

    const { json: created } = await open.post(`/accounts/${id}/keys`, { name: 'new' });
    const { json: rotated } = await open.post(`/keys/${created['id']}/rotate`);
    const successor = rotated['created'] as { id: string; key: string; name: string };
    expect(successor.name).toBe('new');
    expect((await open.keys.find(successor.key)).id).toBe(successor.id);
    expect(new Set([key, created['key'], successor.key]).size).toBe(3);
    const past = { expires_at: '2026-11-21T11:00:00Z' };
    expect(await open.refusal('POST', `/accounts/${id}/keys`, past)).toEqual([
      400,
      'invalid_expiry',
    ]);
  });

  test('accounts, keys and networks are blocked until a date, listed with whom, and let in again', async () => {
    const id = await open.account('blocked@example.com');
    const until = '2026-11-22T12:00:00.000Z';
    const body = { kind: 'account', value: 'blocked@example.com', reason: 'fraud' };
    expect((await open.post('/blocks', { ...body, expires_at: until })).json).toMatchObject({
      kind: 'account',
      value: id,
      reason: 'fraud',
      expires_at: until,
    });
    expect(await open.refusal('POST', '/blocks', body)).toEqual([409, 'already_blocked']);
    await open.post('/blocks', { kind: 'network', value: '203.0.113.9/24', reason: '' });
    expect((await open.get(`/accounts/${id}`)).json).toMatchObject({
      ...{ standing: 'blocked', standing_without_block: 'active' },
      block: { reason: 'fraud', expires_at: until },
    });
    const { json } = await open.get('/blocks?limit=2');
    expect(json['data']).toMatchObject([
      { kind: 'network', value: '203.0.113.0/24', account: null, masked: null, expires_at: null },
      { kind: 'account', value: id, account: { id, email: 'blocked@example.com' } },
    ]);
    open.advance(86_400_000);
    open.proveAgain();
    expect((await open.get(`/accounts/${id}`)).json).toMatchObject({
      ...{ standing: 'active', block: null },
    });
    expect((await open.get('/blocks?kind=account')).json['data']).toEqual([]);
    const network = { kind: 'network', value: ' 203.0.113.0/24' };
    expect((await open.post('/blocks/remove', network)).json).toMatchObject({ kind: 'network' });
    expect(await open.refusal('POST', '/blocks/remove', network)).toEqual([404, 'block_not_found']);
    const bad = { kind: 'network', value: '300.1.1.1', reason: '' };
    expect(await open.refusal('POST', '/blocks', bad)).toEqual([400, 'invalid_block']);
  });

  test('a network that is very wide is blocked only with its name as the confirmation', async () => {
    for (const [value, addresses] of [
      ['0.0.0.0/0', '4,294,967,296'],
      ['10.9.8.7/8', '16,777,216'],
      ['::/0', '2^128'],
      ['2001::/16', '2^112'],
      ['::ffff:0:0/96', '4,294,967,296'],
    ] as const) {
      const body = { kind: 'network', value, reason: 'attack' };
      for (const confirm of [undefined, '', 'yes', '10.0.0.0/16']) {
        const { status, json } = await open.post('/blocks', { ...body, confirm });
        expect([status, json['error']]).toEqual([
          400,
          {
            code: 'confirmation_required',
            message: expect.stringContaining(` has ${addresses} addresses,`),
            param: 'confirm',
            request_id: expect.any(String),
          },
        ]);
      }
      expect((await open.post('/blocks', { ...body, confirm: value })).status).toBe(200);
      expect((await open.post('/blocks/remove', { kind: 'network', value })).status).toBe(200);
    }
    for (const value of ['198.51.0.0/16', '2001:db8::/32']) {
      const body = { kind: 'network', value, reason: 'attack' };
      expect((await open.post('/blocks', body)).status).toBe(200);
      await open.post('/blocks/remove', { kind: 'network', value });
    }
  });

  test('maintenance is turned on with words and off again', async () => {
    expect((await open.get('/maintenance')).json).toEqual({ maintenance: false, message: null });
    const on = { maintenance: true, message: 'Back at noon.' };
    expect((await open.post('/maintenance', on)).json).toEqual(on);
    expect((await open.post('/maintenance', { maintenance: true })).json).toEqual({
      maintenance: true,
      message: null,
    });
    expect((await open.post('/maintenance', { maintenance: false })).json).toEqual({
      maintenance: false,
      message: null,
    });
    expect(await open.refusal('POST', '/maintenance', { ...on, message: 'two\nlines' })).toEqual([
      400,
      'invalid_message',
    ]);
  });

  test('the trail has everything that was done here, with who and from where, by filter', async () => {
    const id = await open.account();
    await open.post(`/accounts/${id}/plan`, { plan: 'starter' });
    const { json } = await open.get(`/audit?account=${id}&action=account.plan_changed`);
    expect(json).toEqual({
      object: 'list',
      data: [
        {
          id: expect.any(Number),
          at: new Date(open.clock()).toISOString(),
          actor: `operator:${OPERATOR}`,
          address: ADDRESS,
          action: 'account.plan_changed',
          account_id: id,
          subject: id,
          operation_id: expect.stringMatching(/^op_/),
          detail: { from: 'pro', to: 'starter' },
        },
      ],
      next: null,
    });
    const mine = await open.get(`/audit?actor=${OPERATOR}&limit=200`);
    const actors = (mine.json['data'] as { actor: string }[]).map(({ actor }) => actor);
    expect(new Set(actors)).toEqual(new Set([`operator:${OPERATOR}`]));
    expect(await open.refusal('GET', '/audit?after=-1')).toEqual([400, 'invalid_request']);
  });

  test('only routes that change money or access need the password again', async () => {
    const routes = ROUTES.flatMap((make) => make(open.dependencies));
    const free = ['POST /accounts', 'POST /keys/find', 'POST /accounts/:id/verify'];
    const guarded = routes
      .filter(({ access }) => access === 'step-up')
      .map(({ method, path }) => `${method} ${path}`);
    const writes = routes
      .filter(({ method }) => method !== 'GET')
      .map(({ method, path }) => `${method} ${path}`);
    expect(new Set(writes)).toEqual(new Set([...guarded, ...free]));
    open.forgetProof();
    const before = (await readTrail(open.database)).length;
    for (const line of guarded) {
      const [method = '', path = ''] = line.split(' ');
      const refused = await open.refusal(method, path.replace(':id', 'any'));
      expect([line, ...refused]).toEqual([line, 403, 'step_up_required']);
    }
    expect(await readTrail(open.database)).toHaveLength(before);
    open.proveAgain();
  });

  test('without a session there is nothing', async () => {
    const rows = ROUTES.flatMap((make) => make(open.dependencies));
    for (const { method, path } of rows.filter(({ access }) => access !== 'token')) {
      const { status } = await open.ask(method, path.replace(':id', 'any'), {}, '');
      expect([method, path, status]).toEqual([method, path, 401]);
    }
  });
});
