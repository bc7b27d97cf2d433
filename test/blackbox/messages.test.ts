// Every request and response field of the Messages format, over a real socket: what the upstream
// receives for each request field, and what the client gets back.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { HELLO, REASONING } from '../support/behaviours.ts';
import { generate, generateStream, get, post, requestBody } from '../support/client.ts';
import { explain } from '../support/explain.ts';
import type { Gateway, TestAccount } from '../support/gateway.ts';
import { messageStart } from '../support/message-start.ts';
import type { SseEvent } from '../support/sse.ts';
import type { Upstream } from '../support/upstream.ts';
import { SILENT, startWireRig, type WireRig } from '../support/wire-rig.ts';

const MODELS = [
  ...['ok', 'plain', 'reasoning', 'tool', 'two-tools', 'text-and-tool', 'reasoning-and-tool'],
  ...['finish-length', 'content-filter', 'insufficient-late', 'no-content', 'status-503', 'cut'],
];

let rig: WireRig;
let upstream: Upstream;
let gateway: Gateway;
let account: TestAccount;
let hastyAccount: TestAccount;

beforeAll(async () => {
  rig = await startWireRig(MODELS, { 'status-503': { fallbacks: ['ok'] } });
  ({ upstream, gateway, account, hastyAccount } = rig);
});

afterAll(() => rig.close());

type Fields = Readonly<Record<string, unknown>>;

/** Sends a request and returns what the model was asked. Tests here run one after the other. */
async function asked(model: string, more: Fields): Promise<Fields> {
  const answer = await generate(account, 'messages', model, more);
  // The body stands beside the status so that a failure shows why.
  expect([answer.status, answer.json]).toEqual([200, answer.json]);
  return upstream.requests.at(-1)?.body ?? {};
}

const USER = { role: 'user', content: 'Hello?' };
const TOOL = {
  name: 'get_weather',
  description: 'Weather.',
  input_schema: { type: 'object', properties: {} },
};
const ASKED_TOOL = {
  type: 'function',
  function: {
    name: 'get_weather',
    description: 'Weather.',
    parameters: { type: 'object', properties: {} },
  },
};
const CACHED = { cache_control: { type: 'ephemeral', ttl: '1h' } };

const enabled = { type: 'enabled' };
const disabled = { type: 'disabled' };
const system = (content: string) => ({ messages: [{ role: 'system', content }, USER] });

/** A field of the request, and what the model gets of it beside the model name and the message. */
const FIELDS: readonly (readonly [name: string, request: Fields, expected: Fields])[] = [
  ['max_tokens', { max_tokens: 7 }, { max_tokens: 7 }],
  ['temperature, least', { temperature: 0 }, { temperature: 0 }],
  ['temperature, most', { temperature: 1 }, { temperature: 1 }],
  ['top_p', { top_p: 1 }, { top_p: 1 }],
  ['top_k is not applied', { top_k: 5 }, {}],
  ['stop_sequences', { stop_sequences: ['a', 'b'] }, { stop: ['a', 'b'] }],
  [
    'stop_sequences, 16 of them',
    { stop_sequences: [...'abcdefghijklmnop'] },
    { stop: [...'abcdefghijklmnop'] },
  ],
  ['system, a string', { system: 'Be brief.' }, system('Be brief.')],
  [
    'system, blocks with cache_control',
    {
      system: [
        { type: 'text', text: 'Be brief.', ...CACHED },
        { type: 'text', text: 'Be kind.' },
      ],
    },
    system('Be brief.\n\nBe kind.'),
  ],
  ['tools', { tools: [{ ...TOOL, ...CACHED }] }, { tools: [ASKED_TOOL] }],
  ...[
    ['auto', 'auto'],
    ['any', 'required'],
    ['none', 'none'],
  ].map(
    ([type, choice]) =>
      [
        `tool_choice ${type}`,
        { tools: [TOOL], tool_choice: { type } },
        { tools: [ASKED_TOOL], tool_choice: choice },
      ] as const,
  ),
  [
    'tool_choice by name',
    { tools: [TOOL], tool_choice: { type: 'tool', name: 'get_weather' } },
    {
      tools: [ASKED_TOOL],
      tool_choice: { type: 'function', function: { name: 'get_weather' } },
    },
  ],
  ['thinking enabled', { thinking: enabled }, { thinking: enabled }],
  [
    'thinking with a budget above every bound',
    { thinking: { ...enabled, budget_tokens: 1_000_000 } },
    { thinking: enabled },
  ],
  ['thinking disabled', { thinking: disabled }, { thinking: disabled }],
  [
    'adaptive thinking with an effort, as agents send it',
    { thinking: { type: 'adaptive', display: 'omitted' }, output_config: { effort: 'medium' } },
    { thinking: enabled, reasoning_effort: 'high' },
  ],
  ['thinking of a type from the future', { thinking: { type: 'quantum' } }, {}],
  ['metadata', { metadata: { user_id: 'end-user' } }, {}],
  [
    'fields that are accepted and ignored',
    {
      ...{ context_management: { edits: [] }, service_tier: 'auto', container: null },
      ...{ mcp_servers: [], no_such_field: [1], ...CACHED },
    },
    {},
  ],
  ['nulls, as if absent', { temperature: null, tools: null, system: null, thinking: null }, {}],
];

