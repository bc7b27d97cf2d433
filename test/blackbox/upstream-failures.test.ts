// What a customer sees and pays for every upstream failure, in both formats, whole and streamed;
// and that the upstream's own error text never reaches a client.

import type { Database } from 'bun:sqlite';
import { beforeAll, describe, expect, test } from 'bun:test';
import { type Behaviour, CANARY, HELLO, sendWhole, streamHead } from '../support/behaviours.ts';
import { catalogFor, UPSTREAM_KEY } from '../support/catalog.ts';
import { type Caller, type Format, get, post, requestBody } from '../support/client.ts';
import { closeAtEnd, type Gateway, startGateway, type TestAccount } from '../support/gateway.ts';
import { readBooks, unpacked } from '../support/readable-books.ts';
import { chatFrame } from '../support/render.ts';
import { parseEvents } from '../support/sse.ts';
import { type Exchange, startUpstream, type Upstream, waitUntil } from '../support/upstream.ts';

type Json = Record<string, unknown>;

/** `long`: a whole answer whose bound makes the gateway read it from the upstream as a stream. */
type Kind = 'whole' | 'long' | 'stream';
type Failure = 'unavailable' | 'invalid_request' | 'payload_too_large' | 'context_length_exceeded';

/** Before any content: what the customer receives, and the class that the books name. */
const BEFORE: readonly (readonly [name: string, expected: Failure, failure: string])[] = [
  ['status-400', 'invalid_request', 'bad_request'],
  ['status-413', 'payload_too_large', 'too_large'],
  ['status-422', 'invalid_request', 'bad_request'],
  ['context-400', 'context_length_exceeded', 'context_length'],
  ['status-401', 'unavailable', 'credential'],
  ['status-402', 'unavailable', 'credential'],
  ['status-403', 'unavailable', 'credential'],
  ['status-404', 'unavailable', 'mismatch'],
  ['status-408', 'unavailable', 'timeout'],
  ['status-429', 'unavailable', 'rate_limited'],
  ['retry-after-7', 'unavailable', 'rate_limited'],
  ['status-500', 'unavailable', 'server_error'],
  ['status-502', 'unavailable', 'server_error'],
  ['status-503', 'unavailable', 'overloaded'],
  ['status-529', 'unavailable', 'overloaded'],
  ['html-500', 'unavailable', 'server_error'],
  ['redirect', 'unavailable', 'mismatch'],
  ['html', 'unavailable', '*'],
  ['empty', 'unavailable', '*'],
  ['json-null', 'unavailable', '*'],
  ['half-json', 'unavailable', 'malformed'],
  ['false-gzip', 'unavailable', 'cut'],
  ['half-character', 'unavailable', '*'],
  ['bare-204', 'unavailable', 'server_error'],
  ['error-in-200', 'unavailable', 'server_error'],
  ['error-first', 'unavailable', '*'],
  ['insufficient', 'unavailable', 'overloaded'],
  // Its first words come in the same read as its garbage, so nothing of it has left yet.
  ['garbage', 'unavailable', 'malformed'],
  ['cut-before', 'unavailable', 'unreachable'],
  ['reset-before', 'unavailable', 'unreachable'],
  ['stall-before', 'unavailable', 'timeout'],
  ['stall-after-head', 'unavailable', 'timeout'],
  ['comments-only', 'unavailable', 'timeout'],
];

/** After content, where the gateway reads a stream: how it breaks, and the class in the books. */
const AFTER: readonly (readonly [name: string, failure: string, breaks: Behaviour])[] = [
  ['late-cut', 'cut', (exchange) => exchange.end()],
  ['late-cut-connection', 'cut', (exchange) => exchange.cut()],
  ['late-reset', 'cut', (exchange) => exchange.reset()],
  ['late-stall', 'timeout', (exchange) => exchange.untilGone()],
  ['late-garbage', 'malformed', (exchange) => endWith(exchange, 'data: {"not json\n\n')],
  ['late-error', 'server_error', (exchange) => endWith(exchange, ERROR_FRAME)],
];

