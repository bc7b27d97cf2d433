// Provokes every code of the error table in every format. Runs against the executable.

import { beforeAll, beforeEach, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { ERRORS, type ErrorCode } from '../../src/core/error.ts';
import { play, SAYS_HELLO } from '../support/behaviours.ts';
import { catalogFor, LARGE_PLAN } from '../support/catalog.ts';
import {
  EVERY_FORMAT,
  type EveryFormat,
  generateStream,
  type JsonAnswer,
  PATHS,
  post,
  requestBody,
} from '../support/client.ts';
import { held } from '../support/description.ts';
import { closeAtEnd, type Gateway, startGateway, type TestAccount } from '../support/gateway.ts';
import { awayFromMidnight } from '../support/midnight.ts';
import {
  ALL_LIMIT_HEADERS,
  expectRefusal,
  limitHeaders,
  type RefusalDetail,
} from '../support/refusal.ts';
import { startUpstream, type Upstream, waitUntil } from '../support/upstream.ts';

// Many of these run a command.
setDefaultTimeout(60_000);

/** Begins an answer, and goes on when the test says so. */
const SLOW = 'goes-on-later';
const later = Promise.withResolvers<void>();

let upstream: Upstream;
let gateway: Gateway;
/** In good standing, with money, on a large plan. Nothing in this file changes it. */
let customer: TestAccount;

beforeAll(async () => {
  upstream = await startUpstream({ [SLOW]: play(SAYS_HELLO, later.promise) });
  const catalog = catalogFor(upstream, ['ok', 'small', 'excluded', 'stall', 'status-503', SLOW], {
    models: { small: { context_window: 200, max_output: 100 } },
    plans: {
      narrow: { ...LARGE_PLAN, models: ['ok'] },
      'one-slot': { ...LARGE_PLAN, concurrent_requests: 1 },
      'one-request': { ...LARGE_PLAN, requests_per_minute: 1 },
      'few-tokens': { ...LARGE_PLAN, tokens_per_minute: 10 },
      'few-a-day': { ...LARGE_PLAN, daily_tokens: 1 },
      'few-a-month': { ...LARGE_PLAN, monthly_tokens: 1 },
    },
  });
  gateway = await startGateway({ catalog, environment: { TRUSTED_PROXIES: '127.0.0.1' } });
  customer = await gateway.createAccount({ plan: 'business' });
});

closeAtEnd(() => [upstream, gateway]);

beforeEach(awayFromMidnight);

type Asked = {
  readonly caller: { readonly url: string; readonly key: string };
  readonly body?: unknown;
  readonly path?: string;
  readonly method?: string;
  readonly headers?: Record<string, string>;
};

async function ask(format: EveryFormat, asked: Asked): Promise<JsonAnswer> {
  const method = asked.method ?? 'POST';
  const body = asked.body ?? requestBody(format, 'ok');
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const response = await fetch(`${asked.caller.url}${asked.path ?? PATHS[format]}`, {
    method,
    headers: {
      authorization: `Bearer ${asked.caller.key}`,
      'content-type': 'application/json',
      ...asked.headers,
    },
    ...(method === 'GET' ? {} : { body: text }),
  });
  const { status, headers } = held(response, method);
  return { status, headers, json: (await response.json()) as Record<string, unknown> };
}

type Provoked = RefusalDetail & {
  readonly answer: JsonAnswer;
  /** What `retry-after` must be, for the codes that have one. */
  readonly wait?: readonly [least: number, most: number];
};

const newAccount = (plan = 'business') => gateway.createAccount({ plan });

/** The first refusal: a running server looks for the changes of operators now and then. */
async function refusedSoon(format: EveryFormat, asked: Asked): Promise<JsonAnswer> {
  let answer = await ask(format, asked);
  await waitUntil(async () => {
    if (answer.status === 200) answer = await ask(format, asked);
    return answer.status !== 200;
  });
  return answer;
}

/** Until the running server has seen that the refusal is over. */
const allowedSoon = (asked: Asked): Promise<void> =>
  waitUntil(async () => (await ask('chat', asked)).status === 200);

const secondsToMidnight = () => Math.ceil((86_400_000 - (Date.now() % 86_400_000)) / 1_000);

const toMidnight = (): readonly [number, number] => [
  Math.max(1, secondsToMidnight() - 10),
  secondsToMidnight() + 10,
];

const ELSEWHERE = [
  'internal_error',
  'idempotent_answer_lost',
  'idempotent_request_running',
] as const satisfies ErrorCode[];

/**
 * How each code is provoked. `internal_error` cannot be: it is the answer to a defect of ours, and
 * nothing that a caller, an upstream or an operator does should ever lead to it. Lost answers and
 * running requests are in the tests of idempotency.
 */
const PROVOCATIONS: Readonly<
  Record<Exclude<ErrorCode, (typeof ELSEWHERE)[number]>, (format: EveryFormat) => Promise<Provoked>>
> = {
  invalid_request: async (format) => ({
    answer: await ask(format, {
      caller: customer,
      body: requestBody(format, 'ok', { messages: [{ role: 'wizard', content: 'x' }] }),
    }),
    param: format === 'responses' ? 'input[0].role' : 'messages[0].role',
    message: /^(messages|input)\[0\]\.role: must be one of /,
  }),
  context_length_exceeded: async (format) => ({
    answer: await ask(format, {
      caller: customer,
      body: requestBody(format, 'small', { max_tokens: 1_000 }),
    }),
    param: format === 'responses' ? 'max_output_tokens' : 'max_tokens',
    message:
      format !== 'messages'
        ? /^This model's maximum context length is 200 tokens for this account, but the request asks for 1\d{3} tokens \(\d+ in the messages, 1000 in max_(output_)?tokens\)\./
        : /^input length and `max_tokens` exceed context limit: \d+ \+ 1000 > 200,/,
  }),
  missing_api_key: async (format) => ({
    answer: await ask(format, { caller: customer, headers: { authorization: '' } }),
  }),
  invalid_api_key: async (format) => ({
    answer: await ask(format, { caller: { ...customer, key: `sk-${'x'.repeat(48)}` } }),
  }),
  insufficient_balance: async (format) => ({
    answer: await ask(format, { caller: await gateway.createAccount({ credit: '0.5' }) }),
    message:
      /^The available balance is 0\.5 service tokens, and this request has to reserve at least 1\. Top up/,
  }),
  key_budget_exhausted: async (format) => {
    const caller = await newAccount();
    await gateway.run('key', 'edit', caller.key, '--budget-day', '5');
    return {
      answer: await refusedSoon(format, { caller }),
      message:
        /^This API key has 5 service tokens left of its daily budget, which renews at UTC midnight, and this request may cost up to [\d.]+\. Raise/,
    };
  },
  key_paused: async (format) => {
    const caller = await newAccount();
    await gateway.run('key', 'pause', caller.key);
    const answer = await refusedSoon(format, { caller });
    return { answer, message: /^The operator of this service has paused this API key\. Ask the/ };
  },
  address_not_allowed: async (format) => {
    const caller = await newAccount();
    await gateway.run('key', 'edit', caller.key, '--networks', '198.51.100.0/24,2001:db8:9::/48');
    const headers = { 'x-forwarded-for': '198.51.101.1' };
    return { answer: await refusedSoon(format, { caller, headers }) };
  },
  model_not_allowed_for_key: async (format) => {
    const caller = await newAccount();
    await gateway.run('key', 'edit', caller.key, '--models', 'small');
    return { answer: await refusedSoon(format, { caller }), param: 'model' };
  },
  email_not_verified: async (format) => ({
    answer: await ask(format, { caller: await gateway.createAccount({ verified: false }) }),
  }),
  account_inactive: async (format) => {
    const caller = await newAccount();
    await gateway.run('account', 'suspend', caller.id);
    return { answer: await refusedSoon(format, { caller }) };
  },
  account_blocked: async (format) => {
    const caller = await newAccount();
    await gateway.run('block', 'add', 'account', caller.id);
    return { answer: await refusedSoon(format, { caller }) };
  },
  api_key_blocked: async (format) => {
    const caller = await newAccount();
    await gateway.run('block', 'add', 'key', caller.key);
    return { answer: await refusedSoon(format, { caller }) };
  },
  ip_blocked: async (format) => {
    const [network, address] = {
      chat: ['203.0.113.0/25', '203.0.113.7'] as const,
      messages: ['2001:db8:1::/48', '2001:db8:1::7'] as const,
      responses: ['203.0.113.128/25', '203.0.113.129'] as const,
    }[format];
    await gateway.run('block', 'add', 'network', network);
    const headers = { 'x-forwarded-for': address };
    return { answer: await refusedSoon(format, { caller: customer, headers }) };
  },
  model_not_in_plan: async (format) => ({
    answer: await ask(format, {
      caller: await newAccount('narrow'),
      body: requestBody(format, 'excluded'),
    }),
  }),
  session_required: async (format) => ({
    // Key management is not a generation endpoint: its errors have the chat envelope only.
    answer: await ask(format, { caller: customer, path: '/v1/api-keys', body: {} }),
  }),
  operator_only: async (format) => ({
    answer: await ask(format, { caller: customer, method: 'GET', path: '/metrics' }),
    message: /METRICS_TOKEN/,
  }),
  not_found: async (format) => ({
    answer: await ask(format, { caller: customer, path: `${PATHS[format]}/drafts` }),
    ...(format === 'responses' ? { message: /^Responses are not kept here: / } : {}),
  }),
  model_not_found: async (format) => ({
    answer: await ask(format, { caller: customer, body: requestBody(format, 'no-such-model') }),
    param: 'model',
  }),
  method_not_allowed: async (format) => ({
    answer: await ask(format, { caller: customer, method: 'PUT' }),
  }),
  payload_too_large: async (format) => ({
    answer: await ask(format, { caller: customer, body: ' '.repeat(2_097_153) }),
  }),
  unsupported_media_type: async (format) => ({
    answer: await ask(format, { caller: customer, headers: { 'content-encoding': 'gzip' } }),
  }),
  misdirected_request: async (format) => ({
    answer: await ask(format, {
      ...{ caller: customer, method: 'GET', path: '/readyz' },
      headers: { host: 'rebind.evil.example' },
    }),
  }),
  websocket_not_offered: async () => ({
    answer: await ask('responses', {
      ...{ caller: customer, method: 'GET' },
      headers: { connection: 'Upgrade', upgrade: 'WebSocket', 'sec-websocket-version': '13' },
    }),
  }),
  idempotency_key_reused: async (format) => {
    const caller = await newAccount();
    const headers = { 'idempotency-key': 'one-key' };
    expect((await ask(format, { caller, headers })).status).toBe(200);
    const body = requestBody(format, 'ok', { temperature: 1 });
    return { answer: await ask(format, { caller, headers, body }) };
  },
  rate_limit_exceeded: async (format) => {
    const caller = await newAccount('one-request');
    expect((await ask(format, { caller })).status).toBe(200);
    return { answer: await ask(format, { caller }), wait: [50, 60] };
  },
  tokens_per_minute_exceeded: async (format) => ({
    answer: await ask(format, { caller: await newAccount('few-tokens') }),
    wait: [50, 60],
  }),
  concurrency_limit_exceeded: async (format) => {
    const caller = await newAccount('one-slot');
    const leave = new AbortController();
    const running = await post(
      caller,
      PATHS[format],
      requestBody(format, 'stall', { stream: true }),
      {
        signal: leave.signal,
      },
    );
    const answer = await ask(format, { caller });
    leave.abort();
    await running.body?.cancel().catch(() => {});
    return { answer, wait: [2, 2] };
  },
  daily_limit_exceeded: async (format) => ({
    answer: await ask(format, { caller: await newAccount('few-a-day') }),
    message: /^The plan's daily token cap leaves 1 tokens/,
    wait: toMidnight(),
  }),
  monthly_limit_exceeded: async (format) => ({
    answer: await ask(format, { caller: await newAccount('few-a-month') }),
    message: /^The plan's monthly token cap leaves 1 tokens/,
    wait: toMidnight(),
  }),
  provider_unavailable: async (format) => ({
    answer: await ask(format, { caller: customer, body: requestBody(format, 'status-503') }),
  }),
  maintenance_mode: async (format) => {
    await gateway.run('maintenance', 'on');
    const answer = await refusedSoon(format, { caller: customer });
    await gateway.run('maintenance', 'off');
    await allowedSoon({ caller: customer });
    return { answer };
  },
};

/** Refusals of paths that belong to no format, or to one with the envelope of chat. */
const CHAT_ALONE: ReadonlySet<string> = new Set([
  'session_required',
  'operator_only',
  'misdirected_request',
  'websocket_not_offered',
]);

const CODES = Object.keys(PROVOCATIONS) as (keyof typeof PROVOCATIONS)[];
const CASES = CODES.flatMap((code) => EVERY_FORMAT.map((format) => [code, format] as const));

test('every code but these is provoked', () => {
  expect(new Set<string>([...CODES, ...ELSEWHERE])).toEqual(new Set(Object.keys(ERRORS)));
});

describe('case 168: every code', () => {
  test.each(CASES)('%s on %s', async (code, format) => {
    const { answer, wait, ...detail } = await PROVOCATIONS[code](format);
    expectRefusal(answer, CHAT_ALONE.has(code) ? 'chat' : format, code, detail);
    // An admitted call used a request of the window, also where no upstream answered.
    const limited = [402, 429].includes(answer.status) || code === 'provider_unavailable';
    expect(limitHeaders(answer.headers)).toEqual(limited ? [...ALL_LIMIT_HEADERS] : []);
    const isWrongMethod = ['method_not_allowed', 'websocket_not_offered'].includes(code);
    expect(answer.headers.get('allow')).toBe(isWrongMethod ? 'POST' : null);
    if (answer.status !== 429) return;
    const seconds = Number(answer.headers.get('retry-after'));
    expect(seconds).toBeGreaterThanOrEqual(wait?.[0] ?? Number.NaN);
    expect(seconds).toBeLessThanOrEqual(wait?.[1] ?? Number.NaN);
  });
});

test('a context refusal names the field by which the caller bounds the output', async () => {
  const body = requestBody('chat', 'small', { max_completion_tokens: 1_000 });
  expectRefusal(await ask('chat', { caller: customer, body }), 'chat', 'context_length_exceeded', {
    param: 'max_completion_tokens',
    message:
      / 1000 in max_completion_tokens\)\. Shorten the messages, or lower max_completion_tokens\.$/,
  });
});