describe('request fields', () => {
  test.each(FIELDS)('%s', async (_name, request, expected) => {
    expect(await asked('ok', request)).toEqual({
      model: 'ok',
      messages: [USER],
      max_tokens: 100,
      ...expected,
    });
  });

  test.each(['enabled', 'disabled'])(
    'a model that cannot reason ignores thinking %s',
    async (type) => {
      const more = { thinking: { type }, output_config: { effort: 'max' } };
      expect(await asked('plain', more)).toEqual({
        model: 'plain',
        messages: [USER],
        max_tokens: 100,
      });
    },
  );

  test('metadata.user_id is kept with the record of the request, cut where it is long', async () => {
    const metadata = { user_id: 'u'.repeat(300) };
    const answer = await generate(account, 'messages', 'ok', { metadata });
    const story = await explain(gateway, answer.headers.get('request-id'));
    expect(story.request?.['end_user']).toBe('u'.repeat(256));
    expect(upstream.requests.at(-1)?.text).not.toContain('uuu');
  });

  test('an alias serves its model, and the answer names the model', async () => {
    const answer = await generate(account, 'messages', 'alias-of-ok');
    expect([answer.json['model'], answer.headers.get('x-svc-model')]).toEqual(['ok', 'ok']);
  });
});

const user = (...content: unknown[]) => ({ role: 'user', content });
const assistant = (...content: unknown[]) => ({ role: 'assistant', content });
const text = (content: string) => ({ type: 'text', text: content });
const imageUrl = (url: string) => ({ type: 'image_url', image_url: { url } });
const base64 = { type: 'base64', media_type: 'image/png', data: 'iVBORw0KGgo=' };
const toolUse = { type: 'tool_use', id: 'call_1', name: 'get_weather', input: { city: 'Paris' } };
const result = (more: Fields) => ({ type: 'tool_result', tool_use_id: 'call_1', ...more });
const askedCall = {
  role: 'assistant',
  content: null,
  tool_calls: [
    {
      id: 'call_1',
      type: 'function',
      function: { name: 'get_weather', arguments: '{"city":"Paris"}' },
    },
  ],
};
const askedResult = (content: string) => ({ role: 'tool', tool_call_id: 'call_1', content });
const thinking = { type: 'thinking', thinking: REASONING, signature: 'tg1.dG9sbGdhdGU=' };

