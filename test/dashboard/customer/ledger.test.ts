// The customer's ledger, the receipts with their check, and codes.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { micro } from '../../../src/core/money.ts';
import { createRedemptionCode } from '../../../src/core/redemption-code.ts';
import { createCodes } from '../../../src/ledger/codes.ts';
import { checkFile } from '../../../src/operations/receipt-file.ts';
import { checkReceipts } from '../../../src/operations/receipt-steps.ts';
import {
  describeOnEachDatabase,
  sqliteTest,
  tamper,
  temporaryDirectory,
  testDialect,
} from '../../support/database.ts';
import { creditOf } from '../../support/ledger.ts';
import { type CustomerApp, NOW_MS, openCustomerApp } from './app.ts';

describeOnEachDatabase("a customer's ledger", () => {
  /** What a receipt states is kept from being changed. */
  const ALLOW_CHANGES =
    testDialect() === 'postgres'
      ? 'alter table movements disable trigger movements_no_update'
      : 'drop trigger movements_no_update';

  const directory = temporaryDirectory();

  let app: CustomerApp;
  let ada: string;
  let bob: string;

  beforeAll(async () => {
    app = await openCustomerApp(directory);
    ada = await app.customer({ credit: 100n });
    bob = await app.customer({ credit: 100n });
    await app.spend(ada, 15n);
    await app.spend(bob, 15n);
    await app.ledger.credit({ ...creditOf('gift', ada, 5n), kind: 'grant', nowMs: NOW_MS });
  });

  afterAll(() => app.close());

  describe('the ledger', () => {
    const at = '2026-11-21T12:00:00.000Z';
    const gift = {
      ...{ sequence: 3, kind: 'grant', id: 'credit:gift', at, model: null },
      ...{ amount: '0.000005', amount_usd: '0.000000000005', balance: '99.99999' },
    };
    const request = {
      ...{ sequence: 2, kind: 'request', id: 'req_1', at, model: 'swift-1' },
      ...{ amount: '-0.000015', amount_usd: '-0.000000000015', balance: '99.999985' },
    };
    const opening = {
      ...{ sequence: 1, kind: 'credit', id: 'credit:credit-1', at, model: null },
      ...{ amount: '100', amount_usd: '0.0001', balance: '100' },
    };

    test('has every movement with what was left, newest first', async () => {
      expect(await app.get(ada, '/ledger')).toEqual({
        status: 200,
        json: { object: 'list', data: [gift, request, opening], next: null },
      });
    });

    test('is paged, and can be about what came in alone', async () => {
      const page = await app.get(ada, '/ledger?limit=1&after=3');
      expect(page.json).toEqual({ object: 'list', data: [request], next: '2' });
      const movements = await app.get(ada, '/ledger?only=movements');
      expect(movements.json['data']).toEqual([gift, opening]);
    });

    sqliteTest('it reads a plan of SQLite')('is paged by an index', () => {
      // The runtime leaves an explanation open, and with it the state of the database that it saw.
      for (const table of ['requests', 'movements']) {
        using explained = app.database.connection.prepare<{ detail: string }, []>(
          `explain query plan select * from ${table} where account = (select number from balances where account_id = 'a') order by sequence desc`,
        );
        expect(explained.all()[0]?.detail).toContain(`USING INDEX ${table}_receipt`);
      }
    });
  });

  describe('a receipt', () => {
    test('is shown to its owner alone', async () => {
      const { status, json } = await app.get(ada, '/receipts/req_1');
      expect([status, json]).toMatchObject([200, { receipt: { account: ada, sequence: 2 } }]);
      expect((await app.get(ada, '/receipts/credit%3Agift')).status).toBe(200);
      for (const path of ['/receipts/req_2', '/receipts/req_2/file', '/receipts/none']) {
        const { status: refused, json: body } = await app.get(ada, path);
        expect([refused, body]).toMatchObject([404, { error: { code: 'receipt_not_found' } }]);
      }
    });

    test.each([
      ['/receipts/req_1/file', 'receipt-2.jsonl', { first: 2, last: 2 }],
      ['/receipts/export', 'receipts-2026-11-21.jsonl', { first: 1, last: 3 }],
    ])('as the file of %s is checked without this server', async (path, name, span) => {
      const response = await app.open(ada, 'GET', path);
      expect(response.headers.get('content-disposition')).toBe(`attachment; filename="${name}"`);
      const file = join(directory, name);
      writeFileSync(file, await response.text());
      const { problems, totals } = await checkFile(file);
      expect({ problems, totals }).toMatchObject({
        problems: [],
        totals: { accountId: ada, ...span },
      });
    });

    test('of a span without any is not found', async () => {
      const { status, json } = await app.get(ada, '/receipts/export?to=2026-01-01T00:00:00Z');
      expect([status, json]).toMatchObject([404, { error: { code: 'no_receipts' } }]);
    });
  });

  describe('the check of the chain', () => {
    async function checkAll(accountId: string) {
      const steps: Record<string, unknown>[] = [];
      for (let next: unknown = 0; next !== null; next = steps.at(-1)?.['next']) {
        steps.push((await app.get(accountId, `/receipts/check?after=${next}`)).json);
      }
      return steps;
    }

    test('of an account that nothing happened to is soon done', async () => {
      const none = await app.customer();
      expect(await checkAll(none)).toMatchObject([
        { first: 0, last: 0, end: 0, problems: [], balance: '0', next: null },
      ]);
    });

    test('goes over all of it in steps, each joined to the one before', async () => {
      const eve = await app.customer({ credit: 1n });
      for (let n = 0; n < 600; n += 1) await app.ledger.credit({ ...creditOf(`e${n}`, eve, 1n) });
      const steps = await checkAll(eve);
      expect(steps.map(({ first, last, next }) => [first, last, next])).toEqual([
        [1, 250, 250],
        [251, 500, 500],
        [501, 601, null],
      ]);
      expect(steps.flatMap(({ problems }) => problems)).toEqual([]);
      expect(steps.at(-1)).toMatchObject({ balance: '1.0006', end: 601 });

      // A receipt that was changed is found where the one after it, or the balance, names another
      // hash.
      await tamper(app.database, ALLOW_CHANGES);
      const ofEve = `account = (select number from balances where account_id = '${eve}')`;
      for (const sequence of [250, 601]) {
        const change = `update movements set at = at + 1 where ${ofEve} and sequence = ${sequence}`;
        await tamper(app.database, change);
      }
      expect((await checkAll(eve)).flatMap(({ problems }) => problems)).toMatchObject([
        { kind: 'changed', sequence: 250 },
        { kind: 'changed', sequence: 601 },
      ]);
    });

    test('finds a balance that is not what the last receipt leaves', async () => {
      const { database } = app.dependencies.store;
      const move = (by: string) =>
        tamper(
          app.database,
          `update balances set posted = posted ${by} where account_id = '${bob}'`,
        );
      await move('+ 1');
      expect((await checkReceipts(database, bob, 0)).problems).toEqual([
        {
          kind: 'balance',
          sequence: 2,
          detail: 'The last receipt leaves 99.999985, and the account has 99.999986.',
        },
      ]);
      await move('- 1');
    });
  });

  test('the checkout gets the account and a reference of it, and exists only where it is set', async () => {
    expect((await app.open(ada, 'GET', '/checkout')).status).toBe(404);
    const { catalog } = app.dependencies.serviceState();
    const topUpUrl = 'https://acme.example/pay?shop=7#form';
    app.operate({ catalog: { ...catalog, service: { ...catalog.service, topUpUrl } } });
    const response = await app.open(ada, 'GET', '/checkout');
    app.operate({ catalog });
    expect([response.status, response.headers.get('cache-control')]).toEqual([303, 'no-store']);
    const url = new URL(response.headers.get('location') ?? '');
    expect([url.origin, url.pathname, url.hash]).toEqual(['https://acme.example', '/pay', '#form']);
    const { reference = '', ...others } = Object.fromEntries(url.searchParams);
    expect(others).toEqual({ shop: '7', account: ada });
    expect(app.dependencies.topUps.read(reference)).toMatchObject({ accountId: ada });
  });

  describe('a code', () => {
    const bytes = (length: number) => crypto.getRandomValues(new Uint8Array(length));

    async function makeCode(expiresAt?: number): Promise<string> {
      const { database } = app.dependencies.store;
      const code = createRedemptionCode(bytes);
      const terms = { amount: micro(2_000_000n), reason: 'test', expiresAt, nowMs: NOW_MS };
      await createCodes({ database, onChange: async () => undefined }).add([code], terms);
      return code;
    }

    const redeem = (who: string, code: string) => app.ask(who, 'POST', '/redemption', { code });

    test('brings what it is worth, once, however it is typed', async () => {
      const zoe = await app.customer();
      const code = await makeCode();
      const brought = { amount: '2', amount_usd: '0.000002', available: '2' };
      expect(await redeem(zoe, ` ${code.toLowerCase()} `)).toEqual({ status: 200, json: brought });
      expect((await redeem(zoe, code)).json).toEqual(brought);
      const { data } = (await app.get(zoe, '/audit')).json as { data: Record<string, unknown>[] };
      expect(data.filter(({ action }) => action === 'code.redeemed')).toMatchObject([
        { actor: 'you', detail: { amount: '2' } },
      ]);
      expect(await redeem(ada, code)).toMatchObject({
        status: 400,
        json: { error: { param: 'code', message: 'This code was already redeemed.' } },
      });
    });

    test('that has expired differs from an unknown one', async () => {
      const messages: unknown[] = [];
      for (const code of [
        await makeCode(NOW_MS),
        createRedemptionCode(bytes),
        'TG-0000-0000-0000-0001',
      ]) {
        const { status, json } = await redeem(ada, code);
        messages.push([status, (json['error'] as { message: string }).message]);
      }
      expect(messages).toEqual([
        [400, 'This code has expired. Ask its sender for another one.'],
        [400, 'Unknown code. Check that you copied all of it.'],
        [400, 'Invalid code: a character is wrong or missing.'],
      ]);
    });

    test('is not guessed: an account waits after ten tries, and so does a network', async () => {
      const guess = async (who: string) => (await redeem(who, createRedemptionCode(bytes))).status;
      const mal = await app.customer();
      const statuses: number[] = [];
      for (let tries = 0; tries < 11; tries += 1) statuses.push(await guess(mal));
      expect(statuses).toEqual([...Array(10).fill(400), 429]);
      app.move('198.51.100.7');
      expect(await guess(mal)).toBe(429);
      // A typing error gets the same response as before, and a valid code waits like any other attempt.
      expect((await redeem(mal, 'TG-1')).status).toBe(400);
      const code = await makeCode();
      expect((await redeem(mal, code)).status).toBe(429);
      app.advance(3_600_000);
      expect((await redeem(mal, code)).status).toBe(200);

      app.move('198.51.100.99');
      const many: number[] = [];
      for (let accounts = 0; accounts < 8; accounts += 1) {
        const who = await app.customer();
        for (let tries = 0; tries < 9; tries += 1) many.push(await guess(who));
      }
      expect(many.filter((status) => status === 400)).toHaveLength(60);
    });
  });
});
