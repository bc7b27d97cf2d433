// The request log says what clients received: status, code and message of each failed and refused
// request, to the account that sent it and to the operator.

import { beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { catalogFor, LARGE_PLAN } from '../support/catalog.ts';
import { generate, openStream, PATHS, post, requestBody } from '../support/client.ts';
import {
  type Customer,
  createOperator,
  type Operator,
  openSignUp,
  signUp,
} from '../support/customer.ts';
import { closeAtEnd, type Gateway, startGateway, type TestAccount } from '../support/gateway.ts';
import { type Mailbox, openMailbox } from '../support/mailbox.ts';
import { startUpstream, type Upstream, waitUntil } from '../support/upstream.ts';

setDefaultTimeout(60_000);

const FAILING = [
  ['status-400', 'bad_request'],
  ['context-400', 'context_length'],
  ['status-500', 'server_error'],
  ['status-429', 'rate_limited'],
  ['cut-before', 'unreachable'],
  ['garbage', 'malformed'],
] as const;

let upstream: Upstream;
let mailbox: Mailbox;
let gateway: Gateway;
let account: TestAccount;
let customer: Customer;
let operator: Operator;

beforeAll(async () => {
  upstream = await startUpstream();
  mailbox = await openMailbox();
  gateway = await startGateway({
    environment: openSignUp(mailbox),
    catalog: catalogFor(
      upstream,
      ['ok', 'cut', 'error-in-stream', ...FAILING.map(([model]) => model)],
      { plans: { large: LARGE_PLAN, few: { ...LARGE_PLAN, requests_per_minute: 1 } } },
    ),
  });
  account = await gateway.createAccount({ plan: 'large' });
  customer = await signUp(gateway, mailbox, account.email);
  operator = await createOperator(gateway);
});

closeAtEnd(() => [upstream, mailbox, gateway]);

type Problem = Record<'status' | 'code' | 'reason' | 'message' | 'what_to_do', unknown>;
type Row = { id: string; outcome: string; status: number | null; count: number; problem: Problem };

async function rows(query: string, session = customer.session): Promise<Row[]> {
  const { status, json } = await session.get(`/requests?${query}`);
  expect(status).toBe(200);
  return json['data'] as Row[];
}

async function problemOf(id: string): Promise<Problem> {
  const { json } = await customer.session.get(`/requests/${id}`);
  return json['problem'] as Problem;
}

const idOf = (headers: Headers): string => headers.get('x-request-id') ?? '';

describe('a failed request', () => {
  test.each(FAILING)(
    '%s has the status, code and message that its client got',
    async (model, cause) => {
      const { status, headers, json } = await generate(account, 'chat', model);
      const { code, message } = json['error'] as { code: string; message: string };
      const id = idOf(headers);
      const problem = await problemOf(id);
      expect(problem).toMatchObject({ status, code, message });
      expect(String(problem.what_to_do)).not.toBe('');
      expect(await rows(`model=${model}&status=${status}&code=${code}`)).toMatchObject([
        { id, outcome: 'failed', status, problem: { status, code, message } },
      ]);
      const { json: known } = await operator.session.get(`/requests/${id}`);
      expect(known['problem']).toMatchObject({ status, code, message, cause });
    },
  );

  test.each(['cut', 'error-in-stream'])('%s in a stream has its error event', async (model) => {
    const response = await openStream(account, 'chat', model);
    const text = await response.text();
    const event = text.split('\n').findLast((line) => line.includes('"error"')) ?? '';
    const { code, message } = JSON.parse(event.replace('data: ', '')).error;
    const problem = await problemOf(idOf(response.headers));
    expect(problem).toMatchObject({ status: 200, code, message, reason: 'interrupted' });
  });

  test('one that the model rejected does not blame the model', async () => {
    const { headers } = await generate(account, 'chat', 'status-400');
    const { reason, message } = await problemOf(idOf(headers));
    expect(reason).toBe('model_rejected');
    expect(message).toMatch(/^The model refused this request as invalid/);
  });
});

describe('a refused request', () => {
  const BIG = 'x'.repeat(3_000_000);
  const REFUSED = [
    [400, 'invalid_request', () => generate(account, 'chat', 'ok', { temperature: 'hot' })],
    [404, 'model_not_found', () => generate(account, 'chat', 'no-such-model')],
    [
      413,
      'payload_too_large',
      () => generate(account, 'chat', 'ok', { messages: [{ role: 'user', content: BIG }] }),
    ],
  ] as const;

  test.each(REFUSED)('%i %s is listed with what its client got', async (status, code, send) => {
    const { json, headers } = await send();
    const { message } = json['error'] as { message: string };
    const listed = await listedUntil(customer, `outcome=refused&code=${code}`);
    expect(listed).toMatchObject([
      {
        id: idOf(headers),
        outcome: 'refused',
        status,
        count: 1,
        problem: { status, code, message },
      },
    ]);
    expect(await rows(`id=${idOf(headers)}`)).toHaveLength(1);
    const { json: own } = await customer.session.get(`/requests/${idOf(headers)}`);
    const refused = { object: 'refused_request', count: 1, problem: { status, code, message } };
    expect(own).toMatchObject(refused);
    const { json: known } = await operator.session.get(`/requests/${idOf(headers)}`);
    expect(known).toEqual({
      ...own,
      account_id: account.id,
      account_email: account.email,
      // The masked key where it has no name.
      key_name: expect.stringContaining('…'),
    });
    const explained = await gateway.run('explain', idOf(headers));
    expect(explained).toEqual({ ...own, key_name: null, account_id: account.id });
    expect(await rows(`status=${status}&outcome=refused`)).toHaveLength(1);
    expect(
      (await rows('outcome=refused', operator.session)).map((row) => row.problem.code),
    ).toContain(code);
  });

  test('a revoked key is listed to its own account, without the key, and counted', async () => {
    const { json } = await customer.session.send('POST', '/keys', { name: 'old' });
    const { id, key } = json as { id: string; key: string };
    const revoked = await customer.session.send('POST', `/keys/${id}/revoke`);
    expect(revoked.status).toBe(200);
    const stranger = { url: gateway.url, key };
    const sent = 5;
    for (let n = 0; n < sent; n += 1) {
      expect((await post(stranger, PATHS.chat, requestBody('chat', 'ok'))).status).toBe(401);
    }
    const listed = await waitFor(async () => {
      const found = await rows('code=invalid_api_key');
      return found.reduce((sum, { count }) => sum + count, 0) === sent ? found : undefined;
    });
    expect(listed[0]).toMatchObject({ key_id: id, status: 401, outcome: 'refused' });
    const file = Buffer.from(await Bun.file(gateway.databasePath).arrayBuffer());
    expect(file.includes(Buffer.from(key))).toBe(false);
  });

  test('402 and 429 are listed to the account alone', async () => {
    const poor = await gateway.createAccount({ plan: 'few', credit: 1 });
    const owner = await signUp(gateway, mailbox, poor.email);
    expect((await generate(poor, 'chat', 'ok', { max_tokens: 4_000 })).status).toBe(402);
    expect((await generate(poor, 'chat', 'ok')).status).toBe(429);
    await listedUntil(owner, 'code=insufficient_balance');
    await listedUntil(owner, 'code=rate_limit_exceeded');
    expect(await rows('code=insufficient_balance')).toEqual([]);
    const [row] = await rows('code=insufficient_balance', owner.session);
    const { status } = await customer.session.get(`/requests/${row?.id}`);
    expect(status).toBe(404);
  });

  test('a caller without an account is counted for the operator alone', async () => {
    const stranger = { url: gateway.url, key: `sk-${'a'.repeat(48)}` };
    for (let n = 0; n < 3; n += 1) await post(stranger, PATHS.chat, requestBody('chat', 'ok'));
    const [row] = await waitFor(async () => {
      const found = await rows('account=none&code=invalid_api_key', operator.session);
      return found[0]?.count === 3 ? found : undefined;
    });
    expect(row).toMatchObject({ account_id: null, key_id: null, outcome: 'refused', status: 401 });
  });

  test('the file has them with code, message and what to do', async () => {
    const response = await customer.session.open('/requests/export?outcome=refused');
    const text = await response.text();
    expect(text).toMatch(/"status","error_code","error_message","what_to_do","requests"\r\n/);
    expect(text).toMatch(/"refused",.*404,"model_not_found","There is no model/);
  });

  async function listedUntil(who: Customer, query: string): Promise<Row[]> {
    return waitFor(async () => {
      const found = await rows(query, who.session);
      return found.length > 0 ? found : undefined;
    });
  }
});

async function waitFor<T>(look: () => Promise<T | undefined>): Promise<T> {
  let found: T | undefined;
  const isFound = async (): Promise<boolean> => {
    found = await look();
    return found !== undefined;
  };
  await waitUntil(isFound);
  return found as T;
}