const MESSAGES: readonly (readonly [name: string, sent: unknown[], expected: unknown[]])[] = [
  ['text blocks', [user(text('a'), text('b'))], [{ role: 'user', content: 'a\nb' }]],
  [
    'images, base64 and url',
    [
      user(
        { type: 'image', source: base64 },
        { type: 'image', source: { type: 'url', url: 'https://images.example/a.png' } },
        { ...text('What is it?'), ...CACHED },
      ),
    ],
    [
      {
        role: 'user',
        content: [
          imageUrl('data:image/png;base64,iVBORw0KGgo='),
          imageUrl('https://images.example/a.png'),
          text('What is it?'),
        ],
      },
    ],
  ],
  [
    'a tool round',
    [USER, assistant(toolUse), user(result({ content: 'sunny' }))],
    [USER, askedCall, askedResult('sunny')],
  ],
  [
    'thinking is given back with the call it led to',
    [USER, assistant(thinking, toolUse), user(result({ content: 'sunny' }))],
    [USER, { ...askedCall, reasoning_content: REASONING }, askedResult('sunny')],
  ],
  [
    'thinking without a signature as well',
    [USER, assistant({ type: 'thinking', thinking: 'a' }, text('b')), USER],
    [USER, { role: 'assistant', content: 'b', reasoning_content: 'a' }, USER],
  ],
  [
    'a tool result of blocks, and the words after it',
    [
      USER,
      assistant(text('Let me look.'), toolUse),
      user(result({ content: [text('sunny'), text('warm')] }), text('So?')),
    ],
    [
      USER,
      { ...askedCall, content: 'Let me look.' },
      askedResult('sunny\nwarm'),
      { role: 'user', content: 'So?' },
    ],
  ],
  [
    'a tool result that is absent',
    [USER, assistant(toolUse), user(result({}))],
    [USER, askedCall, askedResult('')],
  ],
  [
    'a tool result that is an error',
    [USER, assistant(toolUse), user(result({ content: 'no such city', is_error: true }))],
    [USER, askedCall, askedResult('The tool reported an error:\nno such city')],
  ],
  [
    'a tool result with a picture',
    [USER, assistant(toolUse), user(result({ content: [{ type: 'image', source: base64 }] }))],
    [
      USER,
      askedCall,
      askedResult('[An image of this result follows in the next user message.]'),
      { role: 'user', content: [imageUrl('data:image/png;base64,iVBORw0KGgo=')] },
    ],
  ],
  [
    'blocks of unknown types are ignored',
    [
      user({ type: 'document', source: {} }, text('a')),
      assistant({ type: 'redacted', x: 1 }, text('b')),
    ],
    [
      { role: 'user', content: 'a' },
      { role: 'assistant', content: 'b' },
    ],
  ],
  [
    'a system message at the head joins the system prompt',
    [{ role: 'system', content: [text('Be brief.')] }, USER],
    [{ role: 'system', content: 'Be brief.' }, USER],
  ],
  [
    'a later one joins its neighbour',
    [USER, { role: 'system', content: 'Be brief.' }],
    [{ role: 'user', content: 'Hello?\n\nBe brief.' }],
  ],
  ['turns that do not alternate', [USER, USER], [USER, USER]],
];

describe('messages', () => {
  test.each(MESSAGES)('%s', async (_name, messages, expected) => {
    expect((await asked('ok', { messages }))['messages']).toEqual(expected);
  });

  test('thinking is given back to models that reason only', async () => {
    const messages = [USER, assistant(thinking, text('a')), USER];
    expect((await asked('plain', { messages }))['messages']).toEqual([
      USER,
      { role: 'assistant', content: 'a' },
      USER,
    ]);
  });

  test('the input of a call reaches the model byte for byte', async () => {
    const input = '{"10": 1, "2": 12345678901234567890, "a": 1.0}';
    const call = `{"type":"tool_use","id":"call_1","name":"get_weather","input":${input}}`;
    const messages = `[{"role":"user","content":"Hello?"},{"role":"assistant","content":[${call}]}]`;
    const body = `{"model":"ok","max_tokens":100,"messages":${messages}}`;
    const response = await post(account, '/v1/messages', body);
    expect(response.status).toBe(200);
    expect(upstream.requests.at(-1)?.body['messages']).toMatchObject([
      USER,
      { tool_calls: [{ function: { arguments: input } }] },
    ]);
  });
});

