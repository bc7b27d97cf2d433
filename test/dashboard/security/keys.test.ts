// Keys whose names and dates no page sends.

import { beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { type Customer, openSignUp, signUp } from '../../support/customer.ts';
import { closeAtEnd, type Gateway, startGateway } from '../../support/gateway.ts';
import { type Mailbox, openMailbox } from '../../support/mailbox.ts';
import type { ApiAnswer } from '../../support/session.ts';

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
