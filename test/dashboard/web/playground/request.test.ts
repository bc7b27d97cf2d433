// What the playground sends in both formats for one conversation, and the code that it shows for it.

import '../../../support/english.ts';
import { describe, expect, test } from 'bun:test';
import {
  type Answer,
  NO_ANSWER,
} from '../../../../src/dashboard/web/customer/playground/answer.ts';
import { codeFor, shortenData } from '../../../../src/dashboard/web/customer/playground/code.ts';
import {
  type Facts,
  openCalls,
  requestBody,
  type Settings,
  speedOf,
  type Turn,
} from '../../../../src/dashboard/web/customer/playground/request.ts';
import {
  EXAMPLE_TOOLS,
  readTools,
  type Tool,
} from '../../../../src/dashboard/web/customer/playground/tools.ts';

const TOOL: Tool = { name: 'get_time', description: undefined, parameters: { type: 'object' } };

const PLAIN: Settings = {
  format: 'chat',
  model: 'swift-1',
  ...{ system: '', stop: [], reasoning: '', thinking: '', answerFormat: '' },
  ...{ tools: [], toolChoice: '', user: '', stream: false },
};

const FULL: Settings = {
  ...PLAIN,
  system: 'Be brief.',
  temperature: 0.5,
  maxTokens: 300,
  reasoning: 'high',
  tools: [TOOL],
  stream: true,
};

const FACTS: Facts = {
  requestId: 'req_1',
  asked: 'swift-1',
  model: 'swift-1',
  firstMs: undefined,
  totalMs: 1,
  end: 'complete',
};

const answered = (answer: Partial<Answer>): Turn => ({
  kind: 'assistant',
  answer: { ...NO_ANSWER, ...answer },
  facts: FACTS,
});

const call = (id: string, json: string) => ({ id, name: 'get_time', arguments: json });

const ASKED: readonly Turn[] = [
  { kind: 'user', text: 'What time is it?' },
  answered({
    reasoning: 'They want the time.',
    signature: 'signed',
    calls: [call('a', '{"zone":"UTC"}'), call('b', '')],
  }),
];

const TURNS: readonly Turn[] = [
  ...ASKED,
  { kind: 'tool', callId: 'a', text: '12:00' },
  { kind: 'tool', callId: 'b', text: '13:00' },
  answered({ reasoning: 'So it is noon.', text: 'Noon.' }),
  { kind: 'user', text: 'Thanks.' },
];

const HELLO: readonly Turn[] = [{ kind: 'user', text: 'Hello?' }];

test('what is left to the model is left out', () => {
  expect(requestBody(PLAIN, HELLO)).toEqual({
    model: 'swift-1',
    messages: [{ role: 'user', content: 'Hello?' }],
  });
  expect(requestBody({ ...PLAIN, format: 'messages' }, HELLO)).toEqual({
    model: 'swift-1',
    max_tokens: 4_096,
    messages: [{ role: 'user', content: 'Hello?' }],
  });
});

test('a conversation with tools in the chat-completions format', () => {
  const called = (id: string, json: string) => ({
    ...{ id, type: 'function' },
    function: { name: 'get_time', arguments: json },
  });
  expect(requestBody(FULL, TURNS)).toEqual({
    model: 'swift-1',
    messages: [
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: 'What time is it?' },
      {
        role: 'assistant',
        content: null,
        reasoning_content: 'They want the time.',
        tool_calls: [called('a', '{"zone":"UTC"}'), called('b', '{}')],
      },
      { role: 'tool', tool_call_id: 'a', content: '12:00' },
      { role: 'tool', tool_call_id: 'b', content: '13:00' },
      { role: 'assistant', content: 'Noon.' },
      { role: 'user', content: 'Thanks.' },
    ],
    max_tokens: 300,
    temperature: 0.5,
    reasoning_effort: 'high',
    tools: [{ type: 'function', function: { name: 'get_time', parameters: { type: 'object' } } }],
    stream: true,
  });
});