/** Answers that are broken in ways of their own; the names are those of the table. */
const BROKEN: Readonly<Record<string, Behaviour>> = {
  'half-json': (exchange) => sendWhole(exchange, 200, `{"id":"x","choices":[{"message":${CANARY}`),
  'false-gzip': (exchange) =>
    sendWhole(exchange, 200, CANARY, 'application/json', { 'content-encoding': 'gzip' }),
  'half-character': (exchange) => {
    streamHead(exchange);
    exchange.write(
      Buffer.from(`data: {"choices":[{"delta":{"content":"${CANARY}é`).subarray(0, -1),
    );
    exchange.end();
  },
  'bare-204': (exchange) => {
    exchange.head(204, { 'content-length': '0' });
    exchange.end();
  },
};

const SILENT_UNTIL_SEEN = 'silent-until-seen';

const ERROR_FRAME = `data: {"error":{"message":"The engine failed. (${CANARY})"}}\n\n`;

function endWith(exchange: Exchange, text: string): void {
  exchange.write(text);
  exchange.end();
}

function exhausted(exchange: Exchange): void {
  endWith(exchange, chatFrame(exchange.request.model, {}, 'insufficient_system_resource'));
}

/** Resolved, by prompt, once its client has seen what the upstream waits for. */
const seenBy = new Map<string, PromiseWithResolvers<void>>();

function afterContent(breaks: Behaviour): Behaviour {
  return async (exchange) => {
    streamHead(exchange);
    exchange.write(chatFrame(exchange.request.model, { role: 'assistant', content: HELLO }));
    await untilSeen(exchange);
    await breaks(exchange);
  };
}

async function untilSeen({ request, untilGone }: Exchange): Promise<void> {
  const [prompt = ''] = /ask-[\w-]+/.exec(request.text) ?? [];
  await Promise.race([seenBy.get(prompt)?.promise, untilGone()]);
}

const FORMATS: readonly Format[] = ['chat', 'messages'];
const PATHS = { chat: '/v1/chat/completions', messages: '/v1/messages' } as const;
const ALL_KINDS = FORMATS.flatMap((format) =>
  (['whole', 'long', 'stream'] as const).map((kind) => [format, kind] as const),
);

/** With fallbacks, the same behaviours under another slug. */
const withFallback = (name: string): string => `${name}-or-ok`;

/**
 * An unreachable upstream is retried out of a budget that an upstream has for all callers, so
 * each has an upstream of its own, which is asked less often than the budget always allows.
 */
const UNREACHABLE: ReadonlyMap<string, string> = new Map(
  BEFORE.filter(([, , failure]) => failure === 'unreachable').map(([name]) => [
    name,
    `apart-${name}`,
  ]),
);

const SILENT = ['stall-before', 'stall-after-head', 'comments-only'];

/** Only a timer ends these, so that each has the one that it waits for; all others have long ones. */
const HASTY = { id: 'apart-hasty', first_byte_seconds: 1, first_content_seconds: 1 };
const HASTY_LATER = { id: 'apart-hasty-later', idle_seconds: 1 };
const STALLING: ReadonlyMap<string, string> = new Map([
  ...SILENT.map((name) => [name, HASTY.id] as const),
  ['late-stall', HASTY_LATER.id],
]);

let upstream: Upstream;
let gateway: Gateway;
let payer: TestAccount;
let books: Database;

