// Traces of the whole program, read by a scripted collector: the spans of each kind of request, what
// clients may choose, what never leaves, and a collector that does not answer.

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { catalogOf, LARGE_PLAN, UPSTREAM_KEY } from '../support/catalog.ts';
import { generate, generateStream, get, PATHS, post, requestBody } from '../support/client.ts';
import { type CollectedSpan, type Collector, startCollector } from '../support/collector.ts';
import { describeOnEachDatabase } from '../support/database.ts';
import { type Gateway, startGateway, type TestAccount } from '../support/gateway.ts';
import { parseMetrics, sumOf } from '../support/metrics.ts';
import { startUpstream, type Upstream, waitUntil } from '../support/upstream.ts';

setDefaultTimeout(30_000);

const PROMPT = 'a-prompt-canary-90417';
const HEADER_SECRET = 'collector-token-5512';
const SERVER = 2;
const CLIENT = 3;
const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const PARENT = '00f067aa0ba902b7';

let upstream: Upstream;

beforeAll(async () => {
  upstream = await startUpstream();
});
afterAll(() => upstream.close());

function catalog(): string {
  const site = (id: string) => ({
    id,
    dialect: 'chat',
    base_url: upstream.site(id).baseUrl,
    api_key: UPSTREAM_KEY,
    cool_down_seconds: 0,
  });
  const model = (slug: string, ...served: readonly [string, string][]) => ({
    slug,
    served_by: served.map(([id, name]) => ({ upstream: id, model: name })),
  });
  return catalogOf({
    upstreams: [site('west'), site('east')],
    models: [
      model('ok', ['west', 'ok']),
      model('reasoning', ['west', 'reasoning']),
      model('echoes', ['west', 'echo']),
      { ...model('over', ['west', 'status-503']), fallbacks: ['spare'] },
      model('spare', ['east', 'ok']),
      model('down', ['west', 'status-500']),
      model('broken', ['west', 'cut']),
    ],
    plans: { large: LARGE_PLAN },
  });
}

const start = (
  collector: Pick<Collector, 'url'>,
  environment: Readonly<Record<string, string>> = {},
): Promise<Gateway> =>
  startGateway({
    catalog: catalog(),
    environment: { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, ...environment },
  });

const newAccount = (gateway: Gateway, credit = 1_000_000): Promise<TestAccount> =>
  gateway.createAccount({ plan: 'large', credit });

/** The spans of a request, its own first, once they have been exported. */
async function spansOf(
  collector: Collector,
  requestId: string | null,
): Promise<[CollectedSpan, ...CollectedSpan[]]> {
  const find = () =>
    collector.spans.find((span) => span.attributes['tollgate.request.id'] === requestId);
  await waitUntil(() => find() !== undefined, 10_000);
  const own = find();
  if (own === undefined) throw new Error('unreachable');
  return [own, ...collector.spans.filter(({ parentSpanId }) => parentSpanId === own.spanId)];
}

function eventNames({ events }: CollectedSpan): string[] {
  return events.map(({ name }) => name);
}

/** Times are in order, and inside the span. */
function expectInOrder(span: CollectedSpan): void {
  const times = [span.startMs, ...span.events.map(({ atMs }) => atMs), span.endMs];
  expect(times).toEqual(times.toSorted((a, b) => a - b));
}

const metric = async (gateway: Gateway, result: string): Promise<number> => {
  const response = await fetch(`${gateway.url}/metrics`);
  return sumOf(parseMetrics(await response.text()), 'tollgate_trace_spans_total', { result });
};

