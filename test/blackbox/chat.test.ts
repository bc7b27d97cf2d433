// Every request and response field of the chat-completions format, over a real socket: what the
// upstream receives for each request field, and what the client gets back.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { HELLO, REASONING } from '../support/behaviours.ts';
import { generate, generateStream, type JsonAnswer, post } from '../support/client.ts';
import { explain } from '../support/explain.ts';
import type { Gateway, TestAccount } from '../support/gateway.ts';
import type { SseEvent } from '../support/sse.ts';
import type { Upstream } from '../support/upstream.ts';
import { SILENT, startWireRig, type WireRig } from '../support/wire-rig.ts';

const MODELS = [
  ...['ok', 'plain', 'reasoning', 'tool', 'two-tools', 'finish-length', 'content-filter'],
  ...['insufficient-late', 'no-content', 'status-503', 'cut'],
];

let rig: WireRig;
let upstream: Upstream;
let gateway: Gateway;
let account: TestAccount;
let hastyAccount: TestAccount;

beforeAll(async () => {
  rig = await startWireRig(MODELS, {
    'status-503': { fallbacks: ['ok'], price: { input: '9', cached_input: '9', output: '9' } },
  });
  ({ upstream, gateway, account, hastyAccount } = rig);
});

afterAll(() => rig.close());

type Fields = Readonly<Record<string, unknown>>;

/** Sends a request and returns what the model was asked. Tests here run one after the other. */
async function asked(model: string, more: Fields): Promise<Fields> {
  const answer = await generate(account, 'chat', model, more);
  // The body stands beside the status so that a failure shows why.
  expect([answer.status, answer.json]).toEqual([200, answer.json]);
  return upstream.requests.at(-1)?.body ?? {};
}

const USER = { role: 'user', content: 'Hello?' };
const TOOL = {
  type: 'function',
  function: {
    name: 'get_weather',
    description: 'Weather.',
    parameters: { type: 'object', properties: {} },
  },
};
const BARE_TOOL = { type: 'function', function: { name: 'get_time' } };
const CALL = {
  id: 'call_1',
  type: 'function',
  function: { name: 'get_weather', arguments: '{"10":1,"2":12345678901234567890}' },
};
const PNG = 'data:image/png;base64,iVBORw0KGgo=';

const enabled = { type: 'enabled' };
const disabled = { type: 'disabled' };

const OBJECT = 'Answer with one JSON object and nothing else: no text around it, no code fence.';
const MATCHING =
  'Answer with JSON and nothing else: no text around it, no code fence. It must match this JSON schema:';
const told = (instruction: string) => [{ role: 'system', content: instruction }, USER];

