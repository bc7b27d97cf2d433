// The timers of attempts from outside: a slow upstream is replaced while nothing has been
// delivered, each timer follows its setting, and `explain` reports which of them expired, what came
// before it, and the cost.

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { readAnswerContent, reasonIn } from '../support/answer.ts';
import { type Behaviour, streamHead } from '../support/behaviours.ts';
import { catalogOf, UPSTREAM_KEY } from '../support/catalog.ts';
import { EVERY_FORMAT, type EveryFormat, PATHS, post, requestBody } from '../support/client.ts';
import { explain, type Story } from '../support/explain.ts';
import { type Gateway, runCommand, startGateway, type TestAccount } from '../support/gateway.ts';
import { streamFrames } from '../support/render.ts';
import { type SilentServer, startSilentServer } from '../support/silent-server.ts';
import { parseEvents } from '../support/sse.ts';
import { type Exchange, startUpstream, type Upstream, waitUntil } from '../support/upstream.ts';

setDefaultTimeout(30_000);

type Json = Record<string, unknown>;
/** `long`: whole for the client, and a stream of the upstream. */
type Kind = 'stream' | 'whole' | 'long';

const KINDS: readonly Kind[] = ['stream', 'whole', 'long'];
const ALL = EVERY_FORMAT.flatMap((format) => KINDS.map((kind) => [format, kind] as const));
const ASKS = [...ALL.map(([format, kind]) => `${format}-${kind}`), 'reported'];

const wordOf = ({ request }: Exchange): string => {
  const script = { pieces: [{ text: 'word ' }], finish: 'stop' } as const;
  const frames = streamFrames(request.dialect, 'any', script);
  return frames.find((frame) => frame.includes('word ')) ?? '';
};

async function repeat(exchange: Exchange, piece: string): Promise<void> {
  while (!exchange.gone()) {
    exchange.write(piece);
    await exchange.sleep(20);
  }
}

const BEHAVIOURS: Readonly<Record<string, Behaviour>> = {
  mute: (exchange) => exchange.untilGone(),
  'keeps-alive': async (exchange) => {
    streamHead(exchange);
    await repeat(exchange, ': wait\n\n\n');
  },
  trickles: async (exchange) => {
    streamHead(exchange);
    await repeat(exchange, wordOf(exchange));
  },
  'falls-silent': async (exchange) => {
    streamHead(exchange);
    exchange.write(wordOf(exchange));
    await repeat(exchange, ': wait\n\n');
  },
};

/** What a placement sets, by the slug of its model; the slug begins with the behaviour's name. */
const PLACED: Readonly<Record<string, Json>> = {
  'mute-byte': { first_byte_seconds: 0.3, first_content_seconds: 0.5 },
  'keeps-alive-content': { first_content_seconds: 3 },
  'trickles-slowly': { idle_seconds: 3, min_tokens_per_second: 400 },
  'trickles-long': { total_seconds: 3 },
  'falls-silent-later': { idle_seconds: 0.3 },
};

let upstream: Upstream;
let mute: SilentServer;
let gateway: Gateway;
let payer: TestAccount;