describe('a key is checked on every path that needs one', () => {
  const PROTECTED: readonly (readonly [string, string, EveryFormat])[] = [
    ['POST', '/v1/chat/completions', 'chat'],
    ['POST', '/v1/messages', 'messages'],
    ['POST', '/v1/messages/count_tokens', 'messages'],
    ['POST', '/v1/responses', 'responses'],
    ['POST', '/v1/responses/input_tokens', 'responses'],
    ['GET', '/v1/models', 'chat'],
    ['GET', '/v1/models/ok', 'chat'],
    ['GET', '/v1/models/no-such-model', 'chat'],
    ['GET', '/v1/api-keys', 'chat'],
    ['POST', '/v1/api-keys', 'chat'],
    ['DELETE', '/v1/api-keys/key_1', 'chat'],
    ['POST', '/v1/api-keys/key_1/rotate', 'chat'],
    ['GET', '/v1/account', 'chat'],
    ['GET', '/v1/receipts/req_1', 'chat'],
  ];

  test.each(PROTECTED)('%s %s', async (method, path, format) => {
    const unverified = await gateway.createAccount({ verified: false });
    const none = await ask(format, {
      caller: customer,
      method,
      path,
      headers: { authorization: '' },
    });
    expectRefusal(none, format, 'missing_api_key');
    const wrong = await ask(format, { caller: { ...customer, key: 'sk-wrong' }, method, path });
    expectRefusal(wrong, format, 'invalid_api_key');
    const standing = await ask(format, { caller: unverified, method, path });
    expectRefusal(standing, format, 'email_not_verified');
  });

  test('cases 5 and 6: x-api-key is as good as Authorization, and two different keys are none', async () => {
    const other = await newAccount();
    for (const format of EVERY_FORMAT) {
      const asked = { caller: customer, headers: { authorization: '', 'x-api-key': customer.key } };
      expect((await ask(format, asked)).status).toBe(200);
      const both = await ask(format, { caller: customer, headers: { 'x-api-key': other.key } });
      expectRefusal(both, format, 'invalid_api_key');
    }
    const same = await ask('chat', { caller: customer, headers: { 'x-api-key': customer.key } });
    expect(same.status).toBe(200);
  });
});