/** A field of the request, and what the model gets of it beside the model name and the message. */
const FIELDS: readonly (readonly [name: string, request: Fields, expected: Fields])[] = [
  ['max_tokens', { max_tokens: 7 }, { max_tokens: 7 }],
  ['max_completion_tokens', { max_completion_tokens: 8 }, { max_tokens: 8 }],
  ['both bounds', { max_tokens: 7, max_completion_tokens: 8 }, { max_tokens: 8 }],
  ['a bound above what the model can', { max_tokens: 9_000 }, { max_tokens: 8_192 }],
  ['temperature, least', { temperature: 0 }, { temperature: 0 }],
  ['temperature, most', { temperature: 2 }, { temperature: 2 }],
  ['top_p', { top_p: 1 }, { top_p: 1 }],
  ['frequency_penalty', { frequency_penalty: -2 }, { frequency_penalty: -2 }],
  ['presence_penalty', { presence_penalty: 2 }, { presence_penalty: 2 }],
  ['stop, a string', { stop: 'END' }, { stop: ['END'] }],
  ['stop, a list', { stop: ['a', 'b'] }, { stop: ['a', 'b'] }],
  ['stop, 16 of them', { stop: [...'abcdefghijklmnop'] }, { stop: [...'abcdefghijklmnop'] }],
  ['response_format text', { response_format: { type: 'text' } }, {}],
  [
    'response_format json_object',
    { response_format: { type: 'json_object' } },
    { messages: told(OBJECT), response_format: { type: 'json_object' } },
  ],
  [
    'response_format json_schema',
    { response_format: { type: 'json_schema', json_schema: { name: 'a', schema: {} } } },
    { messages: told(`${MATCHING}\n{}`), response_format: { type: 'json_object' } },
  ],
  ['tools', { tools: [TOOL] }, { tools: [TOOL] }],
  ...['none', 'auto', 'required'].map(
    (choice) =>
      [
        `tool_choice ${choice}`,
        { tools: [TOOL], tool_choice: choice },
        { tools: [TOOL], tool_choice: choice },
      ] as const,
  ),
  [
    'tool_choice by name',
    { tools: [TOOL], tool_choice: { type: 'function', function: { name: 'get_weather' } } },
    { tools: [TOOL], tool_choice: { type: 'function', function: { name: 'get_weather' } } },
  ],
  ['reasoning_effort none', { reasoning_effort: 'none' }, { thinking: disabled }],
  ...[
    ['minimal', 'low'],
    ['low', 'low'],
    ['medium', 'high'],
    ['high', 'high'],
    ['xhigh', 'high'],
    ['max', 'max'],
  ].map(
    ([effort, depth]) =>
      [
        `reasoning_effort ${effort}`,
        { reasoning_effort: effort },
        { thinking: enabled, reasoning_effort: depth },
      ] as const,
  ),
  ['thinking enabled', { thinking: enabled }, { thinking: enabled }],
  ['thinking disabled', { thinking: disabled }, { thinking: disabled }],
  [
    'thinking disabled beside an effort',
    { thinking: disabled, reasoning_effort: 'high' },
    { thinking: disabled },
  ],
  [
    'effort none beside thinking enabled',
    { thinking: enabled, reasoning_effort: 'none' },
    { thinking: disabled },
  ],
  ['n', { n: 1 }, {}],
  ['user', { user: 'end-user' }, {}],
  ['stream_options', { stream_options: { include_usage: false } }, {}],
  [
    'fields that are accepted and ignored',
    {
      ...{ metadata: { a: 'b' }, store: true, seed: 7, logprobs: true, top_logprobs: 3 },
      ...{ service_tier: 'auto', logit_bias: { 1: 2 }, no_such_field: [1] },
    },
    {},
  ],
  ['nulls, as if absent', { temperature: null, stop: null, tools: null, max_tokens: null }, {}],
];

describe('request fields', () => {
  test.each(FIELDS)('%s', async (_name, request, expected) => {
    const bound = Number(expected['max_tokens'] ?? 8_192);
    // What the model may write beyond the first slice of money is read as a stream in any case.
    const streamed = bound > 4_096 && { stream: true, stream_options: { include_usage: true } };
    expect(await asked('ok', request)).toEqual({
      model: 'ok',
      messages: [USER],
      max_tokens: bound,
      ...streamed,
      ...expected,
    });
  });

  test.each(['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'])(
    'reasoning_effort %s is ignored by a model that does not reason',
    async (effort) => {
      const more = { max_tokens: 7, thinking: enabled, reasoning_effort: effort };
      expect(await asked('plain', more)).toEqual({
        model: 'plain',
        messages: [USER],
        max_tokens: 7,
      });
    },
  );

  test('a tool without description and parameters', async () => {
    const { tools } = await asked('ok', { tools: [BARE_TOOL] });
    expect(tools).toMatchObject([{ type: 'function', function: { name: 'get_time' } }]);
  });

  test('ignored fields change no byte of what the model is asked', async () => {
    const texts: (string | undefined)[] = [];
    for (const more of [{}, { metadata: { a: 1 }, seed: 1, no_such_field: 'x', user: 'me' }]) {
      await asked('ok', more);
      texts.push(upstream.requests.at(-1)?.text);
    }
    expect(texts[0]).toBe(texts[1]);
  });

  test('user is kept with the record of the request, and nowhere else', async () => {
    const answer = await generate(account, 'chat', 'ok', { user: 'u'.repeat(256) });
    const story = await explain(gateway, answer.headers.get('x-request-id'));
    expect(story.request?.['end_user']).toBe('u'.repeat(256));
    expect(upstream.requests.at(-1)?.text).not.toContain('uuu');
  });

  test('an alias serves its model, and the answer names the model', async () => {
    const answer = await generate(account, 'chat', 'alias-of-ok');
    expect([answer.json['model'], answer.headers.get('x-svc-model')]).toEqual(['ok', 'ok']);
    expect(upstream.requests.at(-1)?.model).toBe('ok');
  });
});

const parts = (...list: unknown[]) => ({ role: 'user', content: list });
const text = (content: string) => ({ type: 'text', text: content });
const image = (url: string) => ({ type: 'image_url', image_url: { url } });
const assistantCall = { role: 'assistant', content: null, tool_calls: [CALL] };
const toolResult = { role: 'tool', tool_call_id: 'call_1', content: 'sunny' };

