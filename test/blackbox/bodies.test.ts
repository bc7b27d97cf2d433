// Bodies of requests that no limit has admitted yet: how much of them one account and all accounts
// may have on their way. Runs against the executable.

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { catalogFor, LARGE_PLAN } from '../support/catalog.ts';
import { type Caller, generate, get, PATHS, post, requestBody } from '../support/client.ts';
import { type Gateway, startGateway, type TestAccount } from '../support/gateway.ts';
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
    catalog: catalogFor(upstream, ['ok'], {
      model: { context_window: 10_000_000 },
      plans: {
        large: LARGE_PLAN,
        'one-slot': { ...LARGE_PLAN, concurrent_requests: 1 },
      },
    }),
  });
});

afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  await upstream.close();
});

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