/** One step over the edge of each rule, and the field that the refusal names. */
const REFUSALS: readonly (readonly [param: string, request: Fields])[] = [
  ['model', { model: 7 }],
  ['max_tokens', { max_tokens: 0 }],
  ['max_tokens', { max_tokens: null }],
  ['messages', { messages: [] }],
  ['messages', { messages: Array.from({ length: 201 }, () => USER) }],
  ['messages[0].role', { messages: [{ role: 'tool', content: 'a' }] }],
  ['messages[0].content', { messages: [{ role: 'user', content: 7 }] }],
  ['messages[0].content', { messages: [{ role: 'user', content: 'x'.repeat(1_000_001) }] }],
  ['messages[0].content[0].type', { messages: [user(toolUse)] }],
  ['messages[0].content[0].source.type', { messages: [user({ type: 'image', source: {} })] }],
  ['messages[0].content[0].tool_use_id', { messages: [user({ type: 'tool_result' })] }],
  ['temperature', { temperature: 1.01 }],
  ['temperature', { temperature: -0.01 }],
  ['top_p', { top_p: 0 }],
  ['top_p', { top_p: 1.01 }],
  ['stop_sequences', { stop_sequences: [...'abcdefghijklmnopq'] }],
  ['stop_sequences', { stop_sequences: 'a' }],
  ['stream', { stream: 'yes' }],
  ['tools', { tools: Array.from({ length: 129 }, (_, index) => ({ ...TOOL, name: `t${index}` })) }],
  ['tools[0].input_schema', { tools: [{ name: 'a' }] }],
  ['tool_choice.type', { tools: [TOOL], tool_choice: { type: 'sometimes' } }],
  ['tool_choice.name', { tools: [TOOL], tool_choice: { type: 'tool', name: 'other' } }],
  ['thinking.budget_tokens', { thinking: { ...enabled, budget_tokens: 'much' } }],
  ['metadata.user_id', { metadata: { user_id: 7 } }],
];

describe('refusals name the field', () => {
  test.each(REFUSALS)('%s %#', async (param, request) => {
    const before = upstream.requests.length;
    const answer = await generate(account, 'messages', 'ok', request);
    expect([answer.status, answer.json]).toEqual([
      400,
      {
        type: 'error',
        error: {
          type: 'invalid_request_error',
          message: expect.stringContaining(param),
          code: 'invalid_request',
          request_id: answer.headers.get('request-id'),
          param,
        },
      },
    ]);
    expect(upstream.requests).toHaveLength(before);
  });

  test.each(['model', 'messages', 'max_tokens'])('%s is required', async (field) => {
    const body = requestBody('messages', 'ok');
    delete body[field];
    const response = await post(account, '/v1/messages', body);
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ error: { param: field } });
  });
});

const COUNTERS = {
  input_tokens: 6,
  cache_creation_input_tokens: 0,
  cache_read_input_tokens: 4,
  output_tokens: 5,
};
const BILL = { svc_tokens_debited: '16.4', svc_cost_usd: '0.0000164' };

const ID = expect.stringMatching(/^msg_\w{24}$/);
const SIGNATURE = expect.stringMatching(/./);
const THINKING = { type: 'thinking', thinking: REASONING, signature: SIGNATURE };
const TEXT = text(HELLO);
const TIME = { type: 'tool_use', id: 'call_2', name: 'get_time', input: { zone: 'CET' } };

function whole(model: string, content: readonly unknown[], reason: string): Fields {
  return {
    id: ID,
    type: 'message',
    role: 'assistant',
    model,
    content,
    stop_reason: reason,
    stop_sequence: null,
    usage: { ...COUNTERS, ...BILL },
  };
}