beforeAll(async () => {
  upstream = await startUpstream({
    ...Object.fromEntries(AFTER.map(([name, , breaks]) => [name, afterContent(breaks)])),
    'late-exhaustion': afterContent(exhausted),
    [SILENT_UNTIL_SEEN]: async (exchange) => {
      await untilSeen(exchange);
      exchange.reset();
    },
    ...BROKEN,
  });
  const names = [...BEFORE, ...AFTER].map(([name]) => name);
  const servedBy = (id: string, model: string) => ({ served_by: [{ upstream: id, model }] });
  const models = names.flatMap((name) => {
    const stalling = STALLING.get(name) ?? 'scripted';
    const first = servedBy(UNREACHABLE.get(name) ?? stalling, name);
    return [
      [name, servedBy(stalling, name)],
      [withFallback(name), { ...first, fallbacks: ['ok'] }],
    ];
  });
  const hasty = [HASTY, HASTY_LATER].map((fields) => {
    const text = catalogFor(upstream, [], { upstream: fields });
    return text.slice(text.indexOf('[[upstream]]'));
  });
  const catalog = catalogFor(
    upstream,
    ['ok', 'late-exhaustion', ...names, ...names.map(withFallback)],
    {
      moreUpstreams: [...UNREACHABLE.values()],
      models: Object.fromEntries(models),
      plans: { business: { concurrent_requests: 1_000 } },
    },
  );
  gateway = await startGateway({
    catalog: [catalog, ...hasty].join('\n'),
    environment: { LOG_LEVEL: 'debug' },
  });
  payer = await gateway.createAccount({ plan: 'business', credit: 100_000_000 });
  books = readBooks(gateway.databasePath, { safeIntegers: true });
});

closeAtEnd(() => [upstream, gateway, books]);

type Answer = { readonly status: number; readonly headers: Headers; readonly text: string };

/** A failure of the upstream is one after content only once its client has seen some. */
const hasContent = (text: string): boolean => text.includes('Hello');

async function ask(
  format: Format,
  kind: Kind,
  model: string,
  caller: Caller = payer,
  isSeen = hasContent,
): Promise<Answer> {
  const prompt = `ask-${crypto.randomUUID()}`;
  const seen = Promise.withResolvers<void>();
  seenBy.set(prompt, seen);
  if (kind !== 'stream') seen.resolve();
  const response = await post(
    caller,
    PATHS[format],
    requestBody(format, model, {
      stream: kind === 'stream',
      max_tokens: kind === 'long' ? 8_000 : 100,
      messages: [{ role: 'user', content: prompt }],
    }),
  );
  const decoder = new TextDecoder();
  let text = '';
  for await (const bytes of response.body ?? []) {
    text += decoder.decode(bytes, { stream: true });
    if (isSeen(text)) seen.resolve();
  }
  return { status: response.status, headers: response.headers, text };
}

type Record_ = {
  readonly phase: string;
  readonly outcome: string;
  readonly attempts: Uint8Array;
  readonly debited: bigint;
  readonly output: bigint;
};

async function booked(answer: Answer): Promise<Record_> {
  const requestId = answer.headers.get('x-request-id') ?? '';
  const query = books.query<Record_, [string]>(
    `select phase, outcome, attempts, debited,
       usage_records.output_tokens as output from holds
     join usage_records using (request_id) where request_id = ?`,
  );
  await waitUntil(() => query.get(requestId) !== null);
  const record = query.get(requestId);
  if (record === null) throw new Error(`no record of ${requestId}`);
  return record;
}

function failuresOf(record: Record_): unknown[] {
  return (JSON.parse(unpacked(books, record.attempts)) as Json[]).map(
    (attempt) => attempt['failure'],
  );
}

function expectNoLeak(name: string, answer: Answer): void {
  const all = `${JSON.stringify([...answer.headers])}${answer.text}`;
  for (const secret of [
    CANARY,
    UPSTREAM_KEY,
    upstream.baseUrl,
    'scripted',
    'apart-',
    'nginx',
    'engine',
  ]) {
    expect([name, all.includes(secret) ? secret : '']).toEqual([name, '']);
  }
}

const STATUS = {
  unavailable: 503,
  invalid_request: 400,
  payload_too_large: 413,
  context_length_exceeded: 400,
} as const;
const TYPES = {
  unavailable: 'overloaded_error',
  invalid_request: 'invalid_request_error',
  payload_too_large: 'request_too_large',
  context_length_exceeded: 'invalid_request_error',
} as const;

