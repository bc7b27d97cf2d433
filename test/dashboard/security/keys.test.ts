// Concurrent and malicious changes of keys: names and dates that no page sends, caps under parallel
// requests, and one key that fifty requests rotate or revoke.

import { beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { type Customer, openSignUp, signUp } from '../../support/customer.ts';
import { closeAtEnd, type Gateway, startGateway } from '../../support/gateway.ts';
import { type Mailbox, openMailbox } from '../../support/mailbox.ts';
import type { ApiAnswer } from '../../support/session.ts';
import { takeSnapshot } from './snapshot.ts';

setDefaultTimeout(30_000);

let mailbox: Mailbox;
let gateway: Gateway;

beforeAll(async () => {
  mailbox = await openMailbox();
  gateway = await startGateway({ environment: openSignUp(mailbox) });
});
closeAtEnd(() => [mailbox, gateway]);

const create = ({ session }: Customer, body: object = {}): Promise<ApiAnswer> =>
  session.send('POST', '/keys', body);

/** How many of them each status was. */
function counts(answers: readonly ApiAnswer[]): Record<number, number> {
  const groups = Map.groupBy(answers, ({ status }) => status);
  return Object.fromEntries([...groups].map(([status, members]) => [status, members.length]));
}

async function keysOf({ session }: Customer) {
  const { json } = await session.get('/keys?limit=100');
  return json['data'] as {
    readonly id: string;
    readonly status: string;
    readonly name: string | null;
  }[];
}

describe('the creation of a key (B-172)', () => {
  test.each([
    ['a key of their own', { key: `sk-${'a'.repeat(48)}` }],
    ['a digest', { digest: 'a'.repeat(64) }],
    ['an expiry in the past', { expires_at: '2020-01-01T00:00:00Z' }],
    ['an expiry in the year 9999', { expires_at: '9999-12-31T23:59:59Z' }],
    ['an expiry without a zone', { expires_at: '2030-01-01T00:00:00' }],
    ['no date at all', { expires_at: 'tomorrow' }],
    ['a name of a thousand characters', { name: 'a'.repeat(1_000) }],
    ['a name with control characters', { name: 'a\u0000b\u001b[31m' }],
  ])('with %s makes none', async (what, body) => {
    const customer = await signUp(gateway, mailbox);
    const answer = await create(customer, body);
    if (what.includes('control') && answer.status === 200) {
      expect(String(answer.json['name'])).not.toMatch(/\p{Cc}/u);
      return;
    }
    expect(answer.status).toBe(400);
    expect(await keysOf(customer)).toEqual([]);
  });
});

describe('caps (B-177)', () => {
  test('of twenty at once with one place left, one is made', async () => {
    const customer = await signUp(gateway, mailbox);
    for (let made = 0; made < 4; made += 1) await create(customer);
    const answers = await Promise.all(Array.from({ length: 20 }, () => create(customer)));
    expect(counts(answers)).toEqual({ 200: 1, 409: 19 });
    expect((await keysOf(customer)).filter(({ status }) => status === 'active')).toHaveLength(5);
  });

  test('the 21st creation within an hour is refused, rotations included', async () => {
    const customer = await signUp(gateway, mailbox);
    const first = await create(customer);
    let id = String(first.json['id']);
    for (let made = 1; made < 20; made += 1) {
      const { json } = await customer.session.send('POST', `/keys/${id}/rotate`);
      id = (json['created'] as { readonly id: string }).id;
    }
    expect((await create(customer)).status).toBe(429);
    expect((await customer.session.send('POST', `/keys/${id}/rotate`)).status).toBe(429);
    expect((await keysOf(customer)).filter(({ status }) => status === 'active')).toHaveLength(1);
  });

  test('an account makes 60 changes a minute', async () => {
    const customer = await signUp(gateway, mailbox);
    const path = `/keys/${String((await create(customer)).json['id'])}`;
    const answers = await Promise.all(
      Array.from({ length: 70 }, (_, at) =>
        customer.session.send('PATCH', path, { name: `${at}` }),
      ),
    );
    expect(counts(answers)).toEqual({ 200: 59, 429: 11 });
  });
});

describe('fifty at once (B-179)', () => {
  const auditOf = ({ accountId }: Customer, action: string) =>
    (takeSnapshot(gateway.databasePath)['audit_events'] ?? []).filter(
      (row) => row.includes(accountId) && row.includes(`"${action}"`),
    );

  test('rotate one key once, with one event for each of the two keys', async () => {
    const customer = await signUp(gateway, mailbox);
    const { json } = await create(customer);
    const path = `/keys/${String(json['id'])}/rotate`;
    const answers = await Promise.all(
      Array.from({ length: 50 }, () => customer.session.send('POST', path)),
    );
    expect(counts(answers)).toEqual({ 200: 1, 409: 49 });
    expect(await keysOf(customer)).toHaveLength(2);
    expect(auditOf(customer, 'api_key.revoked').length).toBe(1);
    expect(auditOf(customer, 'api_key.created')).toHaveLength(2);
  });

  test('revoke one key once', async () => {
    const customer = await signUp(gateway, mailbox);
    const { json } = await create(customer);
    const path = `/keys/${String(json['id'])}/revoke`;
    const answers = await Promise.all(
      Array.from({ length: 50 }, () => customer.session.send('POST', path)),
    );
    expect(answers.filter(({ status }) => status === 200).length).toBeGreaterThanOrEqual(1);
    expect(auditOf(customer, 'api_key.revoked')).toHaveLength(1);
  });
});
