// Bodies of requests that no limit has admitted yet: how much of them one account and all accounts
// may have on their way, and that a refused one uses a request of the minute. Runs against the
// executable.

import { beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { catalogFor, LARGE_PLAN } from '../support/catalog.ts';
import {
  type Caller,
  generate,
  get,
  openStream,
  PATHS,
  post,
  requestBody,
} from '../support/client.ts';
import { closeAtEnd, type Gateway, startGateway, type TestAccount } from '../support/gateway.ts';
import { askKeyed, isReplayed, openKeyed } from '../support/keyed.ts';
import {
  chunk,
  openConnection,
  type RawAnswer,
  type RawConnection,
  requestHead,
} from '../support/raw.ts';
import { startUpstream, type Upstream, waitUntil } from '../support/upstream.ts';

setDefaultTimeout(30_000);

const BODY_MAX = 2_097_152;
const COUNT = `${PATHS.messages}/count_tokens`;

/** A quarter of the server's room for bodies, in bodies of the largest size. */
const ACCOUNT_BODIES = 64;

/** Their bodies would take 300 MB together. */
const UNFINISHED = 150;

let upstream: Upstream;
let gateway: Gateway;

beforeAll(async () => {
  upstream = await startUpstream();
  gateway = await startGateway({
    catalog: catalogFor(upstream, ['ok', 'stall'], {
      model: { context_window: 10_000_000 },
      plans: {
        large: LARGE_PLAN,
        'one-slot': { ...LARGE_PLAN, concurrent_requests: 1 },
        'two-slots': { ...LARGE_PLAN, concurrent_requests: 2 },
        'three-requests': { ...LARGE_PLAN, requests_per_minute: 3 },
      },
    }),
  });
});

closeAtEnd(() => [upstream, gateway]);

const newAccount = (plan: string): Promise<TestAccount> =>
  gateway.createAccount({ plan, credit: 100_000_000 });

const lengthLine = (bytes: number): string => `content-length: ${bytes}`;

const padded = (bytes: number): string =>
  JSON.stringify(requestBody('chat', 'ok')).padEnd(bytes, ' ');

const codeOf = (answer: RawAnswer | undefined): unknown =>
  answer === undefined ? undefined : [answer.status, JSON.parse(answer.text).error.code];

/** Sends the beginning of a body and stops. */
async function stall(
  caller: Caller,
  path: string,
  headers: readonly string[],
): Promise<RawConnection> {
  const connection = await openConnection(gateway.url);
  await connection.write(requestHead(caller, path, headers));
  return connection;
}

/** The answer to a request of which no byte of the body is sent. */
async function answerToHead(
  caller: Caller,
  path: string,
  headers: readonly string[] = [lengthLine(100)],
): Promise<RawAnswer | undefined> {
  using connection = await stall(caller, path, headers);
  return await connection.answer();
}

function residentMb(): number {
  const status = readFileSync(`/proc/${gateway.pid}/status`, 'utf8');
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1_024;
}

type Usage = { readonly in_flight: number; readonly requests_this_minute: { used: number } };

async function usage(caller: Caller): Promise<Usage> {
  return (await get(caller, '/v1/account')).json['usage'] as Usage;
}

const requestsUsed = async (caller: Caller): Promise<number> =>
  (await usage(caller)).requests_this_minute.used;

describe('bodies on their way', () => {
  type Row = readonly [name: string, path: string, headers: readonly string[]];
  const WAYS: readonly Row[] = [
    ['a chat completion', PATHS.chat, []],
    ['a message', PATHS.messages, []],
    ['a request with an Idempotency-Key', PATHS.chat, ['idempotency-key: large']],
    ['a count of tokens', COUNT, []],
  ];

  test.each(WAYS)(
    '%s: an account has at most two of the largest for each concurrent request',
    async (_name, path, more) => {
      const [account, other] = await Promise.all([newAccount('one-slot'), newAccount('one-slot')]);
      const large = [lengthLine(BODY_MAX - 1_000), ...more];
      using first = await stall(account, path, large);
      using second = await stall(account, path, large);
      await Promise.all([first.write('{'), second.write('{')]);
      let answer: RawAnswer | undefined;
      await waitUntil(async () => {
        using third = await stall(account, path, large);
        answer = await Promise.race([third.answer(), Bun.sleep(50).then(() => undefined)]);
        return answer !== undefined;
      });
      expect(codeOf(answer)).toEqual([429, 'concurrency_limit_exceeded']);
      expect(answer?.headers['retry-after']).toBe('2');

      // A small one of the same account fits beside them, and a large one of another account does.
      expect((await generate(account, 'chat', 'ok')).status).toBe(200);
      expect((await post(other, PATHS.chat, padded(BODY_MAX))).status).toBe(200);

      first.destroy();
      await waitUntil(
        async () => (await post(account, PATHS.chat, padded(BODY_MAX - 1_000))).status === 200,
      );
    },
  );

  test.each([
    ['of a declared length', lengthLine(BODY_MAX), Buffer.alloc(BODY_MAX - 1_000, ' ')],
    ['in chunks', 'transfer-encoding: chunked', chunk(Buffer.alloc(BODY_MAX - 1_000, ' '))],
  ])('unfinished bodies %s take no memory beyond that', async (_name, framing, bytes) => {
    const account = await newAccount('one-slot');
    const before = residentMb();
    const stalled = await Promise.all(
      Array.from({ length: UNFINISHED }, () => stall(account, PATHS.chat, [framing])),
    );
    await Promise.all(stalled.map((connection) => connection.write(bytes)));
    // Two of them wait for the rest.
    await waitUntil(() => stalled.filter(({ rest }) => rest() !== '').length === UNFINISHED - 2);
    expect(residentMb() - before).toBeLessThan(150);
    for (const connection of stalled) connection.destroy();
  });

  test('repeats that wait for an answer keep theirs, and its first request does not', async () => {
    const account = await newAccount('two-slots');
    const bytes = BODY_MAX - 1_000;
    const body = JSON.stringify(requestBody('chat', 'stall')).padEnd(bytes, ' ');
    const ask = async (): Promise<RawConnection> => {
      const lines = [lengthLine(bytes), 'idempotency-key: waits'];
      const connection = await stall(account, PATHS.chat, lines);
      await connection.write(body);
      return connection;
    };
    using first = await ask();
    await waitUntil(async () => (await usage(account)).in_flight === 1);
    const repeats = [await ask(), await ask(), await ask()];
    await waitUntil(async () => (await requestsUsed(account)) === 4);

    // There is room for four.
    using fourth = await stall(account, PATHS.chat, [lengthLine(bytes)]);
    await fourth.write('{');
    let answer: RawAnswer | undefined;
    await waitUntil(async () => {
      using fifth = await stall(account, PATHS.chat, [lengthLine(bytes)]);
      answer = await Promise.race([fifth.answer(), Bun.sleep(50).then(() => undefined)]);
      return answer !== undefined;
    });
    expect(codeOf(answer)).toEqual([429, 'concurrency_limit_exceeded']);
    expect([fourth.rest(), first.rest()]).toEqual(['', '']);

    for (const repeat of repeats) repeat.destroy();
    await waitUntil(async () => (await post(account, PATHS.chat, padded(bytes))).status === 200);
  });

  test('a length that was sent twice is a length', async () => {
    const account = await newAccount('large');
    const twice = [lengthLine(500_000_000), lengthLine(500_000_000)];
    const answer = await answerToHead(account, PATHS.chat, twice);
    expect(codeOf(answer)).toEqual([413, 'payload_too_large']);
  });

  test('a chunked body counts as it arrives', async () => {
    const account = await newAccount('one-slot');
    const chunked = ['transfer-encoding: chunked'];
    const piece = chunk(' '.repeat(1_000_000));
    const stalled = await Promise.all(
      Array.from({ length: 2 }, () => stall(account, PATHS.chat, chunked)),
    );
    for (const connection of stalled) {
      await connection.write(piece);
      await connection.write(piece);
    }
    await waitUntil(async () => {
      const { status } = await post(account, PATHS.chat, padded(500_000));
      return status === 429;
    });
    using late = await stall(account, PATHS.chat, chunked);
    await late.write(piece);
    expect(codeOf(await late.answer())).toEqual([429, 'concurrency_limit_exceeded']);
    for (const connection of stalled) connection.destroy();
  });

  test('accounts that use up the room for large bodies leave room for small ones', async () => {
    const accounts = await Promise.all(Array.from({ length: 4 }, () => newAccount('large')));
    const [quiet, ...loud] = accounts;
    if (quiet === undefined) throw new Error('there are four accounts');
    const stalled = await Promise.all(
      loud.flatMap((account) =>
        Array.from({ length: ACCOUNT_BODIES }, () =>
          stall(account, PATHS.chat, [lengthLine(BODY_MAX)]),
        ),
      ),
    );
    const large = () => post(quiet, PATHS.chat, padded(100_000));
    await waitUntil(async () => (await large()).status === 503);
    const refused = await large();
    expect(await refused.json()).toMatchObject({ error: { code: 'provider_unavailable' } });
    // None of them has more than its share.
    for (const account of loud) {
      expect(codeOf(await answerToHead(account, PATHS.chat))).toEqual([
        429,
        'concurrency_limit_exceeded',
      ]);
    }
    expect((await generate(quiet, 'chat', 'ok')).status).toBe(200);
    expect(await requestsUsed(quiet)).toBe(1);
    for (const connection of stalled) connection.destroy();
    await waitUntil(async () => (await large()).status === 200);
  });
});

describe('a refused body uses a request of the minute', () => {
  const deep = '['.repeat(65) + ']'.repeat(65);
  const members = `{${Array.from({ length: 100_001 }, (_, index) => `"${index}":0`).join()}}`;
  type Row = readonly [
    name: string,
    status: number,
    body: string | Uint8Array,
    headers?: Readonly<Record<string, string>>,
  ];
  const ROWS: readonly Row[] = [
    ['no JSON', 400, '{'],
    ['nothing', 400, ''],
    ['no UTF-8', 400, new Uint8Array([0x22, 0xff, 0x22])],
    ['too deep', 400, deep],
    ['too many members', 400, members],
    ['compressed', 415, Bun.gzipSync(padded(100)), { 'content-encoding': 'gzip' }],
    ['a form', 415, 'a=1', { 'content-type': 'application/x-www-form-urlencoded' }],
    ['too large', 413, padded(BODY_MAX + 1)],
  ];
  const WAYS: readonly (readonly [string, Readonly<Record<string, string>>])[] = [
    [PATHS.chat, {}],
    [PATHS.messages, {}],
    [PATHS.chat, { 'idempotency-key': 'refused' }],
  ];

  test.each(ROWS)('%s: %d', async (_name, status, body, headers = {}) => {
    const account = await newAccount('large');
    for (const [used, [path, more]] of WAYS.entries()) {
      const response = await fetch(`${gateway.url}${path}`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${account.key}`,
          'content-type': 'application/json',
          ...headers,
          ...more,
        },
        body,
      });
      expect([path, response.status]).toEqual([path, status]);
      expect([path, await requestsUsed(account)]).toEqual([path, used + 1]);
    }
  });

  test('one that breaks off', async () => {
    const account = await newAccount('large');
    const connection = await stall(account, PATHS.chat, [lengthLine(1_000)]);
    await connection.write('{');
    connection.destroy();
    await waitUntil(async () => (await requestsUsed(account)) === 1);
  });

  test.each(WAYS)(
    'and a full window refuses the next before its body: %s %o',
    async (path, more) => {
      const account = await newAccount('three-requests');
      for (let sent = 0; sent < 3; sent += 1) {
        expect((await post(account, path, '{', { headers: more })).status).toBe(400);
      }
      const lines = Object.entries(more).map(([name, value]) => `${name}: ${value}`);
      const answer = await answerToHead(account, path, [lengthLine(100), ...lines]);
      expect(codeOf(answer)).toEqual([429, 'rate_limit_exceeded']);
    },
  );
});

describe('an account without a free slot', () => {
  test('is refused before its body, as often as it asks and for free', async () => {
    const account = await newAccount('one-slot');
    const leave = new AbortController();
    expect((await openStream(account, 'chat', 'stall', {}, leave.signal)).status).toBe(200);
    for (const path of [PATHS.chat, PATHS.messages]) {
      for (let asked = 0; asked < 3; asked += 1) {
        const answer = await answerToHead(account, path);
        expect(codeOf(answer)).toEqual([429, 'concurrency_limit_exceeded']);
        expect(answer?.headers['retry-after']).toBe('2');
        expect(answer?.headers['x-ratelimit-remaining-requests']).toBe('99999');
      }
    }
    expect(await requestsUsed(account)).toBe(1);
    leave.abort();
    await waitUntil(async () => (await generate(account, 'chat', 'ok')).status === 200);
  });

  test('gets repeats, which need none', async () => {
    const account = await newAccount('one-slot');
    const leave = new AbortController();
    const first = { stream: true, signal: leave.signal };
    expect((await openKeyed(account, 'name', 'stall', first)).status).toBe(200);
    expect((await usage(account)).in_flight).toBe(1);
    const repeat = await openKeyed(account, 'name', 'stall', first);
    expect([repeat.status, repeat.headers.get('x-svc-replayed')]).toEqual([200, 'true']);
    const named = (key: string) => [lengthLine(100), `idempotency-key: ${key}`];
    expect(codeOf(await answerToHead(account, PATHS.chat, named('other')))).toEqual([
      429,
      'concurrency_limit_exceeded',
    ]);
    leave.abort();
  });

  test('gets the repeat of an answer that is named by its body', async () => {
    const account = await newAccount('one-slot');
    expect((await askKeyed(account, '@body', 'ok')).status).toBe(200);
    const leave = new AbortController();
    expect((await openStream(account, 'chat', 'stall', {}, leave.signal)).status).toBe(200);
    const repeat = await askKeyed(account, '@body', 'ok');
    expect([repeat.status, isReplayed(repeat)]).toEqual([200, true]);
    expect((await askKeyed(account, '@body', 'stall')).status).toBe(429);
    leave.abort();
  });
});

describe('a body that would take long to read or to write', () => {
  const user = (content: unknown) => ({ role: 'user', content });
  const many = <T>(count: number, of: (index: number) => T): T[] =>
    Array.from({ length: count }, (_, index) => of(index));
  const named = (count: number) => Object.fromEntries(many(count, (index) => [`name ${index}`, 1]));
  const image = { type: 'image_url', image_url: 'data:image/png;base64,AAAA' };
  const block = { type: 'image', source: { type: 'base64', data: 'iVBORw0KGgo=' } };
  const call = (index: number) => ({
    id: `call_${index}`,
    type: 'function',
    function: { name: 'f', arguments: '{}' },
  });
  const use = (index: number) => ({ type: 'tool_use', id: `t${index}`, name: 'f', input: {} });
  const asked = { role: 'user', content: 'Hello?' };

  test.each([
    ['chat', '12,000 images', [user(many(12_000, () => image))], 'at most 2000'],
    ['messages', '12,000 images', [user(many(12_000, () => block))], 'at most 2000'],
    [
      'chat',
      '9,000 tool calls',
      [asked, { role: 'assistant', content: null, tool_calls: many(9_000, call) }],
      'at most 4096',
    ],
    [
      'messages',
      '9,000 tool calls',
      [asked, { role: 'assistant', content: many(9_000, use) }],
      'at most 4096',
    ],
    ['chat', '24,000 images', [user(many(24_000, () => image))], 'at most 2000'],
    [
      'messages',
      'an input of 45,000 names',
      [asked, { role: 'assistant', content: [{ ...use(0), input: named(45_000) }] }],
      'more than 10000 different names',
    ],
  ] as const)('is refused before any upstream, %s: %s', async (format, _name, messages, limit) => {
    const account = await newAccount('large');
    const before = upstream.requests.length;
    const { status, json } = await generate(account, format, 'ok', { messages });
    expect([status, JSON.stringify(json)]).toEqual([400, expect.stringContaining(limit)]);
    expect(upstream.requests.length).toBe(before);
  });

  test('is served up to the limits', async () => {
    const account = await newAccount('large');
    const calls = many(4_096, call);
    const results = calls.slice(0, 190).map(({ id }) => ({
      role: 'tool',
      tool_call_id: id,
      content: 'done',
    }));
    const messages = [
      user(many(2_000, () => image)),
      { role: 'assistant', content: null, tool_calls: calls },
      ...results,
      asked,
    ];
    expect((await generate(account, 'chat', 'ok', { messages })).status).toBe(200);
  });
});