test('the same conversation in the Messages format', () => {
  const settings: Settings = { ...FULL, format: 'messages', thinking: 'enabled' };
  expect(requestBody(settings, TURNS)).toEqual({
    model: 'swift-1',
    max_tokens: 300,
    system: 'Be brief.',
    messages: [
      { role: 'user', content: 'What time is it?' },
      {
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: 'They want the time.', signature: 'signed' },
          { type: 'tool_use', id: 'a', name: 'get_time', input: { zone: 'UTC' } },
          { type: 'tool_use', id: 'b', name: 'get_time', input: {} },
        ],
      },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 'a', content: '12:00' },
          { type: 'tool_result', tool_use_id: 'b', content: '13:00' },
        ],
      },
      { role: 'assistant', content: 'Noon.' },
      { role: 'user', content: 'Thanks.' },
    ],
    temperature: 0.5,
    thinking: { type: 'enabled' },
    tools: [{ name: 'get_time', input_schema: { type: 'object' } }],
    stream: true,
  });
});

const EVERY: Settings = {
  ...PLAIN,
  ...{ temperature: 0, topP: 0.5, maxTokens: 10, frequencyPenalty: -2, presencePenalty: 2 },
  ...{ thinkingBudget: 5, stop: ['a', 'b'], reasoning: 'max', thinking: 'enabled' },
  ...{ answerFormat: 'json_object', tools: [TOOL], toolChoice: 'tool:get_time', user: 'ann' },
};

test('every parameter of the chat-completions format', () => {
  expect(requestBody(EVERY, HELLO)).toEqual({
    model: 'swift-1',
    messages: [{ role: 'user', content: 'Hello?' }],
    ...{ max_tokens: 10, temperature: 0, top_p: 0.5, frequency_penalty: -2, presence_penalty: 2 },
    ...{ stop: ['a', 'b'], reasoning_effort: 'max', thinking: { type: 'enabled' } },
    response_format: { type: 'json_object' },
    tools: [{ type: 'function', function: { name: 'get_time', parameters: { type: 'object' } } }],
    tool_choice: { type: 'function', function: { name: 'get_time' } },
    user: 'ann',
  });
  expect(requestBody({ ...EVERY, toolChoice: 'required' }, HELLO)['tool_choice']).toBe('required');
  expect(requestBody({ ...EVERY, tools: [] }, HELLO)).not.toHaveProperty('tool_choice');
});

test('every parameter of the Messages format', () => {
  const every: Settings = { ...EVERY, format: 'messages' };
  expect(requestBody(every, HELLO)).toEqual({
    model: 'swift-1',
    messages: [{ role: 'user', content: 'Hello?' }],
    ...{ max_tokens: 10, temperature: 0, top_p: 0.5, stop_sequences: ['a', 'b'] },
    thinking: { type: 'enabled', budget_tokens: 5 },
    tools: [{ name: 'get_time', input_schema: { type: 'object' } }],
    tool_choice: { type: 'tool', name: 'get_time' },
    metadata: { user_id: 'ann' },
  });
  for (const [choice, type] of [
    ['required', 'any'],
    ['none', 'none'],
    ['auto', 'auto'],
  ] as const) {
    expect(requestBody({ ...every, toolChoice: choice }, HELLO)['tool_choice']).toEqual({ type });
  }
});

test('images come before the text, and what was not kept is left out', () => {
  const pictures = [
    { name: 'a.png', type: 'image/png', data: 'QUFB' },
    { name: 'b.png', type: 'image/png', data: '' },
  ];
  const turns: readonly Turn[] = [{ kind: 'user', text: 'What is it?', pictures }];
  const text = { type: 'text', text: 'What is it?' };
  expect(requestBody(PLAIN, turns)['messages']).toEqual([
    {
      role: 'user',
      content: [{ type: 'image_url', image_url: { url: 'data:image/png;base64,QUFB' } }, text],
    },
  ]);
  const source = { type: 'base64', media_type: 'image/png', data: 'QUFB' };
  expect(requestBody({ ...PLAIN, format: 'messages' }, turns)['messages']).toEqual([
    { role: 'user', content: [{ type: 'image', source }, text] },
  ]);
  const long = [{ name: 'a.png', type: 'image/png', data: 'A'.repeat(500) }];
  const body = requestBody(PLAIN, [{ kind: 'user', text: 'B'.repeat(500), pictures: long }]);
  expect(shortenData(body)['messages']).toEqual([
    {
      role: 'user',
      content: [
        {
          type: 'image_url',
          image_url: { url: `data:image/png;base64,${'A'.repeat(24)}…` },
        },
        { type: 'text', text: 'B'.repeat(500) },
      ],
    },
  ]);
});

