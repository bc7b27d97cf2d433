// Upstreams of the Messages dialect through the whole program: what they receive, what clients of
// both formats get, streamed and whole, and what is booked.

import { beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { type AnswerContent, inWordsOf, readAnswerContent } from '../support/answer.ts';
import {
  type Behaviour,
  CANARY,
  HELLO,
  REASONING,
  sendText,
  sendWhole,
  streamHead,
} from '../support/behaviours.ts';
import { type Books, openBooks } from '../support/books.ts';
import { type CatalogOptions, catalogFor, UPSTREAM_KEY } from '../support/catalog.ts';
import { type Format, post, requestBody } from '../support/client.ts';
import { explain, type Story } from '../support/explain.ts';
import { closeAtEnd, type Gateway, startGateway, type TestAccount } from '../support/gateway.ts';
import { type Script, SIGNATURE, streamFrames, USAGE, wholeBody } from '../support/render.ts';
import { parseEvents, type SseEvent } from '../support/sse.ts';
import { type RecordedRequest, startUpstream, type Upstream } from '../support/upstream.ts';

setDefaultTimeout(30_000);

type Json = Readonly<Record<string, unknown>>;

/** `long`: a whole answer whose bound makes the gateway read it from the upstream as a stream. */
type Kind = 'whole' | 'long' | 'stream';

const FORMATS: readonly Format[] = ['chat', 'messages'];
const PATHS = { chat: '/v1/chat/completions', messages: '/v1/messages' } as const;
const ALL_KINDS = FORMATS.flatMap((format) =>
  (['whole', 'long', 'stream'] as const).map((kind) => [format, kind] as const),
);

const PARIS = { id: 'call_1', name: 'get_weather', json: '{"city":"Paris"}' };
const TIME = { id: 'call_2', name: 'get_time', json: '{"zone":"CET"}' };

const hello: AnswerContent = { reasoning: '', text: HELLO, calls: [], reason: 'stop' };
const called: AnswerContent = { reasoning: '', text: '', calls: [PARIS], reason: 'tool_calls' };

const ANSWERS: readonly (readonly [name: string, said: AnswerContent])[] = [
  ['ok', hello],
  ['reasoning', { ...hello, reasoning: REASONING }],
  ['tool', called],
  ['two-tools', { ...called, calls: [PARIS, TIME] }],
  ['text-and-tool', { ...called, text: HELLO }],
  ['reasoning-and-tool', { ...called, reasoning: REASONING }],
  ['finish-length', { ...hello, reason: 'length' }],
  ['content-filter', { ...hello, reason: 'content_filter' }],
  ['no-content', { ...hello, text: '' }],
  ['pause-turn', hello],
  ['window-exceeded', { ...hello, reason: 'length' }],
];

/** Answers that differ only in how their bytes arrive; for whole answers they are no streams. */
const BYTES = ['bytewise', 'crlf', 'one-write', 'comments', 'no-done', 'json-for-stream'];

/** The standard usage: 6 prompt tokens, 4 cached ones at a tenth, 5 of output at the double. */
const STANDARD = { basis: 'reported', input_tokens: 10, cached_input_tokens: 4, output_tokens: 5 };

type Reported =
  | 'provider_unavailable'
  | 'invalid_request'
  | 'payload_too_large'
  | 'context_length_exceeded';

/** Before any content: what the customer receives, and the class in the books; `*` is any. */
const BEFORE: readonly (readonly [name: string, expected: Reported, failure: string])[] = [
  ['status-400', 'invalid_request', 'bad_request'],
  ['status-413', 'payload_too_large', 'too_large'],
  ['context-400', 'context_length_exceeded', 'context_length'],
  ['status-401', 'provider_unavailable', 'credential'],
  ['status-402', 'provider_unavailable', 'credential'],
  ['status-403', 'provider_unavailable', 'credential'],
  ['status-404', 'provider_unavailable', 'mismatch'],
  ['status-429', 'provider_unavailable', 'rate_limited'],
  ['status-500', 'provider_unavailable', 'server_error'],
  ['status-503', 'provider_unavailable', 'overloaded'],
  ['status-529', 'provider_unavailable', 'overloaded'],
  ['html-500', 'provider_unavailable', 'server_error'],
  ['html', 'provider_unavailable', '*'],
  ['empty', 'provider_unavailable', '*'],
  ['json-null', 'provider_unavailable', '*'],
  ['error-in-200', 'provider_unavailable', 'server_error'],
  ['error-first', 'provider_unavailable', '*'],
  ['overloaded-first', 'provider_unavailable', '*'],
  ['garbage', 'provider_unavailable', 'malformed'],
  ['cut-before', 'provider_unavailable', 'unreachable'],
  ['stall-before', 'provider_unavailable', 'timeout'],
  ['stall-after-head', 'provider_unavailable', 'timeout'],
  ['comments-only', 'provider_unavailable', 'timeout'],
];

const ERROR_FRAME = `event: error\ndata: {"type":"error","error":{"type":"api_error","message":"${CANARY}"}}\n\n`;

/** After content has left: how the upstream breaks, and the class in the books. */
const AFTER: readonly (readonly [name: string, failure: string, breaks: Behaviour])[] = [
  ['late-cut', 'cut', (exchange) => exchange.end()],
  ['late-cut-connection', 'cut', (exchange) => exchange.cut()],
  ['late-reset', 'cut', (exchange) => exchange.reset()],
  ['late-stall', 'timeout', (exchange) => exchange.untilGone()],
  [
    'late-garbage',
    'malformed',
    (exchange) => {
      exchange.write('data: {"not json\n\n');
      exchange.end();
    },
  ],
  [
    'late-error',
    'server_error',
    (exchange) => {
      exchange.write(ERROR_FRAME);
      exchange.end();
    },
  ],
];

/** Resolved, by prompt, once its client has seen content: before that a failure is another one. */
const delivered = new Map<string, PromiseWithResolvers<void>>();

function afterContent(breaks: Behaviour): Behaviour {
  return async (exchange) => {
    const { model, text } = exchange.request;
    streamHead(exchange);
    const frames = streamFrames('messages', model, { pieces: [{ text: HELLO }], finish: 'stop' });
    for (const frame of frames.slice(0, 3)) exchange.write(frame);
    const [prompt = ''] = /ask-[\w-]+/.exec(text) ?? [];
    await Promise.race([delivered.get(prompt)?.promise, exchange.untilGone()]);
    await breaks(exchange);
  };
}

/** Says hello and ends with a word of the vendor's own. */
function endsWith(stopReason: string): Behaviour {
  const script: Script = { pieces: [{ text: HELLO }], finish: 'stop', usage: USAGE };
  return (exchange) => {
    const { model, stream } = exchange.request;
    const worded = (text: string): string => text.replaceAll('end_turn', stopReason);
    if (stream) sendText(exchange, worded(streamFrames('messages', model, script).join('')));
    else sendWhole(exchange, 200, worded(wholeBody('messages', model, script)));
  };
}

const SILENT = ['stall-before', 'stall-after-head', 'comments-only'];

/** Only a timer ends these, so that each has the one that it waits for; all others have long ones. */
const HASTY = {
  id: 'scripted-hasty',
  profile: 'anthropic',
  first_byte_seconds: 1,
  first_content_seconds: 1,
};
const HASTY_LATER = { id: 'scripted-hasty-later', profile: 'anthropic', idle_seconds: 1 };

/** Models of an upstream whose thinking has a budget. */
const BUDGETED = ['budgeted'];

const PLAIN_MODELS = ['no-usage', 'absurd-usage', 'usage-1000-200-50', 'tool-round', 'plain'];

let upstream: Upstream;
let gateway: Gateway;
let account: TestAccount;
let books: Books;

beforeAll(async () => {
  upstream = await startUpstream({
    ...Object.fromEntries(AFTER.map(([name, , breaks]) => [name, afterContent(breaks)])),
    'pause-turn': endsWith('pause_turn'),
    'window-exceeded': endsWith('model_context_window_exceeded'),
  });
  gateway = await startGateway({ catalog: catalog(), environment: { LOG_LEVEL: 'debug' } });
  account = await gateway.createAccount({ plan: 'business', credit: 100_000_000 });
  books = openBooks(gateway);
});

closeAtEnd(() => [upstream, gateway, books]);

function catalog(): string {
  const failing = [...BEFORE, ...AFTER].map(([name]) => name);
  const names = [...ANSWERS.map(([name]) => name), ...BYTES, ...failing, ...PLAIN_MODELS];
  const stalling = (model: string, id: string) => [model, { served_by: [{ upstream: id, model }] }];
  const text = catalogFor(upstream, [...names, 'overloaded-or-ok'], {
    dialect: 'messages',
    upstream: { profile: 'anthropic' },
    models: {
      ...Object.fromEntries(SILENT.map((name) => stalling(name, HASTY.id))),
      ...Object.fromEntries([stalling('late-stall', HASTY_LATER.id)]),
      plain: { features: ['tools'] },
      'overloaded-or-ok': {
        served_by: [{ upstream: 'scripted', model: 'overloaded-first' }],
        fallbacks: ['ok'],
      },
    },
    plans: { business: { concurrent_requests: 1_000, requests_per_minute: 100_000 } },
  });
  const budgeted = more(BUDGETED, {
    upstream: { id: 'budget', profile: 'messages' },
    model: { served_by: [{ upstream: 'budget', model: 'reasoning' }], max_output: 40_000 },
  });
  const hasty = [HASTY, HASTY_LATER].map((fields) => more([], { upstream: fields }));
  return [text, budgeted, ...hasty].join('\n');
}

/** Further upstreams and their models, without what a catalog has once. */
function more(names: readonly string[], options: CatalogOptions): string {
  const text = catalogFor(upstream, names, { dialect: 'messages', ...options });
  return text.slice(text.indexOf('[[upstream]]'));
}

type Answer = { readonly status: number; readonly headers: Headers; readonly text: string };

async function ask(format: Format, kind: Kind, model: string, more: Json = {}): Promise<Answer> {
  const prompt = `ask-${crypto.randomUUID()}`;
  const seen = Promise.withResolvers<void>();
  delivered.set(prompt, seen);
  if (kind !== 'stream') seen.resolve();
  const body = requestBody(format, model, {
    stream: kind === 'stream',
    max_tokens: kind === 'long' ? 8_000 : 100,
    messages: [{ role: 'user', content: prompt }],
    ...more,
  });
  const response = await post(account, PATHS[format], body);
  const decoder = new TextDecoder();
  let text = '';
  for await (const bytes of response.body ?? []) {
    text += decoder.decode(bytes, { stream: true });
    if (text.includes('Hello')) seen.resolve();
  }
  return { status: response.status, headers: response.headers, text };
}

function expectSaid(name: string, format: Format, answer: Answer, said: AnswerContent): void {
  expect([name, answer.status, answer.text]).toEqual([name, 200, answer.text]);
  expect([name, readAnswerContent(format, answer.text)]).toEqual([name, inWordsOf(format, said)]);
  expectNoLeak(name, answer);
}

function expectNoLeak(name: string, answer: Answer): void {
  const all = `${JSON.stringify([...answer.headers])}${answer.text}`;
  for (const secret of [CANARY, UPSTREAM_KEY, SIGNATURE, 'msg_scripted', 'scripted', 'nginx']) {
    expect([name, all.includes(secret) ? secret : '']).toEqual([name, '']);
  }
}

/** The class of the first attempt's failure, as the books name it. */
function expectFailure(name: string, story: Story | undefined, failure: string): void {
  const [first] = (story?.['attempts'] ?? []) as readonly Json[];
  const found = first?.['failure'];
  expect([name, typeof found]).toEqual([name, 'string']);
  if (failure !== '*') expect([name, found]).toEqual([name, failure]);
}

const requestId = (answer: Answer): string | null => answer.headers.get('x-request-id');

describe.concurrent('answers', () => {
  test.each(ALL_KINDS)(
    'cases 165 and 167: %s, %s: all kinds of them, each booked as reported',
    async (format, kind) => {
      const check = async ([name, said]: (typeof ANSWERS)[number]): Promise<void> => {
        const answer = await ask(format, kind, name);
        expectSaid(name, format, answer, said);
        const story = await books.story(requestId(answer));
        expect([name, story?.hold['phase'], story?.booked?.['debited']]).toEqual([
          name,
          'settled',
          '16.4',
        ]);
        expect([name, story?.usage]).toMatchObject([name, STANDARD]);
      };
      await Promise.all(ANSWERS.map(check));
    },
  );

  test.each(FORMATS)('%s, streamed: however the bytes arrive', async (format) => {
    const check = async (name: string): Promise<void> => {
      expectSaid(name, format, await ask(format, 'stream', name), hello);
    };
    await Promise.all(BYTES.map(check));
  });

  test.each(ALL_KINDS)(
    '%s, %s: usage that is missing or absurd is estimated',
    async (format, kind) => {
      const check = async (name: string): Promise<void> => {
        const answer = await ask(format, kind, name);
        expectSaid(name, format, answer, hello);
        const story = await books.story(requestId(answer));
        expect([name, story?.usage?.['basis']]).toEqual([name, 'estimated']);
        expect([name, Number(story?.booked?.['debited']) > 0]).toEqual([name, true]);
      };
      await Promise.all(['no-usage', 'absurd-usage'].map(check));
    },
  );

  test.each(FORMATS)('%s: cached tokens are part of the prompt', async (format) => {
    const answer = await ask(format, 'whole', 'usage-1000-200-50');
    const { usage } = JSON.parse(answer.text);
    expect(usage).toMatchObject(
      format === 'chat'
        ? {
            prompt_tokens: 1_000,
            completion_tokens: 50,
            total_tokens: 1_050,
            prompt_cache_hit_tokens: 200,
            prompt_cache_miss_tokens: 800,
          }
        : { input_tokens: 800, cache_read_input_tokens: 200, output_tokens: 50 },
    );
    // 800 + 200 × 0.1 + 50 × 2.
    expect(usage.svc_tokens_debited).toBe('920');
    const story = await explain(gateway, requestId(answer));
    expect(story).toMatchObject({
      hold: { phase: 'settled' },
      request: { format, upstream: 'scripted', outcome: 'completed' },
      usage: { basis: 'reported', input_tokens: 1_000, cached_input_tokens: 200 },
      booked: { debited: '920', loss: '0' },
    });
  });
});

const STATUS = {
  provider_unavailable: 503,
  invalid_request: 400,
  payload_too_large: 413,
  context_length_exceeded: 400,
} as const;

describe.concurrent('failures before content', () => {
  test.each(ALL_KINDS)(
    '%s, %s: an error in the envelope, and nothing is charged',
    async (format, kind) => {
      const check = async ([name, expected, failure]: (typeof BEFORE)[number]): Promise<void> => {
        const answer = await ask(format, kind, name);
        const { error } = JSON.parse(answer.text);
        expect([name, answer.status, error.code, error.request_id]).toEqual([
          name,
          STATUS[expected],
          expected,
          requestId(answer),
        ]);
        expectNoLeak(name, answer);
        const story = await books.story(requestId(answer));
        expect([name, story]).toMatchObject([
          name,
          {
            hold: { phase: 'released' },
            request: { outcome: 'upstream_failed' },
            booked: { debited: '0' },
          },
        ]);
        expectFailure(name, story, failure);
      };
      await Promise.all(BEFORE.map(check));
    },
  );

  test.each(ALL_KINDS)(
    'case 166: %s, %s: an overloaded upstream has a fallback',
    async (format, kind) => {
      const answer = await ask(format, kind, 'overloaded-or-ok');
      expectSaid('overloaded-or-ok', format, answer, hello);
      expect(answer.headers.get('x-svc-model')).toBe('ok');
    },
  );
});

describe.concurrent('failures after content', () => {
  test.each(FORMATS)(
    '%s, streamed: an error event, and what was delivered is charged',
    async (format) => {
      const check = async ([name, failure]: (typeof AFTER)[number]): Promise<void> => {
        const answer = await ask(format, 'stream', name);
        expect([name, answer.status]).toEqual([name, 200]);
        expectNoLeak(name, answer);
        const events = parseEvents(answer.text);
        expect([name, errorOf(format, events)]).toMatchObject([
          name,
          { code: 'provider_unavailable', request_id: requestId(answer) },
        ]);
        expect(answer.text).not.toContain('"finish_reason":"stop"');
        expect(answer.text).not.toContain('message_stop');
        const story = await books.story(requestId(answer));
        expect([name, story]).toMatchObject([
          name,
          {
            hold: { phase: 'settled' },
            request: { outcome: 'upstream_failed' },
            usage: { basis: 'estimated' },
          },
        ]);
        expect([name, Number(story?.booked?.['debited']) > 0]).toEqual([name, true]);
        expectFailure(name, story, failure);
      };
      await Promise.all(AFTER.map(check));
    },
  );

  test.each(FORMATS)(
    '%s, whole: nothing was delivered, so it fails and costs nothing',
    async (format) => {
      const check = async ([name, failure]: (typeof AFTER)[number]): Promise<void> => {
        const answer = await ask(format, 'long', name);
        expect([name, answer.status]).toEqual([name, 503]);
        expectNoLeak(name, answer);
        const story = await books.story(requestId(answer));
        expect([name, story]).toMatchObject([
          name,
          { hold: { phase: 'released' }, booked: { debited: '0' } },
        ]);
        expectFailure(name, story, failure);
      };
      await Promise.all(AFTER.map(check));
    },
  );
});

function errorOf(format: Format, events: readonly SseEvent[]): unknown {
  if (format === 'chat') expect(events.at(-1)?.data).toBe('[DONE]');
  const last = events.at(format === 'chat' ? -2 : -1);
  expect(last?.event).toBe(format === 'chat' ? '' : 'error');
  return last?.json?.['error'];
}

/** Sends a request and returns what the upstream was asked. Tests with it run one after the other. */
async function asked(
  format: Format,
  kind: Kind,
  model: string,
  more: Json,
): Promise<RecordedRequest> {
  const answer = await ask(format, kind, model, more);
  expect([answer.status, answer.text]).toEqual([200, answer.text]);
  const request = upstream.requests.at(-1);
  if (request === undefined) throw new Error('nothing was asked');
  return request;
}

const USER = { role: 'user', content: 'Hello?' };
const ASKED_USER = { role: 'user', content: [{ type: 'text', text: 'Hello?' }] };
const SCHEMA = { type: 'object', properties: { city: { type: 'string' } } };
const TOOLS = {
  chat: [{ type: 'function', function: { name: 'get_weather', parameters: SCHEMA } }],
  messages: [{ name: 'get_weather', input_schema: SCHEMA }],
};
const ASKED_TOOLS = [{ name: 'get_weather', input_schema: SCHEMA }];

describe('what the upstream is asked', () => {
  test.each(FORMATS)('%s: path, headers and the least that there is', async (format) => {
    const { path, headers, body } = await asked(format, 'whole', 'ok', { messages: [USER] });
    expect(path).toBe('/v1/messages');
    expect(headers).toMatchObject({
      'content-type': 'application/json',
      'anthropic-version': '2023-06-01',
      'x-api-key': UPSTREAM_KEY,
    });
    expect(headers['authorization']).toBeUndefined();
    expect(body).toEqual({ model: 'ok', max_tokens: 100, messages: [ASKED_USER] });
  });

  test.each(FORMATS)('%s: a stream where one is needed, without options', async (format) => {
    const messages = [USER];
    const streamed = await asked(format, 'stream', 'ok', { messages });
    expect(streamed.body).toEqual({
      model: 'ok',
      max_tokens: 100,
      messages: [ASKED_USER],
      stream: true,
    });
    const long = await asked(format, 'long', 'ok', { messages });
    expect(long.body).toEqual({
      model: 'ok',
      max_tokens: 8_000,
      messages: [ASKED_USER],
      stream: true,
    });
  });

  test("chat: case 161, fields of that format, and the model's maximum for want of a bound", async () => {
    const { body } = await asked('chat', 'whole', 'ok', {
      max_tokens: undefined,
      messages: [
        { role: 'system', content: 'Be brief.' },
        USER,
        { role: 'developer', content: 'Be kind.' },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'And?' },
            { type: 'image_url', image_url: { url: 'data:image/png;base64,iVBORw0KGgo=' } },
          ],
        },
      ],
      ...{ stop: ['END', '\n'], tools: TOOLS.chat, tool_choice: 'required' },
      ...{ parallel_tool_calls: false, user: 'end-user', response_format: { type: 'json_object' } },
      ...{ temperature: 1.7, frequency_penalty: 1 },
    });
    expect(body).toEqual({
      model: 'ok',
      max_tokens: 8_192,
      system:
        'Be brief.\n\nAnswer with one JSON object and nothing else: no text around it, no code fence.',
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'Hello?\n\nBe kind.' },
            { type: 'text', text: 'And?' },
            {
              type: 'image',
              source: { type: 'base64', media_type: 'image/png', data: 'iVBORw0KGgo=' },
            },
          ],
        },
      ],
      stop_sequences: ['END'],
      tools: ASKED_TOOLS,
      tool_choice: { type: 'any', disable_parallel_tool_use: true },
      stream: true,
    });
  });

  test.each([
    ['chat', { reasoning_effort: 'low' }],
    ['messages', { thinking: { type: 'adaptive' }, output_config: { effort: 'low' } }],
  ] as const)('%s: thinking as the profile has it', async (format, more) => {
    const { body } = await asked(format, 'whole', 'reasoning', { messages: [USER], ...more });
    expect(body).toEqual({
      model: 'reasoning',
      max_tokens: 100,
      messages: [ASKED_USER],
      thinking: { type: 'adaptive', display: 'summarized' },
      output_config: { effort: 'low' },
    });
    const budgeted = await asked(format, 'whole', 'budgeted', {
      messages: [USER],
      max_tokens: 3_000,
      ...more,
    });
    expect(budgeted.body).toEqual({
      model: 'reasoning',
      max_tokens: 3_000,
      messages: [ASKED_USER],
      thinking: { type: 'enabled', budget_tokens: 1_976 },
    });
    const plain = await asked(format, 'whole', 'plain', { messages: [USER], ...more });
    expect(plain.body).toEqual({ model: 'plain', max_tokens: 100, messages: [ASKED_USER] });
  });

  test.each(FORMATS)(
    '%s: an image that no upstream takes is refused with its field',
    async (format) => {
      const url = 'data:image/svg+xml;base64,PHN2Zz4=';
      const source = { type: 'base64', media_type: 'image/svg+xml', data: 'PHN2Zz4=' };
      const image =
        format === 'chat' ? { type: 'image_url', image_url: { url } } : { type: 'image', source };
      const answer = await ask(format, 'whole', 'ok', {
        messages: [{ role: 'user', content: [image] }],
      });
      const field = format === 'chat' ? 'image_url.url' : 'source.media_type';
      const { error } = JSON.parse(answer.text);
      expect([answer.status, error.code]).toEqual([400, 'invalid_request']);
      expect(error.message).toStartWith(`messages[0].content[0].${field}: must be a PNG, JPEG`);
    },
  );
});

