// Repeats at another node than the one that runs the first request: that they are refused until it has
// ended, and that no failure of a node makes them a second charge.

import { beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { play, SAYS_HELLO } from '../support/behaviours.ts';
import { catalogFor, LARGE_PLAN } from '../support/catalog.ts';
import type { Caller } from '../support/client.ts';
import { closeAtEnd, type Gateway, startGateway, type TestAccount } from '../support/gateway.ts';
import {
  askEnded,
  askKeyed,
  codeOf,
  isReplayed,
  type KeyedAnswer,
  openKeyed,
  readKeyed,
  spentBy,
} from '../support/keyed.ts';
import { newPostgresUrl } from '../support/postgres-database.ts';
import { describeWithServices } from '../support/services.ts';
import { startUpstream, type Upstream, waitUntil } from '../support/upstream.ts';

setDefaultTimeout(90_000);

const CREDIT = 1_000_000;
const STREAM = { stream: true } as const;
const MODELS = ['ok', 'halts'];
const ENVIRONMENT = {
  SESSION_SECRET: 'one secret of all nodes of these tests',
  OPERATOR_PORT: 'off',
};

const startAt = (upstream: Upstream, environment: Readonly<Record<string, string>>) =>
  startGateway({
    catalog: catalogFor(upstream, MODELS, { plans: { large: LARGE_PLAN } }),
    environment: { ...ENVIRONMENT, ...environment },
  });

describeWithServices('a repeat at another node', ['PostgreSQL'], () => {
  let upstream: Upstream;
  let one: Gateway;
  let two: Gateway;
  let account: TestAccount;
  let url: string;
  /** Resolve it, and `halts` goes on; each test that does makes a new one. */
  let goOn = Promise.withResolvers<void>();

  const at = (gateway: Gateway): Caller => ({ url: gateway.url, key: account.key });
  const start = () => startAt(upstream, { DATABASE_URL: url });

  beforeAll(async () => {
    upstream = await startUpstream({
      halts: (exchange) => play(SAYS_HELLO, goOn.promise)(exchange),
    });
    url = await newPostgresUrl();
    [one, two] = await Promise.all([start(), start()]);
    account = await two.createAccount({ plan: 'large', credit: CREDIT });
  });

  closeAtEnd(() => [upstream, two, one]);

  test.each([
    ['chat', true],
    ['chat', false],
    ['messages', true],
    ['messages', false],
  ] as const)(
    'is refused while the first one runs, and then gets its answer (%s, stream %p)',
    async (format, stream) => {
      const before = await spentBy(at(two), CREDIT);
      const asked = upstream.requests.length;
      goOn = Promise.withResolvers();
      const first = openKeyed(at(one), `${format}-${stream}`, 'halts', { format, stream });
      await upstream.waitFor(({ requests }) => requests.length > asked);
      const repeat = (): Promise<KeyedAnswer> =>
        askKeyed(at(two), `${format}-${stream}`, 'halts', { format, stream });
      const refused = await repeat();
      expect([refused.status, codeOf(refused)]).toEqual([409, 'idempotent_request_running']);
      expect(refused.headers['retry-after']).toBe('5');
      goOn.resolve();
      const { text } = await readKeyed(await first);
      const answer = await repeat();
      expect([answer.text, isReplayed(answer)]).toEqual([text, true]);
      const other = await askKeyed(at(two), `${format}-${stream}`, 'ok', { format, stream });
      expect([other.status, codeOf(other)]).toEqual([422, 'idempotency_key_reused']);
      expect(upstream.requests.length - asked).toBe(1);
      expect(await spentBy(at(two), CREDIT)).toBeCloseTo(before + 16.4, 6);
    },
  );

  test('at the same time is charged once, and uses a request of the minute like any other', async () => {
    const { key } = await two.createAccount({ plan: 'large', credit: CREDIT });
    const before = upstream.requests.length;
    for (let round = 0; round < 10; round += 1) {
      const pair = await Promise.all(
        [one, two].map(({ url: base }) => askKeyed({ url: base, key }, `race-${round}`, 'ok')),
      );
      const isOnce = (answer: KeyedAnswer): boolean => answer.status === 200 && !isReplayed(answer);
      expect(pair.filter(isOnce)).toHaveLength(1);
    }
    expect(upstream.requests.length - before).toBe(10);
    expect(await spentBy({ url: two.url, key }, CREDIT)).toBe(164);
    for (const { url: base } of [one, two]) {
      const { headers } = await askKeyed({ url: base, key }, 'race-0', 'ok');
      // Each node has half of the limit.
      expect(headers['x-ratelimit-remaining-requests']).toBe('49989');
    }
  });

  test('is the first answer, although a node without the secret has started', async () => {
    const before = await spentBy(at(two), CREDIT);
    const first = await askKeyed(at(one), 'without-secret', 'ok');
    await using stranger = await startGateway({
      environment: { DATABASE_URL: url, OPERATOR_PORT: 'off', SESSION_SECRET: '' },
    });
    await waitUntil(() => stranger.output().includes('SESSION_SECRET is not set'));
    const repeat = await askKeyed(at(two), 'without-secret', 'ok');
    expect([repeat.text, isReplayed(repeat)]).toEqual([first.text, true]);
    expect(await spentBy(at(two), CREDIT)).toBeCloseTo(before + 16.4, 6);
  });
});

describeWithServices('a first request on a node that stood still', ['PostgreSQL'], () => {
  test('is charged once, also if the node ends it after the others have evicted it', async () => {
    await using stack = new AsyncDisposableStack();
    const goOn = Promise.withResolvers<void>();
    const upstream = await startUpstream({ halts: play(SAYS_HELLO, goOn.promise) });
    stack.defer(upstream.close);
    const environment = { DATABASE_URL: await newPostgresUrl() };
    const asleep = stack.use(await startAt(upstream, environment));
    const awake = stack.use(await startAt(upstream, environment));
    const account = await asleep.createAccount({ plan: 'large', credit: CREDIT });
    const first = await openKeyed(account, 'k', 'halts', STREAM);
    const reader = first.body?.getReader();
    // On a shared database a client gets nothing before its first checkpoint is written.
    await reader?.read();
    process.kill(asleep.pid, 'SIGSTOP');
    goOn.resolve();
    const there = { url: awake.url, key: account.key };
    await waitUntil(() => awake.output().includes('is evicted'), 40_000);
    await waitUntil(async () => (await spentBy(there, CREDIT)) > 0, 20_000);
    const cost = await spentBy(there, CREDIT);
    process.kill(asleep.pid, 'SIGCONT');
    // It ends the stream that it still has, and cannot book it.
    for (let done = false; !done; )
      ({ done = true } = (await reader?.read().catch(() => undefined)) ?? {});
    await waitUntil(() => asleep.output().includes('this node rejoins as a new incarnation'));
    for (const url of [awake.url, asleep.url]) {
      const repeat = await askEnded({ url, key: account.key }, 'k', 'halts', STREAM);
      // The node that stood still may have read its answer to the end and kept it.
      const isOnce = repeat.status === 200 ? isReplayed(repeat) : codeOf(repeat);
      expect([isOnce]).toEqual([repeat.status === 200 ? true : 'idempotent_answer_lost']);
    }
    expect(await spentBy(there, CREDIT)).toBe(cost);
    expect(upstream.requests).toHaveLength(1);
  });
});
