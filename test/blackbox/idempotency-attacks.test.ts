// What a caller with an `Idempotency-Key` cannot get: the answer of another key or account, one that
// its own key may no longer read, more memory, more requests, or an answer without a charge.

import { beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { connect } from 'node:net';
import { play, SAYS_HELLO } from '../support/behaviours.ts';
import { catalogFor, LARGE_PLAN } from '../support/catalog.ts';
import { type Caller, PATHS, requestBody } from '../support/client.ts';
import { describeOnEachDatabase } from '../support/database.ts';
import { closeAtEnd, type Gateway, startGateway, type TestAccount } from '../support/gateway.ts';
import {
  askEnded,
  askKeyed,
  codeOf,
  isReplayed,
  type KeyedAnswer,
  openKeyed,
  spentBy,
} from '../support/keyed.ts';
import { parseMetrics } from '../support/metrics.ts';
import { startUpstream, type Upstream, waitUntil } from '../support/upstream.ts';

setDefaultTimeout(30_000);

const CREDIT = 1_000_000;
const PRICE = 16.4;

const outcomeOf = (answer: KeyedAnswer): readonly unknown[] => [
  answer.status,
  answer.status === 200 ? isReplayed(answer) : codeOf(answer),
];

describeOnEachDatabase('an attacker with an Idempotency-Key', () => {
  let upstream: Upstream;
  let gateway: Gateway;
  /** Resolve it, and `halts` goes on. */
  const goOn = Promise.withResolvers<void>();

  const newAccount = (plan = 'large', credit: number | string = CREDIT): Promise<TestAccount> =>
    gateway.createAccount({ plan, credit });

  const newKey = async (account: TestAccount): Promise<Caller & { readonly keyId: string }> => {
    const { key, api_key } = await gateway.run('key', 'create', account.id);
    return { url: account.url, key: String(key), keyId: (api_key as { id: string }).id };
  };

  /** After the operator's command the running server refuses within a second. */
  const until = async (ask: () => Promise<KeyedAnswer>, status: number): Promise<KeyedAnswer> => {
    let answer = await ask();
    await waitUntil(async () => {
      if (answer.status !== status) answer = await ask();
      return answer.status === status;
    });
    return answer;
  };

  beforeAll(async () => {
    upstream = await startUpstream({
      halts: play(SAYS_HELLO, goOn.promise),
    });
    gateway = await startGateway({
      catalog: catalogFor(upstream, ['ok', 'stall', 'halts', 'tokens-4000'], {
        model: { max_output: 10_000 },
        plans: {
          large: LARGE_PLAN,
          'one-slot': { ...LARGE_PLAN, concurrent_requests: 1 },
          'five-a-minute': { ...LARGE_PLAN, requests_per_minute: 5 },
          'few-tokens': { ...LARGE_PLAN, tokens_per_minute: 10_050 },
        },
      }),
    });
  });

  closeAtEnd(() => [upstream, gateway]);

  test('gets nothing of another account or of another API key, and cannot block its names', async () => {
    const [account, stranger] = [await newAccount(), await newAccount()];
    const colleague = await newKey(account);
    expect(outcomeOf(await askKeyed(account, 'k', 'ok'))).toEqual([200, false]);
    for (const other of [stranger, colleague]) {
      const asked = await askKeyed(other, 'k', 'ok', { more: { temperature: 1 } });
      expect(outcomeOf(asked)).toEqual([200, false]);
    }
    expect(outcomeOf(await askKeyed(account, 'k', 'ok'))).toEqual([200, true]);
    expect([await spentBy(account, CREDIT), await spentBy(stranger, CREDIT)]).toEqual([
      2 * PRICE,
      PRICE,
    ]);
  });

  test('gets nothing with a revoked key, a blocked key or a blocked account', async () => {
    const account = await newAccount();
    const [revoked, blocked] = [await newKey(account), await newKey(account)];
    for (const caller of [account, revoked, blocked]) await askKeyed(caller, 'k', 'ok');
    await gateway.run('key', 'revoke', revoked.keyId);
    const afterRevocation = await until(() => askKeyed(revoked, 'k', 'ok'), 401);
    expect(codeOf(afterRevocation)).toBe('invalid_api_key');
    await gateway.run('block', 'add', 'key', blocked.key);
    expect(codeOf(await until(() => askKeyed(blocked, 'k', 'ok'), 403))).toBe('api_key_blocked');
    await gateway.run('block', 'add', 'account', account.id);
    expect(codeOf(await until(() => askKeyed(account, 'k', 'ok'), 403))).toBe('account_blocked');
  });

  test('gets a repeat with an empty balance, because it is paid, and nothing else', async () => {
    const account = await newAccount('large', '30');
    expect(outcomeOf(await askKeyed(account, 'k', 'ok', { more: { max_tokens: 5 } }))).toEqual([
      200,
      false,
    ]);
    expect(await spentBy(account, 30)).toBe(PRICE);
    const repeat = await askKeyed(account, 'k', 'ok', { more: { max_tokens: 5 } });
    expect(outcomeOf(repeat)).toEqual([200, true]);
    expect(outcomeOf(await askKeyed(account, 'new', 'ok'))).toEqual([402, 'insufficient_balance']);
  });

  test('is refused with a key that is huge or no text, before anything is read', async () => {
    const account = await newAccount();
    for (const key of ['a'.repeat(256), 'a'.repeat(8_000), '""', 'sch\u00fcssel']) {
      const refused = await askKeyed(account, key, 'ok');
      expect(outcomeOf(refused)).toEqual([400, 'invalid_request']);
      expect(JSON.parse(refused.text).error.param).toBe('Idempotency-Key');
    }
    expect(await spentBy(account, CREDIT)).toBe(0);
  });

  test('uses a request of the minute with each repeat, and no tokens', async () => {
    const account = await newAccount('five-a-minute');
    const asked = [];
    for (let count = 0; count < 6; count += 1) asked.push(await askKeyed(account, 'k', 'ok'));
    expect(asked.map(outcomeOf)).toEqual([
      [200, false],
      ...Array.from({ length: 4 }, () => [200, true]),
      [429, 'rate_limit_exceeded'],
    ]);
    const left = asked.map(({ headers }) => headers['x-ratelimit-remaining-requests']);
    expect(left).toEqual(['4', '3', '2', '1', '0', '0']);
    const tokens = asked.map(({ headers }) => headers['x-ratelimit-remaining-tokens']);
    expect(new Set(tokens).size).toBe(1);
    expect(await spentBy(account, CREDIT)).toBe(PRICE);
  });

  test('that is refused by a limit claims nothing: the same key works later', async () => {
    const account = await newAccount('one-slot');
    const running = new AbortController();
    const stalled = await openKeyed(account, undefined, 'stall', {
      ...{ stream: true, signal: running.signal },
    });
    const refused = await Promise.all(
      Array.from({ length: 5 }, () => askKeyed(account, 'k', 'ok')),
    );
    // Used here so that it is not collected before: that would close its connection.
    expect([stalled.status, stalled.bodyUsed]).toEqual([200, false]);
    expect(new Set(refused.map(({ status }) => status))).toEqual(new Set([429]));
    running.abort();
    const answer = await until(() => askKeyed(account, 'k', 'ok'), 200);
    expect(outcomeOf(answer)).toEqual([200, false]);
  });

  test('does not keep its own answer from its end by not reading', async () => {
    const account = await newAccount();
    const before = upstream.requests.length;
    const url = new URL(account.url);
    const body = JSON.stringify(requestBody('chat', 'tokens-4000', { stream: true }));
    const idle = connect({ host: url.hostname, port: Number(url.port) });
    idle.pause();
    idle.write(
      `POST ${PATHS.chat} HTTP/1.1\r\nhost: ${url.host}\r\nauthorization: Bearer ${account.key}\r\nidempotency-key: k\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
    );
    await upstream.waitFor(({ requests }) => requests.length > before);
    const repeat = await askEnded(account, 'k', 'tokens-4000', { stream: true });
    expect(repeat.text).toContain('[DONE]');
    idle.destroy();
    expect(upstream.requests.length - before).toBe(1);
  });

  test('gets the same answer and charge from many requests at the same time, in any mix', async () => {
    const account = await newAccount();
    const before = upstream.requests.length;
    const names = Array.from({ length: 40 }, (_, index) => `mix-${index % 8}`);
    const answers = await Promise.all(names.map((name) => askEnded(account, name, 'ok')));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    expect(answers.filter((answer) => !isReplayed(answer))).toHaveLength(8);
    expect(upstream.requests.length - before).toBe(8);
    expect(await spentBy(account, CREDIT)).toBe(Math.round(8 * PRICE * 10) / 10);
  });

  test('is counted for the operator by what the repeats got', async () => {
    const account = await newAccount();
    const counted = async (): Promise<Record<string, number>> => {
      const series = parseMetrics(await (await fetch(`${gateway.url}/metrics`)).text());
      const repeats = series.filter(({ name }) => name === 'tollgate_repeats_total');
      return Object.fromEntries(repeats.map(({ labels, value }) => [labels['result'], value]));
    };
    const { running = 0, replayed = 0, reused = 0 } = await counted();
    const first = await openKeyed(account, 'k', 'halts', { stream: true });
    await askKeyed(account, 'k', 'halts', { stream: true });
    goOn.resolve();
    await first.text();
    await askKeyed(account, 'k', 'halts', { stream: true });
    await askKeyed(account, 'k', 'ok');
    expect(await counted()).toMatchObject({
      ...{ running: running + 1, replayed: replayed + 1, reused: reused + 1 },
    });
  });

  test('keeps nothing after the operator has turned it off', async () => {
    await using other = await startGateway({
      catalog: catalogFor(upstream, ['ok'], { plans: { large: LARGE_PLAN } }),
      environment: { IDEMPOTENCY: 'off' },
    });
    const account = await other.createAccount({ plan: 'large', credit: CREDIT });
    const answers = [await askKeyed(account, 'k', 'ok'), await askKeyed(account, 'k', 'ok')];
    expect(answers.map(outcomeOf)).toEqual([
      [200, false],
      [200, false],
    ]);
    expect(outcomeOf(await askKeyed(account, '', 'ok'))).toEqual([200, false]);
    expect(await spentBy(account, CREDIT)).toBe(Math.round(3 * PRICE * 10) / 10);
  });
});
