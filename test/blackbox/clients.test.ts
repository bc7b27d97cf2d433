// The published client libraries of both formats against the executable: nothing is changed in them
// but base URL and key. What one of them cannot read is a defect of the gateway, whatever the
// specification says.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { HELLO, REASONING } from '../support/behaviours.ts';
import { catalogFor, ROOMY_PLAN } from '../support/catalog.ts';
import { type Caller, openStream } from '../support/client.ts';
import { explain } from '../support/explain.ts';
import { type Gateway, startGateway, type TestAccount } from '../support/gateway.ts';
import { startUpstream, type Upstream, waitUntil } from '../support/upstream.ts';

const MODELS = [
  ...['ok', 'reasoning', 'tool', 'two-tools', 'text-and-tool', 'reasoning-and-tool', 'tool-round'],
  ...['finish-length', 'stall', 'cut', 'status-503', 'slow-tokens-500-10'],
];

/** (10 − 4) × 1 + 4 × 0.1 + 5 × 2 */
const BILL = { svc_tokens_debited: '16.4', svc_cost_usd: '0.0000164' };

const CHAT_USAGE = {
  prompt_tokens: 10,
  completion_tokens: 5,
  total_tokens: 15,
  prompt_tokens_details: { cached_tokens: 4 },
  completion_tokens_details: { reasoning_tokens: 0 },
  prompt_cache_hit_tokens: 4,
  prompt_cache_miss_tokens: 6,
  ...BILL,
};

const MESSAGES_USAGE = {
  input_tokens: 6,
  cache_creation_input_tokens: 0,
  cache_read_input_tokens: 4,
  output_tokens: 5,
  ...BILL,
};

const PNG =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGNgYGBgAAAABQABpfZFQAAAAABJRU5ErkJggg==';

const SCHEMA = {
  type: 'object' as const,
  properties: { city: { type: 'string' } },
  required: ['city'],
};
const CHAT_TOOL = {
  type: 'function' as const,
  function: { name: 'get_weather', description: 'The weather of a city.', parameters: SCHEMA },
};
const MESSAGES_TOOL = {
  name: 'get_weather',
  description: 'The weather of a city.',
  input_schema: SCHEMA,
};

let upstream: Upstream;
let gateway: Gateway;
let account: TestAccount;
let openai: OpenAI;
let anthropic: Anthropic;

beforeAll(async () => {
  upstream = await startUpstream();
  const plans = {
    narrow: { ...ROOMY_PLAN, models: ['ok'] },
    once: { ...ROOMY_PLAN, requests_per_minute: 1 },
    pair: { ...ROOMY_PLAN, concurrent_requests: 2 },
    capped: { ...ROOMY_PLAN, daily_tokens: 1 },
  };
  gateway = await startGateway({ catalog: catalogFor(upstream, MODELS, { plans }) });
  account = await gateway.createAccount({ plan: 'business' });
  openai = openaiFor(account);
  anthropic = anthropicFor(account);
});

afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  await upstream.close();
});

function openaiFor({ url, key }: Caller, more: object = {}): OpenAI {
  return new OpenAI({ baseURL: `${url}/v1`, apiKey: key, maxRetries: 0, ...more });
}

function anthropicFor({ url, key }: Caller, more: object = {}): Anthropic {
  return new Anthropic({ baseURL: url, apiKey: key, maxRetries: 0, ...more });
}

const user = (content = 'Hello?') => ({ role: 'user' as const, content });

/** A request of either library, kept short: the model and what differs. */
function chatRequest(model: string, more: object = {}) {
  return { model, messages: [user()], ...more };
}

function messagesRequest(model: string, more: object = {}) {
  return { model, max_tokens: 100, messages: [user()], ...more };
}

/** What the upstream was asked last. Tests of this file run one after the other. */
function lastAsked(): Readonly<Record<string, unknown>> {
  return upstream.requests.at(-1)?.body ?? {};
}