describe.concurrent('before content', () => {
  test.each(ALL_KINDS)(
    '%s, %s: an error in the envelope, and nothing is charged',
    async (format, kind) => {
      const check = async ([name, expected, failure]: (typeof BEFORE)[number]): Promise<void> => {
        const answer = await ask(format, kind, name);
        const error = (JSON.parse(answer.text) as Json)['error'] as Json;
        const requestId = answer.headers.get('x-request-id');
        expect([name, answer.status, error['code'], error['type'], error['request_id']]).toEqual([
          name,
          STATUS[expected],
          expected === 'unavailable' ? 'provider_unavailable' : expected,
          TYPES[expected],
          requestId,
        ]);
        expectNoLeak(name, answer);
        const record = await booked(answer);
        expect([name, record.phase, record.outcome, record.debited]).toEqual([
          name,
          'released',
          'upstream_failed',
          0n,
        ]);
        const [found] = failuresOf(record);
        expect([name, found]).toEqual([name, failure === '*' ? found : failure]);
        expect([name, typeof found]).toEqual([name, 'string']);
      };
      await Promise.all(BEFORE.map(check));
    },
  );

  test.each(ALL_KINDS)(
    '%s, %s: a fallback serves, unless the mistake is in the request',
    async (format, kind) => {
      const check = async ([name, expected, failure]: (typeof BEFORE)[number]): Promise<void> => {
        const answer = await ask(format, kind, withFallback(name));
        const isServed = expected === 'unavailable' || expected === 'payload_too_large';
        expect([name, answer.status]).toEqual([name, isServed ? 200 : STATUS[expected]]);
        expectNoLeak(name, answer);
        if (!isServed) return;
        expect([name, answer.headers.get('x-svc-model')]).toEqual([name, 'ok']);
        const named = new Set(answer.text.match(/(?<="model":")[^"]*/g));
        expect([name, ...named]).toEqual([name, withFallback(name)]);
        if (kind !== 'stream') expect(answer.text).toContain(HELLO);
        const record = await booked(answer);
        expect([name, record.outcome, record.debited, failuresOf(record).length]).toEqual([
          name,
          'completed',
          16_400_000n,
          // One that cannot be reached is asked twice.
          failure === 'unreachable' ? 3 : 2,
        ]);
      };
      await Promise.all(BEFORE.map(check));
    },
  );
});