const MESSAGES: readonly (readonly [name: string, sent: unknown[], expected: unknown[]])[] = [
  [
    'system',
    [{ role: 'system', content: 'Be brief.' }, USER],
    [{ role: 'system', content: 'Be brief.' }, USER],
  ],
  [
    'developer is system',
    [{ role: 'developer', content: [text('Be brief.')] }, USER],
    [{ role: 'system', content: 'Be brief.' }, USER],
  ],
  ['text parts', [parts(text('a'), text('b'))], [{ role: 'user', content: 'a\nb' }]],
  [
    'image parts',
    [parts(text('a'), image(PNG), image('https://images.example/a.png'))],
    [parts(text('a'), image(PNG), image('https://images.example/a.png'))],
  ],
  [
    'a tool round, arguments byte for byte',
    [USER, { ...assistantCall, reasoning_content: REASONING }, toolResult],
    [USER, { ...assistantCall, reasoning_content: REASONING }, toolResult],
  ],
  [
    'content absent beside tool calls',
    [USER, { role: 'assistant', tool_calls: [CALL] }, toolResult],
    [USER, assistantCall, toolResult],
  ],
  [
    'text beside tool calls',
    [USER, { ...assistantCall, content: 'Let me look.' }, toolResult],
    [USER, { ...assistantCall, content: 'Let me look.' }, toolResult],
  ],
];

describe('messages', () => {
  test.each(MESSAGES)('%s', async (_name, messages, expected) => {
    expect((await asked('ok', { messages }))['messages']).toEqual(expected);
  });

  test('thinking is given back to models that reason only', async () => {
    const messages = [USER, { role: 'assistant', content: 'a', reasoning_content: 'b' }, USER];
    expect((await asked('plain', { messages }))['messages']).toEqual([
      USER,
      { role: 'assistant', content: 'a' },
      USER,
    ]);
  });
});

const manyMessages = Array.from({ length: 201 }, () => USER);
const manyTools = Array.from({ length: 129 }, (_, index) => ({
  type: 'function',
  function: { name: `tool_${index}` },
}));

/** The edge of each rule, one step over it, and the field that the refusal names. */
const REFUSALS: readonly (readonly [param: string, request: Fields])[] = [
  ['model', { model: 7 }],
  ['messages', { messages: [] }],
  ['messages', { messages: manyMessages }],
  ['messages[0].role', { messages: [{ role: 'wizard', content: 'a' }] }],
  ['messages[0].content', { messages: [{ role: 'user', content: null }] }],
  ['messages[0].content', { messages: [{ role: 'user', content: 'x'.repeat(1_000_001) }] }],
  ['messages[0].content[0].type', { messages: [parts({ type: 'input_audio' })] }],
  ['messages[1].tool_call_id', { messages: [USER, { role: 'tool', content: 'a' }] }],
  ['messages[0].tool_calls', { messages: [{ ...USER, tool_calls: [CALL] }] }],
  ['max_tokens', { max_tokens: 0 }],
  ['max_tokens', { max_tokens: 1.5 }],
  ['max_completion_tokens', { max_completion_tokens: '9' }],
  ['temperature', { temperature: 2.01 }],
  ['temperature', { temperature: -0.01 }],
  ['top_p', { top_p: 0 }],
  ['top_p', { top_p: 1.01 }],
  ['frequency_penalty', { frequency_penalty: 2.01 }],
  ['presence_penalty', { presence_penalty: -2.01 }],
  ['stop', { stop: 7 }],
  ['stop', { stop: [...'abcdefghijklmnopq'] }],
  ['stream', { stream: 'yes' }],
  ['stream_options.include_usage', { stream_options: { include_usage: 1 } }],
  ['response_format.type', { response_format: { type: 'xml' } }],
  ['tools', { tools: manyTools }],
  ['tools[0].type', { tools: [{ type: 'retrieval', function: { name: 'a' } }] }],
  ['tools[0].function.name', { tools: [{ type: 'function', function: {} }] }],
  ['tool_choice', { tools: [TOOL], tool_choice: 'sometimes' }],
  [
    'tool_choice',
    { tools: [TOOL], tool_choice: { type: 'function', function: { name: 'other' } } },
  ],
  ['reasoning_effort', { reasoning_effort: 'extreme' }],
  ['thinking.type', { thinking: { type: 'deep' } }],
  ['user', { user: 'u'.repeat(257) }],
  ['n', { n: 2 }],
];