const chatCall = (id: string, name: string, json: string) => ({
  id,
  type: 'function',
  function: { name, arguments: json },
});
const PARIS = chatCall('call_1', 'get_weather', '{"city":"Paris"}');
const CET = chatCall('call_2', 'get_time', '{"zone":"CET"}');

/** What each model's answer is for a chat client: content, calls and finish reason. */
const CHAT_ANSWERS = [
  ['ok', { content: HELLO }, 'stop'],
  ['finish-length', { content: HELLO }, 'length'],
  ['tool', { content: null, tool_calls: [PARIS] }, 'tool_calls'],
  ['two-tools', { content: null, tool_calls: [PARIS, CET] }, 'tool_calls'],
  ['text-and-tool', { content: HELLO, tool_calls: [PARIS] }, 'tool_calls'],
] as const;

describe('openai', () => {
  test.each(CHAT_ANSWERS)('%s, whole', async (model, message, finish) => {
    const { data, request_id: requestId } = await openai.chat.completions
      .create(chatRequest(model))
      .withResponse();
    expect(data).toEqual({
      id: expect.stringMatching(/^chatcmpl-\w+$/),
      object: 'chat.completion',
      created: expect.any(Number),
      model,
      choices: [
        {
          index: 0,
          message: { role: 'assistant', ...message },
          logprobs: null,
          finish_reason: finish,
        },
      ],
      usage: CHAT_USAGE,
      system_fingerprint: 'fp_tollgate',
    } as unknown as typeof data);
    expect(requestId).toStartWith('req_');
  });

  test.each(CHAT_ANSWERS)('%s, put together from a stream', async (model, message, finish) => {
    const stream = openai.chat.completions.stream(chatRequest(model));
    const completion = await stream.finalChatCompletion();
    const [choice] = completion.choices;
    // The library starts every message with the content of the role chunk, which is empty.
    const content = message.content ?? '';
    expect(choice?.message).toMatchObject({ ...message, role: 'assistant', content } as object);
    expect(choice?.message.tool_calls?.length).toBe(
      'tool_calls' in message ? message.tool_calls.length : undefined,
    );
    expect(choice?.finish_reason).toBe(finish);
    expect(completion.usage).toEqual(CHAT_USAGE);
    expect(completion).toMatchObject({ ...BILL, svc_outcome: 'completed', model });
  });

  test('chunks read one by one', async () => {
    const stream = await openai.chat.completions.create({ ...chatRequest('ok'), stream: true });
    const chunks = await Array.fromAsync(stream);
    expect(chunks.map((chunk) => chunk.choices[0]?.delta.content ?? '').join('')).toBe(HELLO);
    expect(new Set(chunks.map((chunk) => chunk.id)).size).toBe(1);
    expect(chunks.flatMap((chunk) => chunk.choices[0]?.finish_reason ?? [])).toEqual(['stop']);
    expect(chunks.flatMap((chunk) => chunk.usage ?? [])).toEqual([CHAT_USAGE]);
  });

  test('reasoning, whole and in chunks', async () => {
    const completion = await openai.chat.completions.create(chatRequest('reasoning'));
    expect(completion.choices[0]?.message as unknown).toEqual({
      role: 'assistant',
      content: HELLO,
      reasoning_content: REASONING,
    });
    expect(completion.usage?.completion_tokens_details?.reasoning_tokens).toBe(2);
    const stream = await openai.chat.completions.create({
      ...chatRequest('reasoning'),
      stream: true,
    });
    const deltas = (await Array.fromAsync(stream)).flatMap(
      (chunk) => chunk.choices[0]?.delta ?? [],
    );
    const joined = (name: string) =>
      deltas.map((delta) => (delta as Record<string, unknown>)[name] ?? '').join('');
    expect(joined('reasoning_content')).toBe(REASONING);
    expect(joined('content')).toBe(HELLO);
  });

  test.each([false, true])('a tool runner does a whole round, streamed: %p', async (stream) => {
    const asked: unknown[] = [];
    const tool = {
      type: 'function' as const,
      function: {
        name: 'get_weather',
        description: 'The weather of a city.',
        parameters: SCHEMA,
        parse: JSON.parse,
        function: (input: { city: string }) => {
          asked.push(input);
          return 'sunny';
        },
      },
    };
    const body = { model: 'tool-round', messages: [user('Weather?')], tools: [tool] };
    const runner = stream
      ? openai.chat.completions.runTools({ ...body, stream: true })
      : openai.chat.completions.runTools(body);
    expect(await runner.finalContent()).toBe('It is sunny.');
    expect(asked).toEqual([{ city: 'Paris' }]);
    expect(await runner.totalUsage()).toMatchObject({ prompt_tokens: 20, completion_tokens: 10 });
    expect(lastAsked()['messages']).toMatchObject([
      { role: 'user', content: 'Weather?' },
      { role: 'assistant', tool_calls: [PARIS] },
      { role: 'tool', tool_call_id: 'call_1', content: 'sunny' },
    ]);
  });

  test('images, system prompts and JSON mode reach the model', async () => {
    const url = `data:image/png;base64,${PNG}`;
    await openai.chat.completions.create({
      model: 'ok',
      messages: [
        { role: 'system', content: 'Be brief.' },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'What is it?' },
            { type: 'image_url', image_url: { url } },
          ],
        },
      ],
      response_format: { type: 'json_object' },
    });
    expect(lastAsked()).toMatchObject({
      messages: [
        { role: 'system', content: 'Be brief.' },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'What is it?' },
            { type: 'image_url', image_url: { url } },
          ],
        },
      ],
      response_format: { type: 'json_object' },
    });
  });

  test('models are listed, page by page, and found by slug', async () => {
    const listed = await Array.fromAsync(openai.models.list());
    expect(listed.map((model) => model.id)).toEqual(MODELS);
    const model = await openai.models.retrieve('ok');
    expect(model).toMatchObject({ id: 'ok', object: 'model', owned_by: 'tollgate' });
    expect(model.created).toBeNumber();
  });

  test('a key in x-api-key works as well', async () => {
    const defaultHeaders = { authorization: null, 'x-api-key': account.key };
    const client = openaiFor(account, { defaultHeaders });
    const completion = await client.chat.completions.create(chatRequest('ok'));
    expect(completion.choices[0]?.message.content).toBe(HELLO);
  });
});