test('a request in progress when an account is blocked, or maintenance begins, is finished', async () => {
  const account = await newAccount();
  const streams = EVERY_FORMAT.map((format) => generateStream(account, format, SLOW));
  await upstream.waitFor(
    ({ requests }) => requests.filter(({ model }) => model === SLOW).length === EVERY_FORMAT.length,
  );
  await gateway.run('maintenance', 'on');
  await gateway.run('account', 'suspend', account.id);
  // Until the running server has seen the second change, it refuses for the first.
  await waitUntil(async () => (await ask('chat', { caller: account })).status === 403);
  later.resolve();
  for (const { events } of await Promise.all(streams)) {
    expect(events.at(-1)?.data).toMatch(/^\[DONE\]$|"message_stop"|"response\.completed"/);
    expect(events.map(({ data }) => data).join()).toContain('"svc_outcome":"completed"');
  }
  await gateway.run('maintenance', 'off');
  await gateway.run('account', 'activate', account.id);
  await allowedSoon({ caller: account });
});

test('without a trusted proxy no header moves a client out of a block', async () => {
  const catalog = catalogFor(upstream, ['ok']);
  await using plain = await startGateway({ catalog });
  const caller = await plain.createAccount();
  await plain.run('block', 'add', 'network', '127.0.0.1');
  expectRefusal(await refusedSoon('chat', { caller }), 'chat', 'ip_blocked');
  for (const name of ['x-forwarded-for', 'forwarded', 'x-real-ip', 'cf-connecting-ip']) {
    const answer = await ask('chat', { caller, headers: { [name]: '192.0.2.1' } });
    expectRefusal(answer, 'chat', 'ip_blocked');
  }
});

test('refusals cost a request of the minute, hold nothing and reach no upstream', async () => {
  const account = await gateway.createAccount({ plan: 'narrow', credit: 100_000 });
  const before = upstream.requests.length;
  const bodies = [
    requestBody('chat', 'excluded'),
    requestBody('chat', 'no-such-model'),
    requestBody('chat', 'ok', { max_tokens: 200_000 }),
    requestBody('chat', 'ok', { max_tokens: 0 }),
  ];
  for (const body of bodies) {
    expect((await ask('chat', { caller: account, body })).status).toBeGreaterThanOrEqual(400);
  }
  expect(upstream.requests.length).toBe(before);
  const shown = await ask('chat', { caller: account, path: '/v1/account', method: 'GET' });
  expect(shown.json).toMatchObject({
    balance: { available: '100000', reserved: '0', total: '100000' },
    usage: { in_flight: 0, requests_this_minute: { used: 4 }, tokens_this_minute: { used: 0 } },
  });
});