describe('refusals name the field', () => {
  test.each(REFUSALS)('%s %#', async (param, request) => {
    const before = upstream.requests.length;
    const answer = await generate(account, 'chat', 'ok', request);
    expect(answer.status).toBe(400);
    expect(answer.json).toEqual({
      error: {
        message: expect.stringContaining(param),
        type: 'invalid_request_error',
        code: 'invalid_request',
        request_id: answer.headers.get('x-request-id'),
        param,
      },
    });
    expect(upstream.requests).toHaveLength(before);
  });

  test.each(['model', 'messages'])('%s is required', async (field) => {
    const body: Record<string, unknown> = { model: 'ok', messages: [USER] };
    delete body[field];
    const response = await post(account, '/v1/chat/completions', body);
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ error: { param: field } });
  });
});

const USAGE = {
  prompt_tokens: 10,
  completion_tokens: 5,
  total_tokens: 15,
  prompt_tokens_details: { cached_tokens: 4 },
  completion_tokens_details: { reasoning_tokens: 0 },
  prompt_cache_hit_tokens: 4,
  prompt_cache_miss_tokens: 6,
  svc_tokens_debited: '16.4',
  svc_cost_usd: '0.0000164',
};

const ID = expect.stringMatching(/^chatcmpl-\w{24}$/);

function whole(model: string, message: Fields, finish: string, usage: Fields = USAGE): Fields {
  return {
    id: ID,
    object: 'chat.completion',
    created: expect.any(Number),
    model,
    choices: [
      {
        index: 0,
        message: { role: 'assistant', refusal: null, ...message },
        logprobs: null,
        finish_reason: finish,
      },
    ],
    usage,
    system_fingerprint: 'fp_tollgate',
  };
}

const weather = {
  id: 'call_1',
  type: 'function',
  function: { name: 'get_weather', arguments: '{"city":"Paris"}' },
};
const time = {
  id: 'call_2',
  type: 'function',
  function: { name: 'get_time', arguments: '{"zone":"CET"}' },
};

describe('whole answers', () => {
  const reasoned = { ...USAGE, completion_tokens_details: { reasoning_tokens: 2 } };
  test.each([
    ['ok', { content: HELLO }, 'stop', USAGE],
    ['reasoning', { content: HELLO, reasoning_content: REASONING }, 'stop', reasoned],
    ['tool', { content: null, tool_calls: [weather] }, 'tool_calls', USAGE],
    ['two-tools', { content: null, tool_calls: [weather, time] }, 'tool_calls', USAGE],
    ['finish-length', { content: HELLO }, 'length', USAGE],
    ['content-filter', { content: HELLO }, 'content_filter', USAGE],
    ['insufficient-late', { content: HELLO }, 'insufficient_system_resource', USAGE],
    ['no-content', { content: '' }, 'stop', USAGE],
  ])('%s', async (model, message, finish, usage) => {
    const { json } = await generate(account, 'chat', model, { logprobs: true, max_tokens: 100 });
    expect(json).toEqual(whole(model, message, finish, usage));
    expect(Number(json['created'])).toBeWithin(Date.now() / 1_000 - 60, Date.now() / 1_000 + 1);
  });

  test('a bound above the first slice gives the same answer', async () => {
    const { json } = await generate(account, 'chat', 'two-tools', { max_tokens: 8_000 });
    expect(json).toEqual(
      whole('two-tools', { content: null, tool_calls: [weather, time] }, 'tool_calls'),
    );
  });
});

/** All headers but those of the transport, with what differs from run to run left out. */
function headersOf({ headers }: Pick<JsonAnswer, 'headers'>): Fields {
  const { date: _date, connection: _connection, ...rest } = Object.fromEntries(headers);
  delete rest['content-length'];
  delete rest['transfer-encoding'];
  return rest;
}