describeOnEachDatabase('the spans of a request', () => {
  let collector: Collector;
  let gateway: Gateway;
  let ada: TestAccount;

  beforeAll(async () => {
    collector = startCollector();
    gateway = await start(collector, {
      OTEL_EXPORTER_OTLP_HEADERS: `authorization=Bearer%20${HEADER_SECRET}`,
      OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=test',
    });
    ada = await newAccount(gateway);
  });
  afterAll(async () => {
    await gateway[Symbol.asyncDispose]();
    await collector.close();
  });

  test('a whole answer has a span for the request and one for its attempt', async () => {
    const { headers } = await generate(ada, 'chat', 'ok');
    const [own, attempt, ...others] = await spansOf(collector, headers.get('x-request-id'));
    expect(others).toEqual([]);
    const { 'tollgate.key.id': keyId, ...attributes } = own.attributes;
    expect(keyId).toMatch(/^key_/);
    expect({ name: own.name, kind: own.kind, isFailed: own.isFailed, attributes }).toEqual({
      name: 'POST /v1/chat/completions',
      kind: SERVER,
      isFailed: false,
      attributes: {
        'http.request.method': 'POST',
        'http.route': '/v1/chat/completions',
        'http.response.status_code': 200,
        'gen_ai.operation.name': 'chat',
        'gen_ai.provider.name': 'west',
        'gen_ai.request.model': 'ok',
        'gen_ai.request.stream': false,
        'gen_ai.response.model': 'ok',
        'gen_ai.usage.input_tokens': 10,
        'gen_ai.usage.cache_read.input_tokens': 4,
        'gen_ai.usage.cache_creation.input_tokens': 0,
        'gen_ai.usage.output_tokens': 5,
        'gen_ai.usage.reasoning.output_tokens': 0,
        'tollgate.request.id': headers.get('x-request-id') ?? '',
        'tollgate.account.id': ada.id,
        'tollgate.route': 'chat_completions',
        'tollgate.format': 'chat',
        'tollgate.outcome': 'completed',
        'tollgate.fallback_used': false,
        'tollgate.usage.basis': 'reported',
        'tollgate.estimated_input_tokens': expect.any(Number),
        'tollgate.debited_service_tokens': '16.4',
      },
    });
    expect(own.parentSpanId).toBeUndefined();
    expect(eventNames(own)).toEqual(['tollgate.hold', 'tollgate.hold_durable', 'tollgate.settle']);
    expectInOrder(own);
    if (attempt === undefined) throw new Error('no span for the attempt');
    expect(attempt.traceId).toBe(own.traceId);
    expect({
      name: attempt.name,
      kind: attempt.kind,
      isFailed: attempt.isFailed,
      attributes: attempt.attributes,
    }).toEqual({
      name: 'chat ok',
      kind: CLIENT,
      isFailed: false,
      attributes: {
        'gen_ai.operation.name': 'chat',
        'gen_ai.provider.name': 'west',
        'gen_ai.request.model': 'ok',
        'tollgate.model': 'ok',
        'tollgate.upstream.credential': '1',
      },
    });
    expect(eventNames(attempt)).toEqual(['tollgate.first_byte', 'tollgate.first_token']);
    const asked = upstream.asked('west').at(-1);
    expect(asked?.headers['traceparent']).toBe(`00-${own.traceId}-${attempt.spanId}-03`);
  });

  test('a stream has the time of its first content', async () => {
    const { headers } = await generateStream(ada, 'messages', 'reasoning');
    const [own] = await spansOf(collector, headers.get('x-request-id'));
    expect(own.name).toBe('POST /v1/messages');
    expect(own.attributes).toMatchObject({
      'gen_ai.request.stream': true,
      'gen_ai.usage.reasoning.output_tokens': 2,
    });
    expect(eventNames(own)).toEqual([
      'tollgate.hold',
      'tollgate.hold_durable',
      'tollgate.first_token',
      'tollgate.settle',
    ]);
    const firstToken = own.events.find(({ name }) => name === 'tollgate.first_token');
    const elapsed = ((firstToken?.atMs ?? 0) - own.startMs) / 1_000;
    expect(own.attributes['gen_ai.response.time_to_first_chunk']).toBeCloseTo(elapsed, 4);
  });

  test('a failover has a span for each attempt, in order', async () => {
    const { headers } = await generate(ada, 'chat', 'over');
    const [own, ...attempts] = await spansOf(collector, headers.get('x-request-id'));
    expect(own.attributes).toMatchObject({
      'http.response.status_code': 200,
      'gen_ai.provider.name': 'east',
      'gen_ai.request.model': 'over',
      'gen_ai.response.model': 'spare',
      'tollgate.outcome': 'completed',
      'tollgate.fallback_used': true,
    });
    expect(own.isFailed).toBe(false);
    const last = attempts.at(-1);
    const failed = attempts.slice(0, -1);
    expect(failed.length).toBeGreaterThanOrEqual(1);
    for (const attempt of failed) {
      expect(attempt.isFailed).toBe(true);
      expect(attempt.attributes).toMatchObject({
        'gen_ai.provider.name': 'west',
        'gen_ai.request.model': 'status-503',
        'http.response.status_code': 503,
        'error.type': 'overloaded',
      });
    }
    expect(last?.isFailed).toBe(false);
    expect(last?.attributes['gen_ai.provider.name']).toBe('east');
    const asked = upstream.asked('east').at(-1);
    expect(asked?.headers['traceparent']).toContain(`-${last?.spanId}-`);
  });

  test('a failed request says why, whole and in the middle of a stream', async () => {
    const whole = await generate(ada, 'chat', 'down');
    const [own] = await spansOf(collector, whole.headers.get('x-request-id'));
    expect([whole.status, own.isFailed, own.attributes['error.type']]).toEqual([
      503,
      true,
      'provider_unavailable',
    ]);
    expect(own.attributes['gen_ai.response.model']).toBeUndefined();
    const cut = await generateStream(ada, 'chat', 'broken');
    const [broken] = await spansOf(collector, cut.headers.get('x-request-id'));
    expect([cut.status, broken.isFailed, broken.attributes['error.type']]).toEqual([
      200,
      true,
      'cut',
    ]);
    expect(broken.attributes['tollgate.outcome']).toBe('upstream_failed');
  });

  test('a refused request has a span without an attempt or a hold', async () => {
    const poor = await newAccount(gateway, 0.000001);
    const refused = await generate(poor, 'chat', 'ok');
    const [own, ...attempts] = await spansOf(collector, refused.headers.get('x-request-id'));
    expect(refused.status).toBe(402);
    expect(attempts).toEqual([]);
    expect(own.isFailed).toBe(false);
    expect(own.events).toEqual([]);
    expect(own.attributes).toMatchObject({
      'http.response.status_code': 402,
      'error.type': 'insufficient_balance',
      'tollgate.account.id': poor.id,
    });
    const unknown = await generate({ ...ada, key: `sk-${'x'.repeat(48)}` }, 'chat', 'ok');
    const [stranger] = await spansOf(collector, unknown.headers.get('x-request-id'));
    expect(stranger.attributes['tollgate.account.id']).toBeUndefined();
    expect(stranger.attributes['error.type']).toBe('invalid_api_key');
  });

  test('a repeat of an idempotent request names the first one and has no attempt', async () => {
    const ask = () =>
      post(ada, PATHS.chat, requestBody('chat', 'ok'), {
        headers: { 'idempotency-key': 'once-1' },
      });
    const first = await ask();
    const second = await ask();
    const firstId = first.headers.get('x-request-id');
    const [own, ...attempts] = await spansOf(collector, firstId);
    expect([own.attributes['tollgate.debited_service_tokens'], attempts.length]).toEqual([
      '16.4',
      1,
    ]);
    const replays = () =>
      collector.spans.filter(({ attributes }) => attributes['tollgate.replay_of'] === firstId);
    await waitUntil(() => replays().length === 1, 10_000);
    expect(second.headers.get('x-svc-replayed')).toBe('true');
    expect(replays()[0]?.attributes['tollgate.debited_service_tokens']).toBeUndefined();
    expect(
      collector.spans.filter((span) => span.attributes['tollgate.request.id'] === firstId),
    ).toHaveLength(1);
  });

  test('lists have a span, and the log carries the trace', async () => {
    const { headers } = await get(ada, '/v1/models');
    const requestId = headers.get('x-request-id');
    const [own] = await spansOf(collector, requestId);
    expect(own.name).toBe('GET /v1/models');
    expect(own.attributes['gen_ai.operation.name']).toBeUndefined();
    await waitUntil(() => gateway.output().includes(`"requestId":"${requestId}"`));
    const line = gateway
      .output()
      .split('\n')
      .find((each) => each.includes(`"${requestId}"`));
    expect(JSON.parse(line ?? '{}')).toMatchObject({ requestId, traceId: own.traceId });
  });

  test('no byte of a prompt, an answer, a key, an address or a header is exported', async () => {
    const more = { messages: [{ role: 'user', content: PROMPT }], user: `user-${PROMPT}` };
    await generateStream(ada, 'chat', 'echoes', more);
    await generate(ada, 'chat', `no-model-${PROMPT}`, more);
    await generate(ada, 'chat', 'ok', { ...more, temperature: PROMPT });
    const last = await post(
      ada,
      `/v1/chat/completions?${PROMPT}`,
      requestBody('chat', 'echoes', more),
      {
        headers: {
          'user-agent': PROMPT,
          'x-other': PROMPT,
          tracestate: `vendor=${PROMPT}`,
          traceparent: `00-${TRACE}-${PARENT}-01`,
          'idempotency-key': PROMPT,
        },
      },
    );
    await get(ada, `/${PROMPT}`);
    expect(await last.text()).toContain(PROMPT);
    await spansOf(collector, last.headers.get('x-request-id'));
    const received = collector.received();
    for (const secret of [
      PROMPT,
      ada.key,
      ada.key.slice(3, 20),
      ada.email,
      UPSTREAM_KEY,
      'Hello from',
    ]) {
      expect(received).not.toContain(secret);
    }
    // What the collector itself needs is in its own header alone.
    expect(received).toContain(`Bearer ${HEADER_SECRET}`);
    expect(gateway.output()).not.toContain(HEADER_SECRET);
    expect(collector.resource()).toMatchObject({
      'service.name': 'tollgate',
      'service.version': expect.any(String),
      'service.instance.id': expect.any(String),
      'deployment.environment.name': 'test',
    });
  });

  test('counts the exported spans', async () => {
    await waitUntil(() => collector.spans.length > 10);
    // A span is counted when the answer to its export has been read.
    await waitUntil(async () => (await metric(gateway, 'exported')) === collector.spans.length);
    expect(await metric(gateway, 'dropped')).toBe(0);
  });
});