test('a message that was not answered is not sent again with the next one', () => {
  const turns: readonly Turn[] = [
    { kind: 'user', text: 'refused' },
    { kind: 'user', text: 'Hello?' },
    answered({ text: 'Hi.' }),
    { kind: 'user', text: 'refused again' },
    { kind: 'user', text: 'More?' },
  ];
  for (const format of ['chat', 'messages'] as const) {
    expect(requestBody({ ...PLAIN, format }, turns)['messages']).toEqual([
      { role: 'user', content: 'Hello?' },
      { role: 'assistant', content: 'Hi.' },
      { role: 'user', content: 'More?' },
    ]);
  }
});

test('the speed counts from the first token', () => {
  const facts = { ...FACTS, firstMs: 500, totalMs: 1_500 };
  expect(speedOf(40, facts)).toBe(40);
  expect(speedOf(40, { ...facts, firstMs: undefined })).toBeUndefined();
  expect(speedOf(40, { ...facts, totalMs: 500 })).toBeUndefined();
});

test('a call is open until it is answered', () => {
  const names = (turns: readonly Turn[]) => openCalls(turns).map(({ id }) => id);
  expect(names([])).toEqual([]);
  expect(names(ASKED)).toEqual(['a', 'b']);
  expect(names([...ASKED, { kind: 'tool', callId: 'b', text: '' }])).toEqual(['a']);
  expect(names(TURNS)).toEqual([]);
});

describe('tools', () => {
  const spoken = { name: 'a', description: 'Does it.', parameters: { type: 'object' } };

  test.each([
    ['plainly', spoken],
    ['as in chat completions', { type: 'function', function: spoken }],
    ['as in Messages', { name: 'a', description: 'Does it.', input_schema: { type: 'object' } }],
  ])('written %s', (_how, tool) => {
    expect(readTools(JSON.stringify([tool]))).toEqual({ tools: [spoken] });
  });

  test('none, and the example', () => {
    expect(readTools(' \n')).toEqual({ tools: [] });
    expect(readTools(EXAMPLE_TOOLS)).toMatchObject({ tools: [{ name: 'get_weather' }] });
  });

  test.each([
    ['[', 'Invalid JSON'],
    ['{}', 'a list of tools'],
    ['[{"name":"a"},{"name":"with space"}]', 'Tool 2'],
    ['[null]', 'Tool 1'],
  ])('%s cannot be sent', (text, problem) => {
    expect(readTools(text)).toEqual({ problem: expect.stringContaining(problem) });
  });
});

describe('code', () => {
  const BASE = 'https://llm.example.com';
  const body = { model: 'swift-1', messages: [{ role: 'user', content: "It's" }] };

  test('curl survives quotes, in a real shell', async () => {
    const code = codeFor('curl', 'chat', { ...body, stream: true }, BASE);
    const shown = await Bun.$`sh -c ${code.replace('curl', 'printf "%s\\n"')}`.text();
    expect(JSON.parse(shown.slice(shown.indexOf('{')))).toEqual({ ...body, stream: true });
    expect(shown).toStartWith(`-N\n${BASE}/v1/chat/completions\n-H\n`);
  });

  test('Python has its own words for JSON', () => {
    const tricky = { ...body, stream: true, tools: [], stop: null };
    expect(codeFor('python', 'messages', tricky, BASE)).toBe(`from anthropic import Anthropic

client = Anthropic(base_url="${BASE}", api_key="YOUR_API_KEY")
answer = client.messages.create(
    model="swift-1",
    messages=[
        {
            "role": "user",
            "content": "It's",
        },
    ],
    stream=True,
    tools=[],
    stop=None,
)
for event in answer:
    print(event)`);
  });

  test('JavaScript of both formats runs as it is', () => {
    const transpiler = new Bun.Transpiler({ loader: 'js' });
    for (const format of ['chat', 'messages'] as const) {
      const code = codeFor('javascript', format, body, BASE);
      expect(transpiler.transformSync(code)).toContain('create({');
    }
  });
});