describe('whole answers', () => {
  test.each([
    ['ok', [TEXT], 'end_turn'],
    ['reasoning', [THINKING, TEXT], 'end_turn'],
    ['tool', [toolUse], 'tool_use'],
    ['two-tools', [toolUse, TIME], 'tool_use'],
    ['text-and-tool', [TEXT, toolUse], 'tool_use'],
    ['reasoning-and-tool', [THINKING, toolUse], 'tool_use'],
    ['finish-length', [TEXT], 'max_tokens'],
    ['content-filter', [TEXT], 'end_turn'],
    ['no-content', [], 'end_turn'],
  ])('%s', async (model, content, reason) => {
    const { json, headers } = await generate(account, 'messages', model, { stop_sequences: ['!'] });
    const refused = { type: 'refusal', category: null, explanation: null };
    const details = model === 'content-filter' ? { stop_details: refused } : {};
    expect(json).toEqual({ ...whole(model, content, reason), ...details });
    expect(headers.get('x-svc-tokens-debited')).toBe('16.4');
    expect(headers.get('x-svc-balance')).toMatch(/^\d+(\.\d+)?$/);
    expect(headers.get('x-svc-model')).toBe(model);
    expect(headers.get('request-id')).toBe(headers.get('x-request-id'));
  });

  test('thinking that is turned off is not shown, even if the model thinks', async () => {
    const { json } = await generate(account, 'messages', 'reasoning', { thinking: disabled });
    expect(json['content']).toEqual([TEXT]);
    const { events } = await generateStream(account, 'messages', 'reasoning', {
      thinking: disabled,
    });
    expect(events.map(({ data }) => data).join('')).not.toContain('thinking');
  });

  test('a fallback is named in the header, not in the body', async () => {
    const answer = await generate(account, 'messages', 'status-503');
    expect(answer.headers.get('x-svc-model')).toBe('ok');
    expect(answer.json).toEqual(whole('status-503', [TEXT], 'end_turn'));
  });
});

describe('the other vendor’s version header and query', () => {
  const VARIANTS: readonly (readonly [string, Record<string, string>])[] = [
    ['/v1/messages', {}],
    ['/v1/messages?beta=true', { 'anthropic-version': '2023-06-01' }],
    ['/v1/messages', { 'anthropic-version': '2026-10-21', 'anthropic-beta': 'a-1,b-2' }],
    ['/v1/messages?beta=true', { 'partner-version': 'nonsense', 'anthropic-version': '' }],
  ];

  test.each([false, true])('change no byte, streamed: %p', async (stream) => {
    const answers: string[] = [];
    for (const [path, headers] of VARIANTS) {
      const body = requestBody('messages', 'text-and-tool', { stream, top_k: 4 });
      const response = await post(account, path, body, { headers });
      const answer = (await response.text())
        .replace(/msg_\w+/, 'msg_x')
        .replace(/"svc_balance_tokens":"[\d.]+"/, '');
      answers.push(`${response.status} ${upstream.requests.at(-1)?.text} ${answer}`);
    }
    expect(answers[0]).toStartWith('200 {"model":"text-and-tool"');
    expect(new Set(answers).size).toBe(1);
  });
});

/** The events of a stream, each checked to be named as its data says. */
function dataOf(events: readonly SseEvent[]): Fields[] {
  return events.map(({ event, json = {} }) => {
    expect(json['type']).toBe(event);
    return json;
  });
}

const start = (model: string) => messageStart(ID, model);

const open = (index: number, block: Fields) => ({
  type: 'content_block_start',
  index,
  content_block: block,
});
const delta = (index: number, more: Fields) => ({
  type: 'content_block_delta',
  index,
  delta: more,
});
const close = (index: number) => ({ type: 'content_block_stop', index });

const end = (reason: string, fallback = false) => [
  {
    type: 'message_delta',
    delta: { stop_reason: reason, stop_sequence: null },
    usage: {
      ...COUNTERS,
      ...BILL,
      svc_balance_tokens: expect.stringMatching(/^\d+(\.\d+)?$/),
      svc_fallback_used: fallback,
      svc_outcome: 'completed',
    },
  },
  { type: 'message_stop' },
];