const call = (id: string, name: string, input: object) => ({ type: 'tool_use', id, name, input });
const PARIS_USE = call('call_1', 'get_weather', { city: 'Paris' });
const CET_USE = call('call_2', 'get_time', { zone: 'CET' });
const TEXT = { type: 'text', text: HELLO };
const THINKING = {
  type: 'thinking',
  thinking: REASONING,
  signature: expect.stringMatching(/./),
};

const MESSAGES_ANSWERS = [
  ['ok', [TEXT], 'end_turn'],
  ['finish-length', [TEXT], 'max_tokens'],
  ['reasoning', [THINKING, TEXT], 'end_turn'],
  ['tool', [PARIS_USE], 'tool_use'],
  ['two-tools', [PARIS_USE, CET_USE], 'tool_use'],
  ['text-and-tool', [TEXT, PARIS_USE], 'tool_use'],
  ['reasoning-and-tool', [THINKING, PARIS_USE], 'tool_use'],
] as const;

describe('@anthropic-ai/sdk', () => {
  test.each(MESSAGES_ANSWERS)('%s, whole', async (model, content, reason) => {
    const { data, request_id: requestId } = await anthropic.messages
      .create(messagesRequest(model))
      .withResponse();
    expect(data).toEqual({
      id: expect.stringMatching(/^msg_\w+$/),
      type: 'message',
      role: 'assistant',
      model,
      content,
      stop_reason: reason,
      stop_sequence: null,
      usage: MESSAGES_USAGE,
    } as unknown as typeof data);
    expect(requestId).toStartWith('req_');
  });

  test.each(MESSAGES_ANSWERS)('%s, put together from a stream', async (model, content, reason) => {
    const stream = anthropic.messages.stream(messagesRequest(model));
    const usages: unknown[] = [];
    stream.on('streamEvent', (event) => {
      if (event.type === 'message_delta') usages.push(event.usage);
    });
    const message = await stream.finalMessage();
    expect(message).toMatchObject({ type: 'message', role: 'assistant', model });
    expect(message.content as unknown).toEqual(content as unknown);
    expect(message.stop_reason).toBe(reason);
    expect(message.stop_sequence).toBeNull();
    // The library keeps the counters it knows; the bill is read from the event.
    const { svc_tokens_debited: _debited, svc_cost_usd: _cost, ...counters } = MESSAGES_USAGE;
    expect(message.usage).toMatchObject(counters);
    expect(usages).toEqual([
      {
        ...MESSAGES_USAGE,
        svc_balance_tokens: expect.stringMatching(/^\d+(\.\d+)?$/),
        svc_fallback_used: false,
        svc_outcome: 'completed',
      },
    ]);
    expect(stream.request_id).toStartWith('req_');
  });

  test('a helper for text and one for events see the same', async () => {
    const stream = anthropic.messages.stream(messagesRequest('reasoning'));
    const seen = { text: '', thinking: '', signature: '' };
    stream.on('text', (text) => {
      seen.text += text;
    });
    stream.on('thinking', (thinking) => {
      seen.thinking += thinking;
    });
    stream.on('signature', (signature) => {
      seen.signature += signature;
    });
    expect(await stream.finalText()).toBe(HELLO);
    expect(seen).toEqual({ text: HELLO, thinking: REASONING, signature: THINKING.signature });
  });

  // By itself the runner leaves its history to the server, which keeps none here; it is told so, and
  // then sends all messages as it does without threads.
  test.each([
    ['its own history', { stream: false, thread: false }],
    ['its own history, streamed', { stream: true, thread: false }],
    ['a history left to the server', { stream: false }],
    ['a history left to the server, streamed', { stream: true }],
  ] as const)('a tool runner does a whole round with %s', async (_name, mode) => {
    const asked: unknown[] = [];
    const tool = {
      ...MESSAGES_TOOL,
      type: 'custom' as const,
      parse: (input: unknown) => input as { city: string },
      run: (input: { city: string }) => {
        asked.push(input);
        return 'sunny';
      },
    };
    const runner = anthropic.beta.messages.toolRunner({
      model: 'tool-round',
      max_tokens: 100,
      messages: [user('Weather?')],
      tools: [tool],
      ...mode,
    });
    const final = await runner.runUntilDone();
    expect(final.content as unknown).toEqual([{ type: 'text', text: 'It is sunny.' }]);
    expect(asked).toEqual([{ city: 'Paris' }]);
    // The thinking that the client gives back with the call is what the model had thought.
    expect(lastAsked()['messages']).toMatchObject([
      { role: 'user', content: 'Weather?' },
      { role: 'assistant', reasoning_content: REASONING, tool_calls: [PARIS] },
      { role: 'tool', tool_call_id: 'call_1', content: 'sunny' },
    ]);
  });

  test('images and system prompts reach the model', async () => {
    await anthropic.messages.create({
      model: 'ok',
      max_tokens: 100,
      system: [{ type: 'text', text: 'Be brief.', cache_control: { type: 'ephemeral' } }],
      messages: [
        {
          role: 'user',
          content: [
            { type: 'image', source: { type: 'base64', media_type: 'image/png', data: PNG } },
            { type: 'image', source: { type: 'url', url: 'https://images.example/a.png' } },
            { type: 'text', text: 'What is it?' },
          ],
        },
      ],
    });
    expect(lastAsked()['messages']).toEqual([
      { role: 'system', content: 'Be brief.' },
      {
        role: 'user',
        content: [
          { type: 'image_url', image_url: { url: `data:image/png;base64,${PNG}` } },
          { type: 'image_url', image_url: { url: 'https://images.example/a.png' } },
          { type: 'text', text: 'What is it?' },
        ],
      },
    ]);
  });

  test('models are listed, page by page, and found by slug', async () => {
    const listed = await Array.fromAsync(anthropic.models.list());
    expect(listed.map((model) => model.id)).toEqual(MODELS);
    const model = await anthropic.models.retrieve('ok');
    expect(model).toMatchObject({ id: 'ok', type: 'model', display_name: 'ok' });
    expect(new Date(model.created_at).toISOString()).toStartWith(model.created_at.slice(0, -1));
  });

  test('tokens are counted', async () => {
    const few = await anthropic.messages.countTokens(chatRequest('ok'));
    const more = await anthropic.messages.countTokens({
      ...chatRequest('ok'),
      tools: [MESSAGES_TOOL],
    });
    expect(few).toEqual({ input_tokens: expect.any(Number) });
    expect(more.input_tokens).toBeGreaterThan(few.input_tokens);
  });

  test.each(['bearer', 'x-api-key'])('a key sent as %s works', async (form) => {
    const { key } = account;
    const client =
      form === 'bearer'
        ? anthropicFor(account, { apiKey: null, authToken: key })
        : anthropicFor(account, { defaultHeaders: { authorization: null, 'x-api-key': key } });
    const message = await client.messages.create(messagesRequest('ok'));
    expect(message.stop_reason).toBe('end_turn');
  });
});

