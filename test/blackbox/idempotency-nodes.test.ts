// Repeats at another node than the one that runs the first request: what keeps their connections,
// how they end, and that no failure of a node makes them a second charge.

import { beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { behaviourFor, play, SAYS_HELLO } from '../support/behaviours.ts';
import { catalogFor, LARGE_PLAN } from '../support/catalog.ts';
import type { Caller, Format } from '../support/client.ts';
import { closeAtEnd, type Gateway, startGateway, type TestAccount } from '../support/gateway.ts';
import { askKeyed, codeOf, isReplayed, openKeyed, readKeyed, spentBy } from '../support/keyed.ts';
import { newPostgresUrl } from '../support/postgres-database.ts';
import { describeWithServices } from '../support/services.ts';
import { startUpstream, type Upstream, waitUntil } from '../support/upstream.ts';

setDefaultTimeout(90_000);

const CREDIT = 1_000_000;
const STREAM = { stream: true } as const;
const MODELS = ['ok', 'slow-tokens-20-100', 'halts', 'fails-late'];
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
  /** Resolve it, and `halts` and `fails-late` go on; each test that does makes a new one. */
  let goOn = Promise.withResolvers<void>();
  const impatient = { HEARTBEAT_SECONDS: '0.1', SILENT_COMMIT_SECONDS: '0.2' };

  const at = (gateway: Gateway): Caller => ({ url: gateway.url, key: account.key });
  const start = () => startAt(upstream, { ...impatient, DATABASE_URL: url });
  /** Returns the stream of the first request at node one, once its upstream is asked. */
  const openFirst = async (key: string, model: string, format: Format = 'chat') => {
    const before = upstream.requests.length;
    const first = openKeyed(at(one), key, model, { ...STREAM, format });
    await upstream.waitFor(({ requests }) => requests.length > before);
    return first;
  };

  beforeAll(async () => {
    upstream = await startUpstream({
      halts: (exchange) => play(SAYS_HELLO, goOn.promise)(exchange),
      /** The first answer fails after some silence, without a charge. */
      'fails-late': async (exchange) => {
        if (exchange.request.earlier > 0) return behaviourFor('ok')(exchange);
        await goOn.promise;
        // The gateway does not ask for it again by itself.
        return behaviourFor('status-429')(exchange);
      },
    });
    url = await newPostgresUrl();
    [one, two] = await Promise.all([start(), start()]);
    account = await two.createAccount({ plan: 'large', credit: CREDIT });
  });

  closeAtEnd(() => [upstream, two, one]);

  test.each(['chat', 'messages'] as const)(
    'has the first event and heartbeats while the first stream runs, and then the rest (%s)',
    async (format) => {
      const before = await spentBy(at(two), CREDIT);
      goOn = Promise.withResolvers();
      const opened = await openFirst(`beats-${format}`, 'halts', format);
      const repeat = await openKeyed(at(two), `beats-${format}`, 'halts', { ...STREAM, format });
      const headersOf = ({ headers }: Response) =>
        ['content-type', 'x-request-id', 'x-accel-buffering'].map((name) => headers.get(name));
      expect(headersOf(repeat)).toEqual(headersOf(opened));
      expect(repeat.headers.get('x-svc-replayed')).toBe('true');
      expect(repeat.headers.get('x-ratelimit-limit-requests')).toBe('100000');
      const decoder = new TextDecoder();
      let text = '';
      for await (const bytes of repeat.body ?? []) {
        text += decoder.decode(bytes, { stream: true });
        if (text.split('\n\n').length > 7) goOn.resolve();
      }
      const whole = await readKeyed(opened);
      const [start, ...rest] = whole.text.split('\n\n');
      const [begun, ...events] = text.split('\n\n');
      expect(begun).toBe(start);
      expect(events.slice(-rest.length)).toEqual(rest);
      const beats = events.slice(0, -rest.length);
      expect(beats.length).toBeGreaterThan(5);
      const beat = format === 'chat' ? /^data: \{.*"delta":\{\}/ : /^event: ping\n/;
      for (const each of beats) expect(each).toMatch(beat);
      expect(await spentBy(at(two), CREDIT)).toBeCloseTo(before + 16.4, 6);
    },
  );

  test('gets an error event if the first stream failed without a charge after its headers', async () => {
    const before = await spentBy(at(two), CREDIT);
    goOn = Promise.withResolvers();
    const first = await openFirst('fails', 'fails-late');
    const repeat = await openKeyed(at(two), 'fails', 'fails-late', STREAM);
    goOn.resolve();
    expect(repeat.status).toBe(200);
    expect(await repeat.text()).toContain('"code":"idempotent_request_running"');
    expect(await first.text()).toContain('"error"');
    expect(await spentBy(at(two), CREDIT)).toBe(before);
    const again = await askKeyed(at(two), 'fails', 'fails-late', STREAM);
    expect([again.status, isReplayed(again)]).toEqual([200, false]);
    expect(again.text).toContain('[DONE]');
  });

  test('of a whole answer waits for it without headers, as the first one does', async () => {
    const before = upstream.requests.length;
    const first = askKeyed(at(one), 'whole', 'slow-tokens-20-100');
    await upstream.waitFor(({ requests }) => requests.length > before);
    const repeat = await askKeyed(at(two), 'whole', 'slow-tokens-20-100');
    expect(repeat.text).toBe((await first).text);
    expect(JSON.parse(repeat.text).choices[0].message.content).toStartWith(' a a');
  });

  test('at the same time is no refusal, and uses a request of the minute like any other', async () => {
    const { key } = await two.createAccount({ plan: 'large', credit: CREDIT });
    const before = upstream.requests.length;
    const left: Record<string, string>[] = [];
    for (let round = 0; round < 10; round += 1) {
      const pair = await Promise.all(
        [one, two].map(({ url: base }) => askKeyed({ url: base, key }, `race-${round}`, 'ok')),
      );
      expect(pair.filter((answer) => !isReplayed(answer))).toHaveLength(1);
      left.push(...pair.map(({ headers }) => headers));
    }
    const remaining = left.map((headers) => headers['x-ratelimit-remaining-requests']);
    expect(upstream.requests.length - before).toBe(10);
    expect(await spentBy({ url: two.url, key }, CREDIT)).toBe(164);
    // Each node has half of the limit.
    expect(remaining.slice(-2)).toEqual(['49990', '49990']);
    for (const node of [one, two]) expect(node.output()).not.toContain('"status":409');
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

  test('ends with an error event when its node stops', async () => {
    await using three = await start();
    goOn = Promise.withResolvers();
    const first = await openFirst('stops', 'halts');
    const streamed = await openKeyed(at(three), 'stops', 'halts', STREAM);
    const rest = streamed.text();
    expect(await three.stop()).toBe(0);
    expect(await rest).toContain('"code":"provider_unavailable"');
    goOn.resolve();
    expect(await first.text()).toContain('[DONE]');
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
      const repeat = await askKeyed({ url, key: account.key }, 'k', 'halts', STREAM);
      // The node that stood still may have read its answer to the end and kept it.
      const isOnce = repeat.status === 200 ? isReplayed(repeat) : codeOf(repeat);
      expect([isOnce]).toEqual([repeat.status === 200 ? true : 'idempotent_answer_lost']);
    }
    expect(await spentBy(there, CREDIT)).toBe(cost);
    expect(upstream.requests).toHaveLength(1);
  });
});