describe.concurrent('after content', () => {
  test.each(FORMATS)(
    '%s, streamed: an error event, and what was delivered is charged',
    async (format) => {
      const check = async ([name, failure]: (typeof AFTER)[number]): Promise<void> => {
        // With a fallback in reach: it must not be used once content has left.
        const answer = await ask(format, 'stream', withFallback(name));
        expect([name, answer.status, answer.headers.get('x-svc-model')]).toEqual([
          name,
          200,
          withFallback(name),
        ]);
        expectNoLeak(name, answer);
        const events = parseEvents(answer.text);
        if (format === 'chat') expect([name, events.at(-1)?.data]).toEqual([name, '[DONE]']);
        const last = events.at(format === 'chat' ? -2 : -1);
        expect([name, last?.event]).toEqual([name, format === 'chat' ? '' : 'error']);
        const error = last?.json?.['error'] as Json;
        expect([name, error]).toMatchObject([
          name,
          { code: 'provider_unavailable', request_id: answer.headers.get('x-request-id') },
        ]);
        expect(answer.text).not.toContain('"finish_reason":"stop"');
        expect(answer.text).not.toContain('message_stop');
        const record = await booked(answer);
        expect([name, record.phase, record.outcome, failuresOf(record)]).toEqual([
          name,
          'settled',
          'upstream_failed',
          [failure],
        ]);
        expect(record.output >= 1n && record.output <= 6n).toBe(true);
        expect(record.debited > record.output * 2_000_000n).toBe(true);
      };
      await Promise.all(AFTER.map(check));
    },
  );

  test.each(FORMATS)(
    '%s, whole: nothing was delivered, so it fails and costs nothing',
    async (format) => {
      const check = async ([name, failure]: (typeof AFTER)[number]): Promise<void> => {
        const answer = await ask(format, 'long', name);
        const error = (JSON.parse(answer.text) as Json)['error'] as Json;
        expect([name, answer.status, error['code']]).toEqual([name, 503, 'provider_unavailable']);
        expectNoLeak(name, answer);
        const record = await booked(answer);
        // Where no other upstream is left, the same one may have been asked again.
        const kinds = [...new Set(failuresOf(record))];
        expect([name, record.phase, record.debited, kinds]).toEqual([
          name,
          'released',
          0n,
          [failure],
        ]);
      };
      await Promise.all(AFTER.map(check));
    },
    // The one that falls silent is waited for each time that it is asked.
    40_000,
  );

  test.each(FORMATS)('%s, whole: a fallback still serves', async (format) => {
    const check = async ([name]: (typeof AFTER)[number]): Promise<void> => {
      const answer = await ask(format, 'long', withFallback(name));
      expect([name, answer.status, answer.headers.get('x-svc-model')]).toEqual([name, 200, 'ok']);
      expect((await booked(answer)).debited).toBe(16_400_000n);
    };
    await Promise.all(AFTER.map(check));
  });

  test('an upstream that runs out of resources after content: the formats differ', async () => {
    const chat = await ask('chat', 'stream', 'late-exhaustion');
    expect(chat.text).toContain('"finish_reason":"insufficient_system_resource"');
    const messages = await ask('messages', 'stream', 'late-exhaustion');
    expect(parseEvents(messages.text).at(-1)?.event).toBe('error');
    const [expected, broken] = [await booked(chat), await booked(messages)];
    expect([expected.outcome, broken.outcome]).toEqual(['completed', 'upstream_failed']);
    expect(broken.output).toBe(expected.output);
    expect(broken.debited > broken.output * 2_000_000n).toBe(true);
  });
});

test.each(FORMATS)(
  '%s: a stream that was committed in silence can only fail as an event, for free',
  async (format) => {
    await using patient = await startGateway({
      catalog: catalogFor(upstream, [SILENT_UNTIL_SEEN]),
      environment: { SILENT_COMMIT_SECONDS: '0.1', HEARTBEAT_SECONDS: '0.1' },
    });
    const account = await patient.createAccount({ credit: 1_000 });
    // The first event opens the answer, the next ones are heartbeats, the last ones end it.
    const hasBeats = (text: string) => parseEvents(text).length > 3;
    const answer = await ask(format, 'stream', SILENT_UNTIL_SEEN, account, hasBeats);
    expect([answer.status, answer.headers.get('x-svc-model')]).toEqual([200, null]);
    const events = parseEvents(answer.text);
    const error = events.at(format === 'chat' ? -2 : -1)?.json?.['error'];
    expect(error).toMatchObject({
      code: 'provider_unavailable',
      svc_tokens_debited: '0',
      svc_balance_tokens: '1000',
      svc_outcome: 'upstream_failed',
    });
  },
  30_000,
);

test('afterwards no request is in progress, and the log has no word of the upstream', async () => {
  await upstream.waitFor(() => upstream.active() === 0);
  const { json } = await get(payer, '/v1/account');
  expect([(json['usage'] as Json)['in_flight'], (json['balance'] as Json)['reserved']]).toEqual([
    0,
    '0',
  ]);
  expect(upstream.requests.every((request) => request.path === '/v1/chat/completions')).toBe(true);
  for (const secret of [CANARY, UPSTREAM_KEY, 'nginx']) {
    expect(gateway.output()).not.toContain(secret);
  }
});