beforeAll(async () => {
  upstream = await startUpstream(BEHAVIOURS);
  mute = await startSilentServer();
  const shared = { dialect: 'chat', api_key: UPSTREAM_KEY };
  const placed = Object.entries(PLACED).flatMap(([slug, keys]) => {
    const model = Object.keys(BEHAVIOURS).find((name) => slug.startsWith(name));
    const cost = { input: '0.1', output: '0.2' };
    const served_by = [{ upstream: 'first', model, cost, ...keys }];
    // One for each caller: no breaker opens.
    return ASKS.map((ask) => ({ slug: `${slug}-${ask}`, served_by, fallbacks: ['ok'] }));
  });
  const cost = { input: '0.5', output: '1.5' };
  gateway = await startGateway({
    catalog: catalogOf({
      upstreams: [
        { id: 'first', base_url: upstream.site('first').baseUrl, ...shared },
        {
          id: 'hasty',
          base_url: upstream.site('hasty').baseUrl,
          ...shared,
          first_byte_seconds: 0.3,
        },
        { id: 'far', base_url: mute.url, ...shared, transport: 'sockets', connect_seconds: 0.3 },
        { id: 'spare', base_url: upstream.site('spare').baseUrl, ...shared },
      ],
      models: [
        ...placed,
        ...ALL.map((caller) => ({
          slug: ['unconnected', ...caller].join('-'),
          served_by: [{ upstream: 'far', model: 'ok' }],
          fallbacks: ['ok'],
        })),
        { slug: 'ok', served_by: [{ upstream: 'spare', model: 'ok', cost }] },
        {
          slug: 'mute-upstream',
          served_by: [{ upstream: 'hasty', model: 'mute' }],
          fallbacks: ['ok'],
        },
      ],
      plans: { business: { concurrent_requests: 1_000 } },
    }),
    environment: { LOG_LEVEL: 'warn' },
  });
  payer = await gateway.createAccount({ plan: 'business', credit: 10_000_000 });
});

afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  mute.close();
  await upstream.close();
});

type Answer = { readonly status: number; readonly headers: Headers; readonly text: string };

async function ask(format: EveryFormat, kind: Kind, model: string): Promise<Answer> {
  const stream = kind === 'stream';
  const body = requestBody(format, model, { stream, max_tokens: kind === 'long' ? 8_000 : 100 });
  const response = await post(payer, PATHS[format], body);
  return { status: response.status, headers: response.headers, text: await response.text() };
}

const storyOf = ({ headers }: Answer): Promise<Story> =>
  explain(gateway, headers.get('x-request-id'));

const attemptsOf = (story: Story): Json[] => story['attempts'] as Json[];

describe.concurrent.each(ALL)('%s, %s: the next one answers', (format, kind) => {
  const movesOn = async (model: string, phase: string): Promise<Story> => {
    const answer = await ask(format, kind, `${model}-${format}-${kind}`);
    expect([answer.status, answer.headers.get('x-svc-model')]).toEqual([200, 'ok']);
    expect(answer.text).toContain('Hello');
    const story = await storyOf(answer);
    expect(attemptsOf(story)).toMatchObject([
      { failure: 'timeout', phase, status: null },
      { upstream: 'spare', model: 'ok', failure: null, phase: null },
    ]);
    return story;
  };

  test('no byte, by the placement', async () => {
    await movesOn('mute-byte', kind === 'whole' ? 'first_content' : 'first_byte');
  });

  test('keep-alives and no content', async () => {
    const story = await movesOn('keeps-alive-content', 'first_content');
    expect(attemptsOf(story)[0]).toMatchObject({
      detail: 'no content within 3000 ms',
      first_byte_ms: kind === 'whole' ? null : expect.any(Number),
      first_content_ms: null,
      usage: null,
      cost: null,
    });
    // Undelivered output is not charged: 6 × 0.5 + 4 × 0.5 + 5 × 1.5 of the one that served.
    expect(story['upstream_costs']).toEqual({ total: '12.5', complete: true, margin: '3.9' });
  });
});