type ErrorClass = new (...parts: never[]) => Error;

type Refusal = {
  readonly status: number;
  readonly code: string;
  readonly chat: ErrorClass;
  readonly messages: ErrorClass;
  /** Who asks; the account of the whole file unless told otherwise. */
  readonly caller?: () => Promise<Caller>;
  readonly model?: string;
  readonly content?: string;
};

const REFUSALS: readonly Refusal[] = [
  {
    status: 400,
    code: 'invalid_request',
    chat: OpenAI.BadRequestError,
    messages: Anthropic.BadRequestError,
    content: '',
  },
  {
    status: 401,
    code: 'invalid_api_key',
    chat: OpenAI.AuthenticationError,
    messages: Anthropic.AuthenticationError,
    caller: async () => ({ url: gateway.url, key: 'sk-wrong' }),
  },
  {
    status: 402,
    code: 'insufficient_balance',
    chat: OpenAI.APIError,
    messages: Anthropic.APIError,
    caller: () => gateway.createAccount({ credit: 1 }),
  },
  {
    status: 403,
    code: 'email_not_verified',
    chat: OpenAI.PermissionDeniedError,
    messages: Anthropic.PermissionDeniedError,
    caller: () => gateway.createAccount({ verified: false }),
  },
  {
    status: 403,
    code: 'model_not_in_plan',
    chat: OpenAI.PermissionDeniedError,
    messages: Anthropic.PermissionDeniedError,
    caller: () => gateway.createAccount({ plan: 'narrow' }),
    model: 'tool',
  },
  {
    status: 404,
    code: 'model_not_found',
    chat: OpenAI.NotFoundError,
    messages: Anthropic.NotFoundError,
    model: 'no-such-model',
  },
  {
    status: 413,
    code: 'payload_too_large',
    chat: OpenAI.APIError,
    messages: Anthropic.ContentTooLargeError,
    content: 'x'.repeat(2_097_152),
  },
  {
    status: 429,
    code: 'daily_limit_exceeded',
    chat: OpenAI.RateLimitError,
    messages: Anthropic.RateLimitError,
    caller: () => gateway.createAccount({ plan: 'capped' }),
  },
  {
    status: 503,
    code: 'provider_unavailable',
    chat: OpenAI.InternalServerError,
    messages: Anthropic.InternalServerError,
    model: 'status-503',
  },
];

