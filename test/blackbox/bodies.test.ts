// Bodies of requests that no limit has admitted yet: how many and how much of them an account may have
// on their way, how fast they have to arrive, and that a refused one uses a request of the minute. Runs
// against the executable.

import { beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { ARRIVING_MORE } from '../../src/generate/entrance.ts';
import { createAccounts } from '../support/accounts.ts';
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

setDefaultTimeout(120_000);

const BODY_MAX = 2_097_152;
const COUNT = `${PATHS.messages}/count_tokens`;

/** Their bodies would take 300 MB together. */
const UNFINISHED = 150;

/** What a slow sender sends in a second. */
const SLOW_BYTES = 16_000;

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
        four: { ...LARGE_PLAN, requests_per_minute: 60, concurrent_requests: 4 },
        hundred: { ...LARGE_PLAN, requests_per_minute: 3_000, concurrent_requests: 100 },
      },
    }),
  });
});

closeAtEnd(() => [upstream, gateway]);

const newAccount = (plan: string): Promise<TestAccount> =>
  gateway.createAccount({ plan, credit: 100_000_000 });

/** Below the least that a request reserves. */
const NO_BALANCE = 0.5;

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

describe('connections that send nothing', () => {
  type Attack = readonly [
    name: string,
    accounts: number,
    plan: string,
    credit: number,
    path: string,
    large: number,
    small: number,
  ];
  const ATTACKS: readonly Attack[] = [
    ['33 accounts without a balance', 33, 'four', NO_BALANCE, PATHS.chat, 8, 40],
    ['33 accounts with one', 33, 'four', 1_000, PATHS.messages, 8, 40],
    ['33 accounts that count tokens', 33, 'four', NO_BALANCE, COUNT, 8, 40],
    ['4 accounts of a large plan without a balance', 4, 'hundred', NO_BALANCE, PATHS.chat, 64, 200],
    ['4 accounts of a large plan with one', 4, 'hundred', 1_000, PATHS.chat, 64, 200],
  ];

  test.each(ATTACKS)(
    'of %s keep no other customer out',
    async (_name, count, plan, credit, path, large, small) => {
      const customer = await newAccount('large');
      const attackers = await createAccounts(gateway, count, { plan, credit });
      const open = (bytes: number, many: number) =>
        attackers.flatMap((account) =>
          Array.from({ length: many }, () => stall(account, path, [lengthLine(bytes)])),
        );
      const silent = await Promise.all([...open(BODY_MAX, large), ...open(65_536, small)]);
      for (let round = 0; round < 10; round += 1) {
        for (const bytes of [1_000, 60_000, 80_000]) {
          expect([bytes, (await post(customer, PATHS.chat, padded(bytes))).status]).toEqual([
            bytes,
            200,
          ]);
        }
      }
      for (const connection of silent) connection.destroy();
    },
  );

  test('are slots of their account, with a few more, until they are refused', async () => {
    const account = await newAccount('one-slot');
    const path = [PATHS.chat, PATHS.messages];
    const silent = await Promise.all(
      Array.from({ length: 1 + ARRIVING_MORE }, (_, index) =>
        stall(account, path[index % 2] ?? '', [lengthLine(index % 3 === 0 ? 100 : BODY_MAX)]),
      ),
    );
    let answer: RawAnswer | undefined;
    await waitUntil(async () => {
      using next = await stall(account, PATHS.chat, [lengthLine(100)]);
      answer = await Promise.race([next.answer(), Bun.sleep(500).then(() => undefined)]);
      return answer !== undefined;
    });
    expect(codeOf(answer)).toEqual([429, 'concurrency_limit_exceeded']);
    expect(answer?.headers['retry-after']).toBe('2');
    for (const connection of silent) {
      expect(codeOf(await connection.answer())).toEqual([400, 'invalid_request']);
      await connection.untilClosed();
    }
    expect((await generate(account, 'chat', 'ok')).status).toBe(200);
  });
});