/**
 * The second turn of a conversation in which a tool was called, as a client of the format sends it.
 */
function secondTurn(format: Format, json: string): readonly string[] {
  const call =
    format === 'chat'
      ? `{"role":"assistant","content":null,"tool_calls":[{"id":"call_1","type":"function","function":{"name":"get_weather","arguments":${JSON.stringify(json)}}}]}`
      : `{"role":"assistant","content":[{"type":"tool_use","id":"call_1","name":"get_weather","input":${json}}]}`;
  const result =
    format === 'chat'
      ? '{"role":"tool","tool_call_id":"call_1","content":"sunny"}'
      : '{"role":"user","content":[{"type":"tool_result","tool_use_id":"call_1","content":"sunny"}]}';
  return [JSON.stringify(USER), call, result];
}

describe('a second turn', () => {
  /** What JavaScript objects would reorder and round. */
  const ODD = '{"2": 1.0, "1": 12345678901234567890}';

  test.each(FORMATS)(
    '%s: results come back, and inputs as the bytes that they were',
    async (format) => {
      const tools = JSON.stringify(TOOLS[format]);
      const messages = secondTurn(format, ODD).join(',');
      const body = `{"model":"tool-round","max_tokens":100,"tools":${tools},"messages":[${messages}]}`;
      const response = await post(account, PATHS[format], body);
      const text = await response.text();
      expect([response.status, text.includes('It is sunny.')]).toEqual([200, true]);
      const request = upstream.requests.at(-1);
      expect(request?.text).toContain(`"input":${ODD}`);
      const mark = { cache_control: { type: 'ephemeral' } };
      expect(request?.body['messages']).toEqual([
        { ...ASKED_USER, content: ASKED_USER.content.map((block) => ({ ...block, ...mark })) },
        {
          role: 'assistant',
          content: [
            { type: 'tool_use', id: 'call_1', name: 'get_weather', input: JSON.parse(ODD) },
          ],
        },
        {
          role: 'user',
          content: [{ type: 'tool_result', tool_use_id: 'call_1', content: 'sunny', ...mark }],
        },
      ]);
    },
  );

  test.each(ALL_KINDS)(
    '%s, %s: thinking returns with the signature that no client saw',
    async (format, kind) => {
      const more = {
        tools: TOOLS[format],
        messages: [USER],
        ...(format === 'chat'
          ? { thinking: { type: 'enabled' } }
          : { thinking: { type: 'adaptive' } }),
      };
      const first = await ask(format, kind, 'tool-round', more);
      expectSaid('tool-round', format, first, { ...called, reasoning: REASONING });
      const messages = secondTurn(format, PARIS.json).map((message) => JSON.parse(message));
      const second = await ask(format, kind, 'tool-round', { ...more, messages });
      expectSaid('tool-round', format, second, { ...hello, text: 'It is sunny.' });
      expect(upstream.requests.at(-1)?.body).toMatchObject({
        thinking: { type: 'adaptive', display: 'summarized' },
        messages: [
          ASKED_USER,
          {
            role: 'assistant',
            content: [
              { type: 'thinking', thinking: REASONING, signature: SIGNATURE },
              { type: 'tool_use', id: 'call_1', name: 'get_weather', input: { city: 'Paris' } },
            ],
          },
          {
            role: 'user',
            content: [{ type: 'tool_result', tool_use_id: 'call_1', content: 'sunny' }],
          },
        ],
      });
    },
  );
});

test('afterwards no request is in progress, and the log has no word of the upstream', async () => {
  await upstream.waitFor(() => upstream.active() === 0);
  expect(upstream.requests.every((request) => request.path === '/v1/messages')).toBe(true);
  for (const secret of [CANARY, UPSTREAM_KEY, SIGNATURE, 'nginx']) {
    expect(gateway.output()).not.toContain(secret);
  }
});