const textBlock = (index: number) => [
  open(index, { type: 'text', text: '' }),
  ...['Hello ', 'from ', 'upstream.'].map((piece) =>
    delta(index, { type: 'text_delta', text: piece }),
  ),
  close(index),
];
const thinkingBlock = (index: number) => [
  open(index, { type: 'thinking', thinking: '', signature: '' }),
  ...['Let me think ', 'about it.'].map((piece) =>
    delta(index, { type: 'thinking_delta', thinking: piece }),
  ),
  delta(index, { type: 'signature_delta', signature: SIGNATURE }),
  close(index),
];
const toolBlock = (index: number, id: string, name: string, pieces: readonly string[]) => [
  open(index, { type: 'tool_use', id, name, input: {} }),
  ...pieces.map((piece) => delta(index, { type: 'input_json_delta', partial_json: piece })),
  close(index),
];
const weatherBlock = (index: number) =>
  toolBlock(index, 'call_1', 'get_weather', ['{"city":', '"Paris"}']);
const timeBlock = (index: number) => toolBlock(index, 'call_2', 'get_time', ['{"zone":"CET"}']);

describe('streams', () => {
  test.each([
    ['ok', textBlock(0), 'end_turn'],
    ['finish-length', textBlock(0), 'max_tokens'],
    ['reasoning', [...thinkingBlock(0), ...textBlock(1)], 'end_turn'],
    ['two-tools', [...weatherBlock(0), ...timeBlock(1)], 'tool_use'],
    ['text-and-tool', [...textBlock(0), ...weatherBlock(1)], 'tool_use'],
    ['reasoning-and-tool', [...thinkingBlock(0), ...weatherBlock(1)], 'tool_use'],
    ['no-content', [], 'end_turn'],
  ])('%s, event by event', async (model, blocks, reason) => {
    const { events, headers } = await generateStream(account, 'messages', model);
    expect(dataOf(events)).toEqual([start(model), ...blocks, ...end(reason)]);
    expect(headers.get('content-type')).toStartWith('text/event-stream');
    expect(headers.get('x-svc-tokens-debited')).toBeNull();
    expect(headers.get('x-svc-balance')).toBeNull();
  });

  test('a fallback is named in the header and in the last event', async () => {
    const { events, headers } = await generateStream(account, 'messages', 'status-503');
    expect(headers.get('x-svc-model')).toBe('ok');
    expect(dataOf(events)).toEqual([
      start('status-503'),
      ...textBlock(0),
      ...end('end_turn', true),
    ]);
  });

  const brokenOff = (requestId: string | null) => ({
    type: 'error',
    error: {
      type: 'overloaded_error',
      message: expect.any(String),
      code: 'provider_unavailable',
      request_id: requestId,
      svc_tokens_debited: expect.stringMatching(/^[1-9]\d*(\.\d+)?$/),
      svc_cost_usd: expect.stringMatching(/^0\.\d+$/),
      svc_balance_tokens: expect.stringMatching(/^\d+(\.\d+)?$/),
      svc_outcome: 'upstream_failed',
    },
  });

  test.each(['cut', 'insufficient-late'])('%s ends with an error event alone', async (model) => {
    const { events, headers } = await generateStream(account, 'messages', model);
    const seen = dataOf(events);
    expect(seen.at(-1)).toEqual(brokenOff(headers.get('request-id')));
    expect(seen.filter(({ type }) => type === 'message_delta' || type === 'message_stop')).toEqual(
      [],
    );
  });

  test('what is refused before the stream has a status and no events', async () => {
    const answer = await generateStream(account, 'messages', 'no-such-model');
    expect([answer.status, answer.events]).toEqual([404, []]);
    expect(answer.headers.get('content-type')).toBe('application/json');
  });
});