describe.concurrent.each(EVERY_FORMAT)('%s', (format) => {
  test('no byte, by the upstream', async () => {
    const answer = await ask(format, 'stream', 'mute-upstream');
    expect(attemptsOf(await storyOf(answer))).toMatchObject([
      {
        upstream: 'hasty',
        failure: 'timeout',
        phase: 'first_byte',
        detail: 'no byte of an answer within 300 ms',
      },
      { upstream: 'spare', failure: null },
    ]);
  });

  test.each(KINDS)('no connection, by the upstream, %s', async (kind) => {
    const story = await storyOf(await ask(format, kind, `unconnected-${format}-${kind}`));
    expect(attemptsOf(story)).toMatchObject([
      { upstream: 'far', failure: 'timeout', phase: 'connect', first_byte_ms: null },
      { upstream: 'spare', failure: null },
    ]);
  });

  const LATE = [
    ['trickles-slowly', 'throughput'],
    ['falls-silent-later', 'stream'],
  ] as const;

  test.each(LATE)('%s: a whole answer that has begun moves on', async (model, phase) => {
    const answer = await ask(format, 'long', `${model}-${format}-long`);
    expect([answer.status, answer.headers.get('x-svc-model')]).toEqual([200, 'ok']);
    const story = await storyOf(answer);
    const [late] = attemptsOf(story);
    expect(late).toMatchObject({
      failure: 'timeout',
      phase,
      first_content_ms: expect.any(Number),
      usage: { basis: 'estimated' },
    });
    // What it had made is the operator's cost, and nothing of it the customer's.
    expect(story.booked).toMatchObject({ charged: '16.4' });
    const total = Number(late?.['cost']) + 12.5;
    const costs = story['upstream_costs'] as Json;
    expect(Number(costs['total'])).toBeCloseTo(total, 6);
    expect(Number(costs['margin'])).toBeCloseTo(16.4 - total, 6);
  });

  test('a whole answer that takes too long in all ends there, and is charged', async () => {
    const model = `trickles-long-${format}-long`;
    const answer = await ask(format, 'long', model);
    expect([answer.status, answer.headers.get('x-svc-model')]).toEqual([200, model]);
    const { text, reason } = readAnswerContent(format, answer.text);
    expect(reason).toBe(reasonIn(format, 'length'));
    expect(text).toContain('word word');
    const story = await storyOf(answer);
    expect(attemptsOf(story)).toMatchObject([{ usage: { basis: 'estimated' } }]);
    expect(Number((story.booked as Json | undefined)?.['charged'])).toBeGreaterThan(10);
  });

  test.each([...LATE, ['trickles-long', 'total'] as const])(
    '%s: a stream that has begun ends with an error, and is charged',
    async (name, phase) => {
      const model = `${name}-${format}-stream`;
      const answer = await ask(format, 'stream', model);
      expect([answer.status, answer.headers.get('x-svc-model')]).toEqual([200, model]);
      const error = parseEvents(answer.text).at(format === 'chat' ? -2 : -1)?.json?.['error'];
      expect(error).toMatchObject({ code: 'provider_unavailable', svc_outcome: 'upstream_failed' });
      const story = await storyOf(answer);
      expect(attemptsOf(story)).toMatchObject([
        { failure: 'timeout', phase, usage: { basis: 'estimated' } },
      ]);
    },
  );
});

test('in words', async () => {
  const answer = await ask('chat', 'stream', 'keeps-alive-content-reported');
  await storyOf(answer);
  const requestId = String(answer.headers.get('x-request-id'));
  const environment = { PATH: process.env['PATH'] ?? '', HOME: gateway.directory };
  const { stdout } = await runCommand(gateway.directory, environment, ['explain', requestId]);
  const lines = stdout
    .split('\n')
    .map((line) => line.replace(/20\d\d-\S+Z/g, 'TIME').replace(/(,|after) [\d.]+ ms/g, '$1 N ms'));
  const from = lines.findIndex((line) => line.startsWith('Attempt 1'));
  expect(lines.slice(from, from + 4)).toEqual([
    'Attempt 1: first, keeps-alive-content-reported, TIME, N ms, timeout (first_content): no content within 3000 ms',
    '        as keeps-alive, credential 1; first byte after N ms',
    'Attempt 2: spare, ok, TIME, N ms, served',
    '        credential 1; first byte after N ms, content after N ms; 10 input and 5 output reported, costs 12.5',
  ]);
  expect(lines).toContain('Cost    12.5 of the upstreams; margin 3.9');
});

test('afterwards no upstream is waited for', async () => {
  await upstream.waitFor(({ active }) => active() === 0);
  await waitUntil(() => mute.connections() === 0);
  expect([upstream.active(), mute.connections()]).toEqual([0, 0]);
});