describe('headers', () => {
  const common = {
    'x-request-id': expect.stringMatching(/^req_\w+$/),
    'request-id': expect.stringMatching(/^req_\w+$/),
    'x-svc-model': 'ok',
    'x-ratelimit-limit-requests': '60',
    'x-ratelimit-limit-tokens': '200000',
    'x-ratelimit-reset-requests': expect.stringMatching(/^([1-9]|[1-5]\d|60)s$/),
  };

  test('of whole answers and of streams, and what they count', async () => {
    const fresh = await gateway.createAccount({ credit: 1_000 });
    const first = await generate(fresh, 'chat', 'ok', { max_tokens: 100 });
    const story = await explain(gateway, first.headers.get('x-request-id'));
    const taken = Number(story.hold['estimated_prompt_tokens']) + 100;
    expect(headersOf(first)).toEqual({
      ...common,
      'content-type': 'application/json',
      'x-svc-tokens-debited': '16.4',
      'x-svc-balance': '983.6',
      'x-ratelimit-remaining-requests': '59',
      'x-ratelimit-remaining-tokens': String(200_000 - taken),
    });
    expect(first.headers.get('request-id')).toBe(first.headers.get('x-request-id'));

    const second = await generateStream(fresh, 'chat', 'ok', { max_tokens: 100 });
    expect(headersOf(second)).toEqual({
      ...common,
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-cache',
      'x-accel-buffering': 'no',
      'x-ratelimit-remaining-requests': '58',
      'x-ratelimit-remaining-tokens': String(200_000 - 2 * taken),
    });
    expect(second.events.at(-2)?.json?.['svc_balance_tokens']).toBe('967.2');
    expect(second.headers.get('x-request-id')).not.toBe(first.headers.get('x-request-id'));
  });

  test('a fallback is named, and charged at the lower price', async () => {
    const answer = await generate(account, 'chat', 'status-503', { max_tokens: 100 });
    expect(answer.headers.get('x-svc-model')).toBe('ok');
    expect(answer.json).toEqual(whole('status-503', { content: HELLO }, 'stop'));
    const { events, headers } = await generateStream(account, 'chat', 'status-503');
    expect(headers.get('x-svc-model')).toBe('ok');
    expect(events.at(-2)?.json).toMatchObject({ model: 'status-503', svc_fallback_used: true });
  });
});

/** The deltas and finish reasons of a stream, after every chunk's envelope has been checked. */
function chunks(events: readonly SseEvent[], model: string): unknown[] {
  const ids = new Set<unknown>();
  const seen = events.map(({ event, data, json }) => {
    expect(event).toBe('');
    if (json === undefined) return data;
    ids.add(json['id']);
    const { choices, ...envelope } = json as { choices: Fields[] };
    const [choice] = choices;
    if (choice === undefined) return json;
    const { delta, finish_reason: finish, ...fixed } = choice;
    expect([choices.length, fixed]).toEqual([1, { index: 0, logprobs: null }]);
    expect(envelope as Fields).toEqual({
      id: ID,
      object: 'chat.completion.chunk',
      created: expect.any(Number),
      model,
      system_fingerprint: 'fp_tollgate',
    });
    return finish === null ? delta : { finish, delta };
  });
  expect(ids.size).toBe(1);
  return seen;
}

const ROLE = { role: 'assistant', content: '' };

const LAST = {
  id: ID,
  object: 'chat.completion.chunk',
  created: expect.any(Number),
  choices: [],
  usage: USAGE,
  svc_tokens_debited: '16.4',
  svc_cost_usd: '0.0000164',
  svc_balance_tokens: expect.stringMatching(/^\d+(\.\d+)?$/),
  svc_fallback_used: false,
  svc_outcome: 'completed',
};

const callStart = (index: number, id: string, name: string) => ({
  tool_calls: [{ index, id, type: 'function', function: { name, arguments: '' } }],
});
const callMore = (index: number, json: string) => ({
  tool_calls: [{ index, function: { arguments: json } }],
});

const STREAMS: readonly (readonly [model: string, deltas: unknown[], finish: string])[] = [
  ['ok', [{ content: 'Hello ' }, { content: 'from ' }, { content: 'upstream.' }], 'stop'],
  [
    'two-tools',
    [
      callStart(0, 'call_1', 'get_weather'),
      callMore(0, '{"city":'),
      callMore(0, '"Paris"}'),
      callStart(1, 'call_2', 'get_time'),
      callMore(1, '{"zone":"CET"}'),
    ],
    'tool_calls',
  ],
  [
    'finish-length',
    [{ content: 'Hello ' }, { content: 'from ' }, { content: 'upstream.' }],
    'length',
  ],
  ['no-content', [], 'stop'],
];