describe('what a client chooses', () => {
  const ask = (account: TestAccount, headers: Record<string, string>) =>
    post(account, PATHS.chat, requestBody('chat', 'ok'), { headers });

  async function withGateway(
    environment: Readonly<Record<string, string>>,
    use: (collector: Collector, gateway: Gateway, account: TestAccount) => Promise<void>,
  ): Promise<void> {
    const collector = startCollector();
    try {
      await using gateway = await start(collector, environment);
      await use(collector, gateway, await newAccount(gateway));
    } finally {
      await collector.close();
    }
  }

  test('continues its trace, and passes it on with the state', () =>
    withGateway({}, async (collector, _, account) => {
      const response = await ask(account, {
        traceparent: `00-${TRACE}-${PARENT}-01`,
        tracestate: 'vendor=a:b , other@system=c',
      });
      const [own, attempt] = await spansOf(collector, response.headers.get('x-request-id'));
      expect([own.traceId, own.parentSpanId]).toEqual([TRACE, PARENT]);
      const asked = upstream.asked('west').at(-1)?.headers ?? {};
      expect([asked['traceparent'], asked['tracestate']]).toEqual([
        `00-${TRACE}-${attempt?.spanId}-01`,
        'vendor=a:b,other@system=c',
      ]);
      const bad = await ask(account, { traceparent: `00-${TRACE}-xyz-01`, tracestate: 'vendor=a' });
      const [alone] = await spansOf(collector, bad.headers.get('x-request-id'));
      expect(alone.traceId).not.toBe(TRACE);
      expect(alone.parentSpanId).toBeUndefined();
      expect(upstream.asked('west').at(-1)?.headers['tracestate']).toBeUndefined();
    }));

  test('cannot force its requests into the sample, nor hide them from it', async () => {
    const traceparent = `00-${TRACE}-${PARENT}-01`;
    await withGateway({ OTEL_TRACES_SAMPLER_ARG: '0' }, async (collector, gateway, account) => {
      const response = await ask(account, { traceparent });
      const id = response.headers.get('x-request-id');
      // The request is logged with its trace, and passed on as not sampled.
      await waitUntil(() => gateway.output().includes(`"requestId":"${id}"`));
      const line = gateway
        .output()
        .split('\n')
        .find((each) => each.includes(`"requestId":"${id}"`));
      expect(line).toContain(`"traceId":"${TRACE}"`);
      const passed = upstream.asked('west').at(-1)?.headers['traceparent'] ?? '';
      expect(passed).toMatch(new RegExp(`^00-${TRACE}-[0-9a-f]{16}-00$`));
      await gateway.stop();
      expect(collector.exports()).toBe(0);
    });
    await withGateway({}, async (collector, _, account) => {
      const response = await ask(account, { traceparent: `00-${TRACE}-${PARENT}-00` });
      await spansOf(collector, response.headers.get('x-request-id'));
    });
  });

  test('decides only where the operator says so', () =>
    withGateway(
      { OTEL_TRACES_SAMPLER: 'parentbased_always_off' },
      async (collector, gateway, account) => {
        await ask(account, {});
        const response = await ask(account, { traceparent: `00-${TRACE}-${PARENT}-01` });
        await spansOf(collector, response.headers.get('x-request-id'));
        await gateway.stop();
        expect(new Set(collector.spans.map(({ traceId }) => traceId))).toEqual(new Set([TRACE]));
      },
    ));

  test('is continued with a list of propagators, and goes to the whole address', async () => {
    const collector = startCollector();
    const gateway = await start(collector, {
      OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9',
      OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${collector.url}/v1/traces?tenant=a`,
      OTEL_PROPAGATORS: 'tracecontext,baggage',
    });
    try {
      const account = await newAccount(gateway);
      const response = await ask(account, { traceparent: `00-${TRACE}-${PARENT}-01` });
      const [own] = await spansOf(collector, response.headers.get('x-request-id'));
      expect(own.traceId).toBe(TRACE);
      expect(collector.received()).toContain('/v1/traces?tenant=a');
    } finally {
      await gateway[Symbol.asyncDispose]();
      await collector.close();
    }
  });

  test('decides nothing, and its trace is not passed on, where propagation is off', () =>
    withGateway({ OTEL_PROPAGATORS: 'none' }, async (collector, _, account) => {
      const response = await ask(account, { traceparent: `00-${TRACE}-${PARENT}-01` });
      const [own, attempt] = await spansOf(collector, response.headers.get('x-request-id'));
      expect(own.traceId).not.toBe(TRACE);
      expect(attempt?.parentSpanId).toBe(own.spanId);
      expect(upstream.asked('west').at(-1)?.headers['traceparent']).toBeUndefined();
    }));
});

describe('a collector that does not answer', () => {
  test('delays no request and no stop, whether it refuses, hangs or fails', async () => {
    const silent = Bun.serve({
      port: 0,
      hostname: '127.0.0.1',
      fetch: () => new Promise<Response>(() => {}),
    });
    const failing = startCollector(() => new Response('x', { status: 503 }));
    // The lowest port, which no server of a test is ever given.
    const closedUrl = 'http://127.0.0.1:1';
    try {
      for (const url of [`http://127.0.0.1:${silent.port}`, failing.url, closedUrl]) {
        await using gateway = await start({ url });
        const account = await newAccount(gateway);
        for (let count = 0; count < 5; count += 1) {
          expect((await generate(account, 'chat', 'ok')).status).toBe(200);
        }
        if (url !== `http://127.0.0.1:${silent.port}`) {
          await waitUntil(() => gateway.output().includes('traces cannot be exported'), 10_000);
        }
        const startedAt = performance.now();
        expect(await gateway.stop()).toBe(0);
        expect(performance.now() - startedAt).toBeLessThan(8_000);
      }
    } finally {
      await silent.stop(true);
      await failing.close();
    }
  });

  test('gets what waited once it is back', async () => {
    const collector = startCollector((index) =>
      index === 0 ? new Response('', { status: 503 }) : Response.json({}),
    );
    await using gateway = await start(collector);
    const account = await newAccount(gateway);
    const { headers } = await generate(account, 'chat', 'ok');
    await spansOf(collector, headers.get('x-request-id'));
    await waitUntil(() => gateway.output().includes('traces are exported again'));
    expect(await metric(gateway, 'failed')).toBe(0);
    await collector.close();
  });

  test('gets the last requests before a graceful stop ends', async () => {
    const collector = startCollector();
    await using gateway = await start(collector);
    const account = await newAccount(gateway);
    const { headers } = await generate(account, 'chat', 'ok');
    expect(await gateway.stop()).toBe(0);
    const ids = collector.spans.map((span) => span.attributes['tollgate.request.id']);
    expect(ids).toContain(headers.get('x-request-id') ?? '');
    await collector.close();
  });
});

test('without a collector no header of a trace reaches the upstream, and no log line has one', async () => {
  await using gateway = await startGateway({ catalog: catalog() });
  const account = await newAccount(gateway);
  const response = await post(account, PATHS.chat, requestBody('chat', 'ok'), {
    headers: { traceparent: `00-${TRACE}-${PARENT}-01`, tracestate: 'vendor=a' },
  });
  const id = response.headers.get('x-request-id');
  await waitUntil(() => gateway.output().includes(`"requestId":"${id}"`));
  const asked = upstream.asked('west').at(-1)?.headers ?? {};
  expect([asked['traceparent'], asked['tracestate']]).toEqual([undefined, undefined]);
  expect(gateway.output()).not.toContain('traceId');
});
