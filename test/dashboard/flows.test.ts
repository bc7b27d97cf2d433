// A day of customers and operators, through the JSON of their pages, and its effect on clients of
// /v1: keys are created, rotated and revoked, accounts suspended, money paid in.

import { beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import OpenAI from 'openai';
import { catalogFor } from '../support/catalog.ts';
import { type Caller, post, requestBody } from '../support/client.ts';
import {
  type Customer,
  createOperator,
  type Operator,
  openSignUp,
  signUp,
} from '../support/customer.ts';
import { describeOnEachDatabase } from '../support/database.ts';
import { closeAtEnd, type Gateway, startGateway } from '../support/gateway.ts';
import { type Mailbox, openMailbox } from '../support/mailbox.ts';
import { startUpstream, type Upstream, waitUntil } from '../support/upstream.ts';

setDefaultTimeout(30_000);

describeOnEachDatabase('round trips of customers', () => {
  let upstream: Upstream;
  let mailbox: Mailbox;
  let gateway: Gateway;
  let operator: Operator;

  beforeAll(async () => {
    upstream = await startUpstream();
    mailbox = await openMailbox();
    gateway = await startGateway({
      catalog: catalogFor(upstream, ['ok', 'slow-tokens-40-25']),
      environment: openSignUp(mailbox),
    });
    operator = await createOperator(gateway);
  });
  closeAtEnd(() => [upstream, mailbox, gateway]);

  /** A customer who can pay. */
  async function newCustomer(): Promise<Customer> {
    const customer = await signUp(gateway, mailbox);
    await gateway.run('account', 'credit', customer.accountId, '100000');
    return customer;
  }

  async function newKey({ session }: Customer): Promise<Caller & { readonly id: string }> {
    const { status, json } = await session.send('POST', '/keys', { name: 'a key' });
    expect(status).toBe(200);
    return { url: gateway.url, key: String(json['key']), id: String(json['id']) };
  }

  async function askOnce(caller: Caller): Promise<[number, string | undefined]> {
    const response = await post(caller, '/v1/chat/completions', requestBody('chat', 'ok'));
    const body = (await response.json()) as { readonly error?: { readonly code: string } };
    return [response.status, body.error?.code];
  }

  describe('keys', () => {
    test('from signing up to the first answer that a client gets with the key just made', async () => {
      const customer = await newCustomer();
      const { key } = await newKey(customer);
      const client = new OpenAI({ apiKey: key, baseURL: `${gateway.url}/v1`, maxRetries: 0 });
      const completion = await client.chat.completions.create({
        model: 'ok',
        messages: [{ role: 'user', content: 'Hello?' }],
      });
      expect(completion.choices[0]?.message.content).toBe('Hello from upstream.');
    });

    test('a stream goes on while its key is rotated; then the old key is refused and the new one works', async () => {
      const customer = await newCustomer();
      const old = await newKey(customer);
      const body = requestBody('chat', 'slow-tokens-40-25', { stream: true });
      const response = await post(old, '/v1/chat/completions', body);
      const reader = response.body?.getReader();
      await reader?.read();
      const rotated = await customer.session.send('POST', `/keys/${old.id}/rotate`);
      expect(rotated.status).toBe(200);
      expect(await askOnce(old)).toEqual([401, 'invalid_api_key']);
      const created = rotated.json['created'] as { readonly key: string };
      expect(await askOnce({ ...old, key: created.key })).toEqual([200, undefined]);
      expect(await readRest(reader)).toEndWith('data: [DONE]\n\n');
    });

    test('a revoked key is refused by the next request', async () => {
      const customer = await newCustomer();
      const key = await newKey(customer);
      expect(await askOnce(key)).toEqual([200, undefined]);
      expect((await customer.session.send('POST', `/keys/${key.id}/revoke`)).status).toBe(200);
      expect(await askOnce(key)).toEqual([401, 'invalid_api_key']);
    });
  });

  async function readRest(
    reader: { read: () => Promise<{ done: boolean; value?: Uint8Array | undefined }> } | undefined,
  ): Promise<string> {
    const decoder = new TextDecoder();
    let text = '';
    for (;;) {
      const part = await reader?.read();
      if (part === undefined || part.done) return text;
      text += decoder.decode(part.value, { stream: true });
    }
  }

  describe('standing', () => {
    test('of a suspended account the keys and the writes are refused at once, and its pages say so', async () => {
      const customer = await newCustomer();
      const key = await newKey(customer);
      const { accountId, session } = customer;
      const suspended = await operator.session.send('POST', `/accounts/${accountId}/standing`, {
        standing: 'suspended',
        reason: 'A charge is disputed',
      });
      expect(suspended.status).toBe(200);
      expect(await askOnce(key)).toEqual([403, 'account_inactive']);
      const made = await session.send('POST', '/keys', { name: 'one more' });
      expect([made.status, codeOf(made.json)]).toEqual([403, 'account_inactive']);
      const overview = await session.get('/overview');
      expect(overview.json['notices']).toContainEqual({ kind: 'inactive', standing: 'suspended' });
      const revoked = await session.send('POST', `/keys/${key.id}/revoke`);
      expect(revoked.status).toBe(200);
    });
  });

  describe('money', () => {
    test("an operator's credit is in the customer's live feed within moments", async () => {
      const customer = await newCustomer();
      const feed = await customer.session.open('/feed');
      const reader = feed.body?.getReader();
      let seen = '';
      const reading = (async () => {
        const decoder = new TextDecoder();
        while (!seen.includes('100777')) {
          const part = await reader?.read();
          if (part === undefined || part.done) return;
          seen += decoder.decode(part.value, { stream: true });
        }
      })();
      await waitUntil(() => seen.includes('100000'));
      const credited = await operator.session.send(
        'POST',
        `/accounts/${customer.accountId}/movements`,
        {
          kind: 'credit',
          amount: '777',
          reason: 'Invoice 1',
          id: crypto.randomUUID(),
        },
      );
      expect(credited.status).toBe(200);
      await reading;
      expect(seen).toContain('100777');
      await reader?.cancel();
    });
  });
});

function codeOf(json: Record<string, unknown>): unknown {
  return (json['error'] as { readonly code?: string } | undefined)?.code;
}