describe('streams', () => {
  test.each(STREAMS)('%s, event by event', async (model, deltas, finish) => {
    const { events } = await generateStream(account, 'chat', model);
    expect(chunks(events, model)).toEqual([
      ROLE,
      ...deltas,
      { finish, delta: {} },
      { ...LAST, model },
      '[DONE]',
    ]);
  });

  test('reasoning comes before content', async () => {
    const { events } = await generateStream(account, 'chat', 'reasoning');
    const seen = chunks(events, 'reasoning').slice(1, -3);
    expect(seen).toEqual([
      { reasoning_content: 'Let me think ' },
      { reasoning_content: 'about it.' },
      { content: 'Hello ' },
      { content: 'from ' },
      { content: 'upstream.' },
    ]);
  });

  test('without usage the bill is still the last event', async () => {
    const more = { stream_options: { include_usage: false } };
    const { events } = await generateStream(account, 'chat', 'ok', more);
    const { usage: _usage, ...bill } = LAST;
    expect(events.at(-2)?.json).toEqual({
      ...bill,
      object: 'chat.completion.billing',
      model: 'ok',
    });
    expect(events.filter(({ json }) => json?.['usage'] !== undefined)).toEqual([]);
  });

  test('an answer that breaks ends with an error, its bill and [DONE]', async () => {
    const { events, headers } = await generateStream(account, 'chat', 'cut');
    const [error, done] = events.slice(-2);
    expect(error?.json).toEqual({
      error: {
        message: expect.any(String),
        type: 'overloaded_error',
        code: 'provider_unavailable',
        request_id: headers.get('x-request-id'),
        svc_tokens_debited: expect.stringMatching(/^\d+(\.\d+)?$/),
        svc_cost_usd: expect.stringMatching(/^0\.\d+$/),
        svc_balance_tokens: expect.stringMatching(/^\d+(\.\d+)?$/),
        svc_outcome: 'upstream_failed',
      },
    });
    expect(done?.data).toBe('[DONE]');
    expect(events.map(({ data }) => data).join('')).not.toContain('"finish_reason":"');
  });
});

describe('a silent upstream', () => {
  const NOTHING = {};

  test('case 69: heartbeats follow the role chunk, and then the answer', async () => {
    const model = SILENT;
    const events = await rig.afterBeats('chat');
    const [role, ...rest] = chunks(events, model);
    const isBeat = (delta: unknown) => Bun.deepEquals(delta, NOTHING);
    expect(role).toEqual(ROLE);
    expect(rest.findIndex((delta) => !isBeat(delta))).toBeGreaterThan(1);
    expect(rest.filter((delta) => !isBeat(delta))).toEqual([
      { content: 'Hello ' },
      { content: 'from ' },
      { content: 'upstream.' },
      { finish: 'stop', delta: {} },
      { ...LAST, model },
      '[DONE]',
    ]);
  });

  test('an upstream that never begins ends in an error that costs nothing', async () => {
    const { status, events } = await generateStream(hastyAccount, 'chat', 'stall-before');
    expect(status).toBe(200);
    const [role, ...rest] = events.slice(0, -2);
    expect(role?.json).toMatchObject({ choices: [{ delta: ROLE }] });
    expect(rest.length).toBeGreaterThan(1);
    expect(events.at(-2)?.json).toMatchObject({
      error: {
        code: 'provider_unavailable',
        svc_tokens_debited: '0',
        svc_cost_usd: '0',
        svc_outcome: 'upstream_failed',
      },
    });
  });

  test('one that falls silent is kept alive until it is given up, and costs what it said', async () => {
    const { events } = await generateStream(hastyAccount, 'chat', 'stall');
    const deltas = events.map(
      ({ json }) => (json?.['choices'] as { delta: unknown }[] | undefined)?.[0]?.delta,
    );
    expect(deltas.filter((delta) => Bun.deepEquals(delta, NOTHING)).length).toBeGreaterThan(2);
    const error = (events.at(-2)?.json?.['error'] ?? {}) as Fields;
    expect(error).toMatchObject({ code: 'provider_unavailable', svc_outcome: 'upstream_failed' });
    expect(Number(error['svc_tokens_debited'])).toBeGreaterThan(0);
  });

  test('a whole answer just waits, or fails with a status', async () => {
    const [slow, never] = await Promise.all([
      generate(hastyAccount, 'chat', 'slow-first-byte-300'),
      generate(hastyAccount, 'chat', 'stall-before'),
    ]);
    expect([slow.status, never.status]).toEqual([200, 503]);
    expect(never.json).toMatchObject({ error: { code: 'provider_unavailable' } });
  });
});
