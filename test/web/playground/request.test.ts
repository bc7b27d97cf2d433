// What the playground sends in both formats for one conversation, and the code that it shows for it.

import '../../support/english.ts';
import { describe, expect, test } from 'bun:test';
import { type Answer, NO_ANSWER } from '../../../src/web/customer/playground/answer.ts';
import { codeFor, shortenData } from '../../../src/web/customer/playground/code.ts';
import {
  type Facts,
  openCalls,
  requestBody,
  speedOf,
  type Turn,
  turnsBefore,
} from '../../../src/web/customer/playground/request.ts';
import { NO_SETTINGS, type Settings } from '../../../src/web/customer/playground/settings.ts';
import { EXAMPLE_TOOLS, readTools } from '../../../src/web/customer/playground/tools.ts';

const MODEL = {
  ...{ id: 'swift-1', max_output_tokens: 8_192 },
  features: { reasoning: true, tools: true, json_mode: true },
};

const TOOLS = '[{"name":"get_time","parameters":{"type":"object"}}]';

const PLAIN: Settings = { ...NO_SETTINGS, stream: false };

const FULL: Settings = {
  ...NO_SETTINGS,
  system: 'Be brief.',
  parameters: { temperature: '0.5', max_tokens: '300', reasoning_effort: 'high' },
  tools: TOOLS,
};

const bodyOf = (settings: Settings, turns: readonly Turn[], model = MODEL) =>
  requestBody(settings, model, turns);

const FACTS: Facts = {
  requestId: 'req_1',
  asked: 'swift-1',
  model: 'swift-1',
  firstMs: undefined,
  totalMs: 1,
  end: 'complete',
};

const said = (text: string): Turn => ({ kind: 'user', text, pictures: [] });

const answered = (answer: Partial<Answer>): Turn => ({
  kind: 'assistant',
  answer: { ...NO_ANSWER, ...answer },
  facts: FACTS,
});

const call = (id: string, json: string) => ({ id, name: 'get_time', arguments: json });

const ASKED: readonly Turn[] = [
  said('What time is it?'),
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
  said('Thanks.'),
];

const HELLO: readonly Turn[] = [said('Hello?')];