describe('a silent upstream', () => {
  const isPing = ({ type }: Fields) => type === 'ping';

  test('case 154: pings follow message_start, and then the answer', async () => {
    const model = SILENT;
    const events = await rig.afterBeats('messages');
    const seen = dataOf(events);
    expect(seen.slice(0, 3)).toEqual([start(model), { type: 'ping' }, { type: 'ping' }]);
    expect(seen.filter((event) => !isPing(event))).toEqual([
      start(model),
      ...textBlock(0),
      ...end('end_turn'),
    ]);
  });

  test('an upstream that never begins ends in an error that costs nothing', async () => {
    const { status, events } = await generateStream(hastyAccount, 'messages', 'stall-before');
    expect(status).toBe(200);
    const seen = dataOf(events);
    expect(seen.filter(isPing).length).toBeGreaterThan(1);
    expect(seen.filter((event) => !isPing(event))).toMatchObject([
      { type: 'message_start' },
      {
        type: 'error',
        error: {
          type: 'overloaded_error',
          code: 'provider_unavailable',
          svc_tokens_debited: '0',
          svc_outcome: 'upstream_failed',
        },
      },
    ]);
  });

  test('one that falls silent is kept alive until it is given up', async () => {
    const { events } = await generateStream(hastyAccount, 'messages', 'stall');
    const seen = dataOf(events);
    expect(seen.filter(isPing).length).toBeGreaterThan(2);
    expect(seen.at(-1)).toMatchObject({ type: 'error', error: { code: 'provider_unavailable' } });
  });
});

const PROMPTS: readonly (readonly [name: string, more: Fields])[] = [
  ['a word', {}],
  ['a system prompt', { system: [{ type: 'text', text: 'Be brief. '.repeat(50), ...CACHED }] }],
  ['tools', { tools: [TOOL, { ...TOOL, name: 'get_time' }], tool_choice: { type: 'auto' } }],
  ['an image', { messages: [user({ type: 'image', source: base64 }, text('What is it?'))] }],
  [
    'a tool round with thinking',
    { messages: [USER, assistant(thinking, toolUse), user(result({ content: 'sunny' }))] },
  ],
  ['a long text', { messages: [{ role: 'user', content: 'All work and no play. '.repeat(900) }] }],
];

describe('count_tokens', () => {
  const count = async (body: unknown, path = '/v1/messages/count_tokens') => {
    const response = await post(account, path, body);
    return { status: response.status, json: await response.json() };
  };

  test.each(PROMPTS)('%s: what is counted is what is reserved', async (_name, more) => {
    const body = requestBody('messages', 'ok', more);
    const counted = await count(body);
    const answer = await generate(account, 'messages', 'ok', more);
    const story = await explain(gateway, answer.headers.get('request-id'));
    expect(counted).toEqual({
      status: 200,
      json: { input_tokens: story.hold['estimated_prompt_tokens'] },
    });
    const { max_tokens: _bound, ...without } = body;
    expect(await count(without)).toEqual(counted);
    expect(await count({ ...body, stream: true }, '/v1/messages/count_tokens?beta=true')).toEqual(
      counted,
    );
  });

  test('it is free, needs no balance and takes nothing from the limits', async () => {
    const poor = await gateway.createAccount({ credit: 1 });
    const usage = async () => {
      const { json } = await get(poor, '/v1/account');
      return { balance: json['balance'], usage: json['usage'] };
    };
    const before = await usage();
    const asks = upstream.requests.length;
    const response = await post(poor, '/v1/messages/count_tokens', requestBody('messages', 'ok'));
    expect(response.status).toBe(200);
    expect(await usage()).toEqual(before);
    expect(upstream.requests).toHaveLength(asks);
  });

  test('its refusals are those of the format', async () => {
    const refused = await count(requestBody('messages', 'no-such-model'));
    expect(refused).toMatchObject({
      status: 404,
      json: { type: 'error', error: { type: 'not_found_error', code: 'model_not_found' } },
    });
  });
});