describe('errors are the right classes', () => {
  test.each(REFUSALS.map((row) => [row.code, row] as const))('%s', async (code, row) => {
    const caller = (await row.caller?.()) ?? account;
    const model = row.model ?? 'ok';
    // An empty list is what neither format takes.
    const messages = row.content === '' ? [] : [user(row.content)];
    for (const stream of [false, true]) {
      const chat = await openaiFor(caller)
        .chat.completions.create({ model, messages, stream })
        .catch((error: unknown) => error);
      expect(chat).toBeInstanceOf(row.chat);
      expect(chat).toMatchObject({ status: row.status, code, error: { code } });
      expect((chat as InstanceType<typeof OpenAI.APIError>).requestID).toStartWith('req_');
      const message = await anthropicFor(caller)
        .messages.create({ model, max_tokens: 100, messages, stream })
        .catch((error: unknown) => error);
      expect(message).toBeInstanceOf(row.messages);
      const body = { type: 'error', error: { code } };
      expect(message).toMatchObject({ status: row.status, error: body });
      expect((message as InstanceType<typeof Anthropic.APIError>).requestID).toStartWith('req_');
    }
  });

  test('a stream that breaks is an error and not a short answer', async () => {
    const chat = openai.chat.completions.stream(chatRequest('cut'));
    await expect(chat.finalChatCompletion()).rejects.toBeInstanceOf(OpenAI.APIError);
    const messages = anthropic.messages.stream(messagesRequest('cut'));
    await expect(messages.finalMessage()).rejects.toBeInstanceOf(Anthropic.APIError);
  });
});