test('what is left to the model is left out', () => {
  expect(bodyOf(PLAIN, HELLO)).toEqual({
    model: 'swift-1',
    messages: [{ role: 'user', content: 'Hello?' }],
  });
  expect(bodyOf({ ...PLAIN, format: 'messages' }, HELLO)).toEqual({
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
  expect(bodyOf(FULL, TURNS)).toEqual({
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
  const settings: Settings = {
    ...{ ...FULL, format: 'messages' },
    parameters: { ...FULL.parameters, thinking: 'enabled' },
  };
  expect(bodyOf(settings, TURNS)).toEqual({
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
  parameters: {
    ...{ temperature: '0', top_p: '0.5', max_tokens: '10', budget_tokens: '5', user: 'ann' },
    ...{ frequency_penalty: '-2', presence_penalty: '2', stop: 'a\nb', thinking: 'enabled' },
    ...{ reasoning_effort: 'max', response_format: 'json_object' },
  },
  ...{ tools: TOOLS, toolChoice: 'tool:get_time' },
};

test('every parameter of the chat-completions format', () => {
  expect(bodyOf(EVERY, HELLO)).toEqual({
    model: 'swift-1',
    messages: [{ role: 'user', content: 'Hello?' }],
    ...{ max_tokens: 10, temperature: 0, top_p: 0.5, frequency_penalty: -2, presence_penalty: 2 },
    ...{ stop: ['a', 'b'], reasoning_effort: 'max', thinking: { type: 'enabled' } },
    response_format: { type: 'json_object' },
    tools: [{ type: 'function', function: { name: 'get_time', parameters: { type: 'object' } } }],
    tool_choice: { type: 'function', function: { name: 'get_time' } },
    user: 'ann',
  });
  expect(bodyOf({ ...EVERY, toolChoice: 'required' }, HELLO)['tool_choice']).toBe('required');
  expect(bodyOf({ ...EVERY, toolChoice: 'tool:gone' }, HELLO)).not.toHaveProperty('tool_choice');
  for (const tools of ['', '{']) {
    expect(bodyOf({ ...EVERY, tools }, HELLO)).not.toHaveProperty('tools');
    expect(bodyOf({ ...EVERY, tools }, HELLO)).not.toHaveProperty('tool_choice');
  }
  const toolless = { ...MODEL, features: { ...MODEL.features, tools: false } };
  expect(bodyOf(EVERY, HELLO, toolless)).not.toHaveProperty('tools');
});

test('every parameter of the Messages format', () => {
  const every: Settings = { ...EVERY, format: 'messages' };
  expect(bodyOf(every, HELLO)).toEqual({
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
    expect(bodyOf({ ...every, toolChoice: choice }, HELLO)['tool_choice']).toEqual({ type });
  }
});

test('images come before the text, and what was not kept is left out', () => {
  const pictures = [
    { name: 'a.png', type: 'image/png', data: 'QUFB' },
    { name: 'b.png', type: 'image/png', data: '' },
  ];
  const turns: readonly Turn[] = [{ kind: 'user', text: 'What is it?', pictures }];
  const text = { type: 'text', text: 'What is it?' };
  expect(bodyOf(PLAIN, turns)['messages']).toEqual([
    {
      role: 'user',
      content: [{ type: 'image_url', image_url: { url: 'data:image/png;base64,QUFB' } }, text],
    },
  ]);
  const source = { type: 'base64', media_type: 'image/png', data: 'QUFB' };
  expect(bodyOf({ ...PLAIN, format: 'messages' }, turns)['messages']).toEqual([
    { role: 'user', content: [{ type: 'image', source }, text] },
  ]);
});

test('a message that was not answered is not sent again with the next one', () => {
  const turns: readonly Turn[] = [
    said('refused'),
    said('Hello?'),
    answered({ text: 'Hi.' }),
    said('refused again'),
    said('More?'),
  ];
  for (const format of ['chat', 'messages'] as const) {
    expect(bodyOf({ ...PLAIN, format }, turns)['messages']).toEqual([
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

test('the turns before a message are found by its number', () => {
  expect(turnsBefore(TURNS, 0)).toEqual([]);
  expect(turnsBefore(TURNS, 1)).toEqual(TURNS.slice(0, -1));
  expect(turnsBefore(TURNS, 2)).toEqual(TURNS);
});

describe('tools', () => {
  const spoken = { name: 'a', description: 'Does it.', parameters: { type: 'object' } };

  test.each([
    ['plainly', spoken],
    ['as in chat completions', { type: 'function', function: spoken }],
    ['as in Messages', { name: 'a', description: 'Does it.', input_schema: { type: 'object' } }],
  ])('written %s', (_how, tool) => {
    expect(readTools(JSON.stringify([tool]))).toEqual([spoken]);
  });

  test('none, and the example', () => {
    expect(readTools(' \n')).toEqual([]);
    expect(readTools(EXAMPLE_TOOLS)).toMatchObject([{ name: 'get_weather' }]);
  });

  test.each([
    ['[', 'Invalid JSON'],
    ['{}', 'a list of tools'],
    ['[{"name":"a"},{"name":"with space"}]', 'Tool 2'],
    ['[null]', 'Tool 1'],
  ])('%s cannot be sent', (text, problem) => {
    expect(readTools(text)).toContain(problem);
  });
});

describe('code', () => {
  const BASE = 'https://llm.example.com';
  const body = { model: 'swift-1', messages: [{ role: 'user', content: "It's" }] };
  const codeIn = (
    language: keyof ReturnType<typeof codeFor>,
    format: Settings['format'],
    sent: object,
  ): string => codeFor(format, { ...sent }, { baseUrl: BASE, apiKey: 'sk-key' })[language];

  test('curl survives quotes, in a real shell', async () => {
    const code = codeIn('curl', 'chat', { ...body, stream: true });
    const shown = await Bun.$`sh -c ${code.replace('curl', 'printf "%s\\n"')}`.text();
    expect(JSON.parse(shown.slice(shown.indexOf('{')))).toEqual({ ...body, stream: true });
    expect(shown).toStartWith(`-N\n${BASE}/v1/chat/completions\n-H\n`);
  });

  test('Python has its own words for JSON', () => {
    const tricky = { ...body, stream: true, tools: [], stop: null };
    expect(
      codeIn('python', 'messages', tricky),
    ).toBe(`# pip install anthropic; export API_KEY='sk-key'
import os
from anthropic import Anthropic

client = Anthropic(base_url="${BASE}", api_key=os.environ["API_KEY"])
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
      const code = codeIn('javascript', format, body);
      expect(transpiler.transformSync(code)).toContain('create({');
    }
  });

  test('the data of images is cut short, and texts are not', () => {
    const long = 'A'.repeat(500);
    const text = `"url":"data:image/png;base64,${long}"`;
    const url = `data:image/png;base64,${long}==`;
    const source = { type: 'base64', data: long };
    const content = [{ image_url: { url } }, { source }, { type: 'text', text }];
    const request = shortenData({ messages: [{ role: 'user', content }] });
    const shown = codeIn('curl', 'chat', request);
    expect(JSON.parse(shown.slice(shown.indexOf('{'), -1)).messages[0].content).toEqual([
      { image_url: { url: `data:image/png;base64,${'A'.repeat(24)}…` } },
      { source: { type: 'base64', data: `${'A'.repeat(24)}…` } },
      { type: 'text', text },
    ]);
  });
});