describe('the pace of a body', () => {
  const WAYS: readonly (readonly [string, string, (bytes: Buffer) => string | Uint8Array])[] = [
    ['a declared length', lengthLine(160_000), (bytes) => bytes],
    ['chunks', 'transfer-encoding: chunked', chunk],
  ];
  const body = Buffer.from(padded(160_000));

  test.concurrent.each(WAYS)('of 16 KB a second is served (%s)', async (_name, line, framed) => {
    const account = await newAccount('one-slot');
    using connection = await stall(account, PATHS.chat, [line]);
    for (let sent = 0; sent < body.length; sent += SLOW_BYTES) {
      await connection.write(framed(body.subarray(sent, sent + SLOW_BYTES)));
      // The pace is what is tested, so it has to be kept.
      await Bun.sleep(1_000);
    }
    if (line.startsWith('transfer')) await connection.write('0\r\n\r\n');
    expect((await connection.answer())?.status).toBe(200);
  });

  test.concurrent.each([
    ['nothing', 0, 0],
    ['one kilobyte', 1_000, 0],
    ['a burst and then nothing', 150_000, 0],
    ['four kilobytes a second', 4_000, 4_000],
  ])('of %s is refused within some seconds', async (_name, first, more) => {
    const account = await newAccount('one-slot');
    for (const [, line, framed] of WAYS) {
      using connection = await stall(account, PATHS.chat, [line]);
      const startedAt = performance.now();
      if (first > 0) await connection.write(framed(body.subarray(0, first)));
      const answered = connection.answer();
      const trickle = setInterval(() => {
        if (more > 0) void connection.write(framed(body.subarray(0, more)));
      }, 1_000);
      expect(codeOf(await answered)).toEqual([400, 'invalid_request']);
      clearInterval(trickle);
      expect(performance.now() - startedAt).toBeLessThan(first > 20_000 ? 10_000 : 5_000);
      await connection.untilClosed();
    }
  });
});

describe('bodies on their way', () => {
  type Row = readonly [name: string, path: string, headers: readonly string[]];
  const WAYS: readonly Row[] = [
    ['a chat completion', PATHS.chat, []],
    ['a message', PATHS.messages, []],
    ['a request with an Idempotency-Key', PATHS.chat, ['idempotency-key: large']],
    ['a count of tokens', COUNT, []],
  ];
  const unfinished = Buffer.alloc(BODY_MAX - 2_000, ' ');

  test.each(WAYS)(
    '%s: an account has at most two of the largest for each concurrent request',
    async (_name, path, more) => {
      const [account, other] = await Promise.all([newAccount('one-slot'), newAccount('one-slot')]);
      const large = [lengthLine(BODY_MAX - 1_000), ...more];
      const three = [
        await stall(account, path, large),
        await stall(account, path, large),
        await stall(account, path, large),
      ];
      for (const connection of three) void connection.write(unfinished);
      const answer = await Promise.race(three.map((connection) => connection.answer()));
      expect(codeOf(answer)).toEqual([429, 'concurrency_limit_exceeded']);
      expect(answer?.headers['retry-after']).toBe('2');

      // A small one of the same account fits beside them, and a large one of another account does.
      expect((await generate(account, 'chat', 'ok')).status).toBe(200);
      expect((await post(other, PATHS.chat, padded(BODY_MAX))).status).toBe(200);

      for (const connection of three) connection.destroy();
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
    // Two of them wait for the rest, until that is late.
    await waitUntil(() => stalled.filter(({ rest }) => rest() !== '').length >= UNFINISHED - 2);
    expect(residentMb() - before).toBeLessThan(150);
    for (const connection of stalled) connection.destroy();
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
    const pieces = Buffer.concat([piece, piece]);
    // There is room for two, and any of the three may be the last to arrive.
    const three = await Promise.all(
      Array.from({ length: 3 }, () => stall(account, PATHS.chat, chunked)),
    );
    for (const connection of three) void connection.write(pieces);
    const answer = await Promise.race(three.map((connection) => connection.answer()));
    expect(codeOf(answer)).toEqual([429, 'concurrency_limit_exceeded']);
    for (const connection of three) connection.destroy();
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

  test('no balance, which is refused before the body: 402', async () => {
    const account = await gateway.createAccount({ plan: 'three-requests', credit: NO_BALANCE });
    for (const [used, [path, more]] of WAYS.entries()) {
      const lines = Object.entries(more).map(([name, value]) => `${name}: ${value}`);
      const answer = await answerToHead(account, path, [lengthLine(100), ...lines]);
      expect(codeOf(answer)).toEqual([402, 'insufficient_balance']);
      expect(answer?.headers['x-ratelimit-remaining-requests']).toBe(String(2 - used));
    }
    const answer = await answerToHead(account, PATHS.chat);
    expect(codeOf(answer)).toEqual([429, 'rate_limit_exceeded']);
    // Counting is free.
    expect((await post(account, COUNT, requestBody('messages', 'ok'))).status).toBe(200);
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
    expect((await askKeyed(account, 'name', 'stall', first)).status).toBe(409);
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