/** Counts what the library sends, its own retries included. */
function countingFetch() {
  const statuses: number[] = [];
  const counted = async (input: string | URL | Request, init?: RequestInit) => {
    const response = await fetch(input, init);
    statuses.push(response.status);
    return response;
  };
  return { statuses, fetch: counted };
}

describe('retries that the libraries make by themselves', () => {
  test('wait as long as a busy account is told to, and then succeed', async () => {
    const busy = await gateway.createAccount({ plan: 'pair' });
    const abort = new AbortController();
    const open = () => openStream(busy, 'chat', 'stall', {}, abort.signal);
    await Promise.all([open(), open()]);
    const chat = countingFetch();
    const messages = countingFetch();
    const began = Date.now();
    const answers = Promise.all([
      openaiFor(busy, { maxRetries: 2, fetch: chat.fetch }).chat.completions.create(
        chatRequest('ok'),
      ),
      anthropicFor(busy, { maxRetries: 2, fetch: messages.fetch }).messages.create(
        messagesRequest('ok'),
      ),
    ]);
    await waitUntil(() => chat.statuses.length === 1 && messages.statuses.length === 1);
    abort.abort();
    await answers;
    expect([chat.statuses, messages.statuses]).toEqual([
      [429, 200],
      [429, 200],
    ]);
    expect(Date.now() - began).toBeGreaterThanOrEqual(2_000);
  });

  test('do not happen where waiting does not help', async () => {
    const poor = await gateway.createAccount({ credit: 1 });
    const { statuses, fetch } = countingFetch();
    await openaiFor(poor, { maxRetries: 2, fetch })
      .chat.completions.create(chatRequest('ok'))
      .catch(() => {});
    await anthropicFor(poor, { maxRetries: 2, fetch })
      .messages.create(messagesRequest('ok'))
      .catch(() => {});
    expect(statuses).toEqual([402, 402]);
  });

  test('a request that the plan allows once a minute says when the next one is', async () => {
    const once = await gateway.createAccount({ plan: 'once' });
    await openaiFor(once).chat.completions.create(chatRequest('ok'));
    const refused = await anthropicFor(once)
      .messages.create(messagesRequest('ok'))
      .catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(Anthropic.RateLimitError);
    const { headers } = refused as InstanceType<typeof Anthropic.RateLimitError>;
    const seconds = Number(headers.get('retry-after'));
    expect(seconds).toBeWithin(50, 61);
    expect(headers.get('x-ratelimit-remaining-requests')).toBe('0');
    expect(headers.get('x-should-retry')).toBeNull();
  });
});

