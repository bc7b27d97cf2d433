// The limits, from outside: which requests are refused, with which message and headers, and that a
// refusal is never charged. The plans are tiny, so that a few requests reach every limit.

import { beforeAll, beforeEach, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { play, SAYS_HELLO } from '../support/behaviours.ts';
import { catalogFor } from '../support/catalog.ts';
import {
  type Caller,
  EVERY_FORMAT,
  generate,
  generateStream,
  get,
  type JsonAnswer,
  openStream,
  PATHS,
  post,
  requestBody,
} from '../support/client.ts';
import { closeAtEnd, type Gateway, startGateway, type TestAccount } from '../support/gateway.ts';
import { awayFromMidnight } from '../support/midnight.ts';
import { openConnection, wholeRequest } from '../support/raw.ts';
import { startUpstream, type Upstream, waitUntil } from '../support/upstream.ts';

setDefaultTimeout(60_000);

type Json = Record<string, unknown>;

const WIDE = {
  requests_per_minute: 1_000,
  tokens_per_minute: 1_000_000,
  concurrent_requests: 50,
  max_context: 128_000,
  max_api_keys: 5,
};

/** Answers when the test says so. */
const SLOW = 'answers-later';
const later = Promise.withResolvers<void>();

let upstream: Upstream;
let gateway: Gateway;
/** The size of the standard prompt in the gateway's own estimate. */
let prompt = 0;

beforeAll(async () => {
  upstream = await startUpstream({ [SLOW]: play(SAYS_HELLO, later.promise) });
  const models = [
    'ok',
    'stall',
    'stall-before',
    SLOW,
    'status-500',
    'short',
    'scarce',
    'plenty',
    'burst',
  ];
  gateway = await startGateway({
    catalog: catalogFor(upstream, models, {
      // All thinking is shown there: nothing is to be read after an answer was left.
      upstream: { profile: 'deepseek' },
      models: { short: { context_window: 500, max_output: 400 } },
      plans: {
        wide: WIDE,
        'three-requests': { ...WIDE, requests_per_minute: 3 },
        'few-tokens': { ...WIDE, tokens_per_minute: 5_000 },
        'two-slots': { ...WIDE, concurrent_requests: 2 },
        'one-slot': { ...WIDE, concurrent_requests: 1 },
        daily: { ...WIDE, daily_tokens: 300 },
        monthly: { ...WIDE, monthly_tokens: 300 },
        'small-context': { ...WIDE, max_context: 1_000 },
        narrow: { ...WIDE, models: ['ok'] },
      },
    }),
    environment: { LOG_LEVEL: 'warn' },
  });
  const wideAccount = await gateway.createAccount({ plan: 'wide' });
  const counted = await count(wideAccount);
  prompt = ((await counted.json()) as { input_tokens: number }).input_tokens;
});

closeAtEnd(() => [upstream, gateway]);

beforeEach(awayFromMidnight);

const onPlan = (plan: string, credit = 1_000_000) => gateway.createAccount({ plan, credit });

function count(of: Caller): Promise<Response> {
  return post(of, '/v1/messages/count_tokens', requestBody('messages', 'ok'));
}

async function anotherKey(of: TestAccount): Promise<Caller> {
  const { key } = await gateway.run('key', 'create', of.id);
  return { url: of.url, key: String(key) };
}

type Usage = {
  readonly requests_this_minute: { used: number; remaining: number; resets_in_s: number };
  readonly tokens_this_minute: { used: number; remaining: number };
  readonly in_flight: number;
  readonly today: { tokens: number; remaining: number | null };
  readonly month: { tokens: number; remaining: number | null };
};

async function usage(of: Caller): Promise<Usage> {
  return (await get(of, '/v1/account')).json['usage'] as Usage;
}

async function balance(of: Caller): Promise<Json> {
  return (await get(of, '/v1/account')).json['balance'] as Json;
}

const limitHeaders = ({ headers }: { headers: Headers }) => ({
  requests: [
    headers.get('x-ratelimit-limit-requests'),
    headers.get('x-ratelimit-remaining-requests'),
  ],
  tokens: [headers.get('x-ratelimit-limit-tokens'), headers.get('x-ratelimit-remaining-tokens')],
});

/** A 429 in the envelope of its format, with its wait; returns the seconds. */
function expectRefused(answer: JsonAnswer, code: string): number {
  expect([answer.status, answer.json['error']]).toMatchObject([
    429,
    { code, type: 'rate_limit_error', request_id: answer.headers.get('x-request-id') },
  ]);
  const wait = answer.headers.get('retry-after') ?? '';
  expect(wait).toMatch(/^[1-9]\d*$/);
  expect(answer.headers.get('x-svc-tokens-debited')).toBeNull();
  return Number(wait);
}

describe('case 169: requests a minute', () => {
  test.each(EVERY_FORMAT)(
    '%s: counted down in the headers, then refused for free',
    async (format) => {
      const account = await onPlan('three-requests');
      const seen: unknown[] = [];
      for (let turn = 0; turn < 3; turn += 1) {
        const answer =
          turn === 1
            ? await generateStream(account, format, 'ok', { max_tokens: 100 })
            : await generate(account, format, 'ok', { max_tokens: 100 });
        expect(answer.status).toBe(200);
        expect(answer.headers.get('x-ratelimit-reset-requests')).toMatch(/^(60|5\d)s$/);
        seen.push(limitHeaders(answer));
      }
      const left = (requests: number) => ({
        requests: ['3', String(requests)],
        tokens: ['1000000', String(1_000_000 - (3 - requests) * (prompt + 100))],
      });
      expect(seen).toEqual([left(2), left(1), left(0)]);

      const money = await balance(account);
      const refused = await generate(account, format, 'ok', { max_tokens: 100 });
      const wait = expectRefused(refused, 'rate_limit_exceeded');
      expect(wait).toBeLessThanOrEqual(60);
      expect(refused.headers.get('x-ratelimit-reset-requests')).toBe(`${wait}s`);
      expect(limitHeaders(refused)).toEqual(left(0));
      expect(await balance(account)).toEqual(money);
      expect(await usage(account)).toMatchObject({
        requests_this_minute: { used: 3, remaining: 0 },
        tokens_this_minute: { used: 3 * (prompt + 100), remaining: 1_000_000 - 3 * (prompt + 100) },
        in_flight: 0,
        today: { tokens: 45, remaining: null },
      });
    },
  );

  test('are shared by the keys of an account, and not by accounts', async () => {
    const [account, stranger] = await Promise.all([
      onPlan('three-requests'),
      onPlan('three-requests'),
    ]);
    const second = await anotherKey(account);
    const callers = [account, second, account, second, account];
    const statuses: number[] = [];
    for (const caller of callers) statuses.push((await generate(caller, 'chat', 'ok')).status);
    expect(statuses).toEqual([200, 200, 200, 429, 429]);
    expect((await generate(stranger, 'chat', 'ok')).status).toBe(200);
  });

  test('hold against 20 at once, and only the admitted reach the upstream', async () => {
    const account = await onPlan('three-requests');
    const burst = Array.from({ length: 20 }, () => generate(account, 'chat', 'burst'));
    const statuses = (await Promise.all(burst)).map((answer) => answer.status);
    expect(statuses.filter((status) => status === 200).length).toBe(3);
    expect(statuses.filter((status) => status === 429).length).toBe(17);
    expect(upstream.requests.filter((request) => request.model === 'burst').length).toBe(3);
    expect((await usage(account)).requests_this_minute).toMatchObject({ used: 3, remaining: 0 });
  });
});

describe('case 169: tokens a minute', () => {
  test('count the estimated prompt and the output bound', async () => {
    const account = await onPlan('few-tokens');
    const ask = (max_tokens: number) => generate(account, 'messages', 'ok', { max_tokens });
    expect(limitHeaders(await ask(3_000)).tokens).toEqual(['5000', String(2_000 - prompt)]);
    const refused = await ask(2_000);
    expect(expectRefused(refused, 'tokens_per_minute_exceeded')).toBeLessThanOrEqual(60);
    expect(limitHeaders(refused)).toEqual({
      requests: ['1000', '999'],
      tokens: ['5000', String(2_000 - prompt)],
    });
    // What still fits is let in: to the last token, and not one more.
    const rest = 2_000 - 2 * prompt;
    expectRefused(await ask(rest + 1), 'tokens_per_minute_exceeded');
    expect(limitHeaders(await ask(rest)).tokens).toEqual(['5000', '0']);
    expect((await usage(account)).tokens_this_minute).toMatchObject({ used: 5_000, remaining: 0 });
  });

  test('count no more than 4,096 of the output', async () => {
    const account = await onPlan('few-tokens');
    const answer = await generate(account, 'chat', 'ok');
    expect(answer.status).toBe(200);
    expect(limitHeaders(answer).tokens).toEqual(['5000', String(5_000 - prompt - 4_096)]);
  });
});

describe('case 169: concurrency', () => {
  test.each(EVERY_FORMAT)(
    '%s: the third of two waits 2 seconds; who leaves makes room',
    async (format) => {
      const account = await onPlan('two-slots');
      const aborts = [new AbortController(), new AbortController()];
      const streams = await Promise.all(
        aborts.map((abort) => openStream(account, format, 'stall', {}, abort.signal)),
      );
      expect(streams.map((stream) => stream.status)).toEqual([200, 200]);
      expect((await usage(account)).in_flight).toBe(2);
      const refused = await generate(account, format, 'ok');
      expect(expectRefused(refused, 'concurrency_limit_exceeded')).toBe(2);
      expect((await usage(account)).requests_this_minute.used).toBe(2);
      aborts[0]?.abort();
      await waitUntil(async () => (await usage(account)).in_flight === 1);
      expect((await generate(account, format, 'ok')).status).toBe(200);
      aborts[1]?.abort();
      await waitUntil(async () => (await usage(account)).in_flight === 0);
    },
  );

  test('never more than two at once, also whole answers; a failure gives its slot back', async () => {
    const account = await onPlan('two-slots');
    const refused: number[] = [];
    const burst = Array.from({ length: 12 }, async (_, index) => {
      const { status } = await generate(account, EVERY_FORMAT[index % 3] ?? 'chat', SLOW);
      if (status !== 200) refused.push(status);
    });
    await waitUntil(() => refused.length === 10);
    later.resolve();
    await Promise.all(burst);
    expect(refused).toEqual(new Array(10).fill(429));
    for (let turn = 0; turn < 5; turn += 1) {
      expect((await generate(account, 'chat', 'status-500')).status).toBe(503);
    }
    expect((await usage(account)).in_flight).toBe(0);
  });

  test('a whole answer that its client does not wait for gives its slot back', async () => {
    const account = await onPlan('two-slots');
    const body = requestBody('chat', 'stall-before');
    const abort = new AbortController();
    const leave = () => post(account, PATHS.chat, body, { signal: abort.signal }).catch(() => {});
    const left = [leave(), leave()];
    await waitUntil(async () => (await usage(account)).in_flight === 2);
    abort.abort();
    await Promise.all(left);
    await waitUntil(async () => (await usage(account)).in_flight === 0);
    expect((await generate(account, 'chat', 'ok')).status).toBe(200);
  });

  test.each([
    ['before an upstream has answered', 'stall-before', false],
    ['in the middle of a stream', 'stall', true],
  ] as const)('who leaves %s may ask again at once', async (_, model, hasContent) => {
    // One slot, or money for one hold: what the first request has must be free for the second.
    const plans = ['one-slot', 'wide', 'one-slot', 'wide'];
    const accounts = await Promise.all(plans.map((plan) => onPlan(plan, 9_000)));
    const statuses = accounts.map(async (account) => {
      const seen: number[] = [];
      for (let turn = 0; turn < 8; turn += 1) {
        // A socket, as `fetch` may close the connection only after it has sent the next request.
        using first = await openConnection(account.url);
        const content = crypto.randomUUID();
        const more = { stream: true, messages: [{ role: 'user', content }] };
        const body = JSON.stringify(requestBody('chat', model, more));
        await first.write(wholeRequest(account, PATHS.chat, body));
        await waitUntil(() =>
          hasContent
            ? first.rest().includes('Hello')
            : upstream.requests.some(({ text }) => text.includes(content)),
        );
        first.destroy();
        await first.untilClosed();
        seen.push((await generate(account, 'chat', 'ok')).status);
      }
      return seen;
    });
    const allowed = accounts.map(() => new Array<number>(8).fill(200));
    expect(await Promise.all(statuses)).toEqual(allowed);
  });
});

describe('case 170: caps', () => {
  test.each([
    ['daily', 'today'],
    ['monthly', 'month'],
  ] as const)('%s: reached when what was used reaches it', async (plan, period) => {
    const account = await onPlan(plan);
    const ask = () => generate(account, 'messages', 'ok', { max_tokens: 200 });
    let used = 0;
    while (used + prompt < 300) {
      expect([used, (await ask()).status]).toEqual([used, 200]);
      // A bound above the rest of the cap is lowered to it.
      const body = upstream.requests.findLast((request) => request.model === 'ok')?.body ?? {};
      const bound = body['max_tokens'] ?? body['max_completion_tokens'];
      expect(bound).toBe(Math.min(200, 300 - used - prompt));
      used = (await usage(account))[period].tokens;
    }
    const money = await balance(account);
    const toMidnight = () => Math.ceil((86_400_000 - (Date.now() % 86_400_000)) / 1_000);
    const longest = toMidnight();
    const refused = await ask();
    const wait = expectRefused(refused, `${plan}_limit_exceeded`);
    expect(wait).toBeLessThanOrEqual(longest);
    expect(wait).toBeGreaterThanOrEqual(toMidnight());
    expect(refused.headers.get('x-should-retry')).toBe(wait > 60 ? 'false' : null);
    expect((await usage(account))[period]).toMatchObject({ tokens: used, remaining: 300 - used });
    expect(await balance(account)).toEqual(money);
  });

  test.each(['daily', 'monthly'])(
    '%s: what requests in flight have reserved is not used',
    async (plan) => {
      const account = await onPlan(plan);
      const left = new AbortController();
      const first = await openStream(account, 'chat', 'stall', { max_tokens: 200 }, left.signal);
      expect(first.status).toBe(200);
      const refused = await generate(account, 'messages', 'ok', { max_tokens: 200 });
      expect(expectRefused(refused, 'concurrency_limit_exceeded')).toBe(2);
      const { message } = refused.json['error'] as { readonly message: string };
      expect(message).toContain('Requests in flight have reserved the rest');
      left.abort();
      await waitUntil(async () => (await usage(account)).in_flight === 0);
      await waitUntil(
        async () => (await generate(account, 'chat', 'ok', { max_tokens: 200 })).status === 200,
      );
    },
  );
});

describe('a capacity incident', () => {
  test('lowers one model while it lasts, and the lower number is the one that is shown', async () => {
    const account = await onPlan('three-requests');
    const limits = async () => (await get(account, '/v1/account')).json['model_limits'] as Json[];
    await gateway.run(
      'models',
      'limit',
      'scarce',
      '--requests-per-minute',
      '1',
      '--tokens-per-minute',
      '9000',
    );
    await waitUntil(async () => (await limits()).length === 1);
    expect(await limits()).toMatchObject([
      {
        model: 'scarce',
        requests_per_minute: 1,
        tokens_per_minute: 9_000,
        concurrent_requests: null,
      },
    ]);
    const first = await generate(account, 'chat', 'scarce', { max_tokens: 100 });
    expect([first.status, limitHeaders(first)]).toEqual([
      200,
      { requests: ['1', '0'], tokens: ['9000', String(9_000 - prompt - 100)] },
    ]);
    const refused = await generate(account, 'chat', 'scarce', { max_tokens: 100 });
    expectRefused(refused, 'rate_limit_exceeded');
    expect(limitHeaders(refused).requests).toEqual(['1', '0']);
    const other = await generate(account, 'chat', 'plenty', { max_tokens: 100 });
    expect([other.status, limitHeaders(other).requests]).toEqual([200, ['3', '1']]);

    await gateway.run('models', 'limit', 'scarce', '--clear');
    await waitUntil(async () => (await limits()).length === 0);
    const after = await generate(account, 'chat', 'scarce', { max_tokens: 100 });
    expect([after.status, limitHeaders(after).requests]).toEqual([200, ['3', '0']]);
    // The plan's own limit was always enforced too.
    expectRefused(await generate(account, 'chat', 'scarce'), 'rate_limit_exceeded');
  });
});

test('a change of plan takes effect, and what was used stays used', async () => {
  const account = await onPlan('three-requests');
  for (let turn = 0; turn < 3; turn += 1) await generate(account, 'chat', 'ok');
  expectRefused(await generate(account, 'chat', 'ok'), 'rate_limit_exceeded');
  await gateway.run('account', 'plan', account.id, 'wide');
  let answer = await generate(account, 'chat', 'ok');
  await waitUntil(async () => {
    if (answer.status === 429) answer = await generate(account, 'chat', 'ok');
    return answer.status !== 429;
  });
  expect([answer.status, limitHeaders(answer).requests]).toEqual([200, ['1000', '996']]);
});

test('counting tokens is free, outside the budgets, and has a window of its own', async () => {
  const account = await onPlan('three-requests');
  const money = await balance(account);
  for (let turn = 0; turn < 3; turn += 1) {
    const counted = await count(account);
    expect([counted.status, await counted.json()]).toEqual([200, { input_tokens: prompt }]);
  }
  const refused = await count(account);
  expect(refused.status).toBe(429);
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
  expect(await refused.json()).toMatchObject({ error: { code: 'rate_limit_exceeded' } });
  expect(await balance(account)).toEqual(money);
  expect(await usage(account)).toMatchObject({
    requests_this_minute: { used: 0, remaining: 3 },
    tokens_this_minute: { used: 0 },
    today: { tokens: 0 },
  });
  for (let turn = 0; turn < 3; turn += 1) {
    expect((await generate(account, 'messages', 'ok')).status).toBe(200);
  }
});

describe('cases 172, 173 and 174: context', () => {
  const WORDS = {
    chat: /maximum context length is (\d+) tokens/,
    messages: /(prompt is too long|exceed context limit): .*> ?(\d+)/,
  } as const;

  test.each([
    ['chat', 'small-context', 'ok', 1_000],
    ['messages', 'small-context', 'ok', 1_000],
    ['chat', 'wide', 'short', 500],
    ['messages', 'wide', 'short', 500],
  ] as const)(
    '%s on plan %s with model %s: %d tokens and not one more',
    async (format, plan, model, context) => {
      const account = await onPlan(plan);
      const fits = await generate(account, format, model, { max_tokens: context - prompt });
      expect(fits.status).toBe(200);
      const long = [{ role: 'user', content: 'word '.repeat(context) }];
      for (const more of [
        { max_tokens: context - prompt + 1 },
        { messages: long, max_tokens: 1 },
      ]) {
        const refused = await generate(account, format, model, more);
        const error = refused.json['error'] as Json;
        expect([refused.status, error['code'], error['param']]).toEqual([
          400,
          'context_length_exceeded',
          'messages' in more ? 'messages' : 'max_tokens',
        ]);
        const words = WORDS[format].exec(String(error['message']));
        expect([error['message'], words?.at(-1)]).toEqual([error['message'], String(context)]);
      }
      // A request that was read and refused uses up one of the minute.
      expect((await usage(account)).requests_this_minute.used).toBe(3);
    },
  );

  test('without a bound of the caller, what is left of the window is the bound', async () => {
    const account = await onPlan('small-context');
    expect((await generate(account, 'chat', 'ok')).status).toBe(200);
    const body = upstream.requests.findLast((request) => request.model === 'ok')?.body ?? {};
    expect(body['max_tokens'] ?? body['max_completion_tokens']).toBe(1_000 - prompt);
  });
});

test('refusals for any other reason consume a request of the minute, and nothing else', async () => {
  const [poor, narrow] = await Promise.all([onPlan('wide', 1), onPlan('narrow')]);
  const refusals = await Promise.all([
    generate(poor, 'chat', 'ok'),
    generate(poor, 'messages', 'ok', { max_tokens: 8_000 }),
    generate(narrow, 'chat', 'plenty'),
    generate(narrow, 'messages', 'no-such-model'),
    generate(narrow, 'chat', 'ok', { messages: 'none' }),
  ]);
  expect(refusals.map((answer) => answer.status)).toEqual([402, 402, 403, 404, 400]);
  for (const [account, used] of [
    [poor, 2],
    [narrow, 3],
  ] as const) {
    expect(await usage(account)).toMatchObject({
      requests_this_minute: { used, remaining: 1_000 - used },
      tokens_this_minute: { used: 0 },
      in_flight: 0,
      today: { tokens: 0 },
    });
    expect(await balance(account)).toMatchObject({ reserved: '0' });
  }
});

test('the headers of a refusal for lack of money count the request, and not its tokens', async () => {
  const poor = await onPlan('three-requests', 1);
  const refused = await generate(poor, 'chat', 'ok');
  expect([refused.status, limitHeaders(refused)]).toMatchObject([
    402,
    { requests: ['3', '2'], tokens: ['1000000', '1000000'] },
  ]);
});