describe('a client that leaves', () => {
  test.each(['openai', '@anthropic-ai/sdk'])('%s: is charged for what it got', async (library) => {
    const model = 'slow-tokens-500-10';
    const before = upstream.aborted();
    let requestId: string | null | undefined;
    if (library === 'openai') {
      const { data: stream, request_id: id } = await openai.chat.completions
        .create({ ...chatRequest(model), stream: true })
        .withResponse();
      requestId = id;
      // Leaving the loop is how users of the library abort.
      for await (const chunk of stream) if (chunk.choices[0]?.delta.content) break;
    } else {
      const stream = anthropic.messages.stream(messagesRequest(model));
      const ended = stream.done().catch((error: unknown) => error);
      await new Promise((resolve) => stream.on('text', resolve));
      requestId = stream.request_id;
      stream.abort();
      expect(await ended).toBeInstanceOf(Anthropic.APIUserAbortError);
    }
    await upstream.waitFor(() => upstream.aborted() === before + 1);
    const story = await explain(gateway, requestId ?? '');
    expect(story.request?.['outcome']).toBe('client_cancelled');
    expect(story.usage?.['output_tokens']).toBeWithin(1, 500);
  });
});

describe('the built-in demonstration models', () => {
  let demo: Gateway;
  let caller: TestAccount;

  beforeAll(async () => {
    demo = await startGateway();
    caller = await demo.createAccount({ plan: 'pro' });
  });

  afterAll(() => demo[Symbol.asyncDispose]());

  test('openai: text, thinking and a tool round', async () => {
    const client = openaiFor(caller);
    const [text, thinking] = await Promise.all([
      client.chat.completions.stream(chatRequest('demo')).finalChatCompletion(),
      client.chat.completions.create(chatRequest('demo-reasoner')),
    ]);
    expect(text.model).toBe('demo-chat');
    expect(text.choices[0]?.message.content).toContain('Hello?');
    expect(Number(Reflect.get(text, 'svc_tokens_debited'))).toBeGreaterThan(0);
    expect(thinking.choices[0]?.message).toMatchObject({
      content: expect.stringContaining('Hello?'),
      reasoning_content: expect.stringMatching(/./),
    } as object);

    const asked: unknown[] = [];
    const runner = client.chat.completions.runTools({
      model: 'demo-reasoner',
      messages: [user('Weather?')],
      tools: [
        {
          type: 'function',
          function: {
            ...CHAT_TOOL.function,
            parse: JSON.parse,
            function: (input: object) => asked.push(input) && 'sunny',
          },
        },
      ],
      stream: true,
    });
    expect(await runner.finalContent()).toContain('5 characters');
    expect(asked).toEqual([{ city: 'example' }]);
  });

  test('@anthropic-ai/sdk: text, thinking and a tool round', async () => {
    const client = anthropicFor(caller);
    const thinking = { type: 'disabled' as const };
    const [text, thoughtful, silent] = await Promise.all([
      client.messages.stream(messagesRequest('demo')).finalMessage(),
      client.messages.stream(messagesRequest('demo-reasoner')).finalMessage(),
      client.messages.create(messagesRequest('demo-reasoner', { thinking })),
    ]);
    const types = (message: Anthropic.Message) => message.content.map((block) => block.type);
    expect([text, thoughtful, silent].map(types)).toEqual([
      ['text'],
      ['thinking', 'text'],
      ['text'],
    ]);

    const tools = [MESSAGES_TOOL];
    const first = await client.messages
      .stream(messagesRequest('demo-reasoner', { tools }))
      .finalMessage();
    const use = first.content.find((block) => block.type === 'tool_use');
    expect(first.stop_reason).toBe('tool_use');
    expect(use?.input).toEqual({ city: 'example' });
    const result = { type: 'tool_result' as const, tool_use_id: use?.id ?? '', content: 'sunny' };
    const second = await client.messages.create({
      model: 'demo-reasoner',
      max_tokens: 100,
      tools,
      messages: [
        user(),
        { role: 'assistant', content: first.content },
        { role: 'user', content: [result] },
      ],
    });
    expect(second.stop_reason).toBe('end_turn');
    expect(JSON.stringify(second.content)).toContain('5 characters');
  });
});
