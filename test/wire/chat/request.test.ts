import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { GatewayError } from '../../../src/core/error.ts';
import type { GenerationRequest } from '../../../src/core/generation.ts';
import { chatFormat } from '../../../src/wire/chat/format.ts';
import { TOOL_IMAGE_MARK } from '../../../src/wire/turns.ts';
import { thrownBy } from '../../support/thrown.ts';

const HELLO = { role: 'user', content: 'Hello?' };
const CALL = { id: 'call_1', type: 'function', function: { name: 'f', arguments: '{"a": 1}' } };
const PNG = 'data:image/png;base64,iVBORw0KGgo=';

function parse(value: unknown): GenerationRequest {
  return chatFormat.parse({ value, text: '' });
}

function body(more: object = {}): object {
  return { model: 'swift-1', messages: [HELLO], ...more };
}

function withMessages(...messages: unknown[]): object {
  return body({ messages });
}

function tool(name: unknown, more: object = {}): object {
  return { type: 'function', function: { name, ...more } };
}

function allowed(mode: string, ...tools: readonly object[]): object {
  return { type: 'allowed_tools', allowed_tools: { mode, tools } };
}

function repeat<Item>(count: number, item: Item): Item[] {
  return Array.from({ length: count }, () => item);
}

function refusal(value: unknown): { param: string | undefined; message: string } {
  const error = thrownBy(GatewayError, () => parse(value));
  if (error === undefined) throw new Error('was accepted');
  expect(error.code).toBe('invalid_request');
  return { param: error.param, message: error.message };
}

function jsonSchema(given: object): object {
  return { response_format: { type: 'json_schema', json_schema: given } };
}

const ANY_JSON = { json: true };

const MINIMAL: GenerationRequest = {
  model: 'swift-1',
  system: '',
  turns: [{ role: 'user', parts: [{ kind: 'text', text: 'Hello?' }] }],
  stop: [],
  tools: [],
  json: false,
  stream: false,
  includeUsage: true,
};

describe('an accepted chat body', () => {
  test('reads every field', () => {
    const parameters = { type: 'object', properties: { a: { type: 'number' } } };
    expect(
      parse(
        body({
          max_tokens: 10,
          max_completion_tokens: 20,
          temperature: 0.5,
          top_p: 0.9,
          frequency_penalty: -2,
          presence_penalty: 2,
          stop: ['a', 'b'],
          stream: true,
          stream_options: { include_usage: false },
          response_format: { type: 'json_schema', json_schema: { schema: { $ref: '#' } } },
          tools: [tool('f', { description: 'Does it.', parameters, strict: true }), tool('g')],
          tool_choice: { type: 'function', function: { name: 'g' } },
          parallel_tool_calls: false,
          reasoning_effort: 'max',
          user: 'u-1',
          n: 1,
        }),
      ),
    ).toEqual({
      ...MINIMAL,
      maxOutputTokens: { tokens: 20, field: 'max_completion_tokens' },
      temperature: 0.5,
      topP: 0.9,
      frequencyPenalty: -2,
      presencePenalty: 2,
      stop: ['a', 'b'],
      tools: [
        { name: 'f', description: 'Does it.', parameters },
        { name: 'g', parameters: { type: 'object', properties: {} } },
      ],
      toolChoice: { kind: 'tool', name: 'g' },
      parallelToolCalls: false,
      reasoning: 'max',
      endUser: 'u-1',
      json: true,
      schema: { name: 'answer', schema: { $ref: '#' } },
      stream: true,
      includeUsage: false,
    });
  });

  const FIELDS: readonly (readonly [string, object, Partial<GenerationRequest>])[] = [
    ['nothing optional', {}, {}],
    ['zeros', zeros(0), { temperature: 0, frequencyPenalty: 0, presencePenalty: 0 }],
    ['the greatest numbers', { temperature: 2, top_p: 1 }, { temperature: 2, topP: 1 }],
    ['one token', { max_tokens: 1 }, { maxOutputTokens: { tokens: 1, field: 'max_tokens' } }],
    [
      'a null synonym',
      { max_tokens: 7, max_completion_tokens: null },
      { maxOutputTokens: { tokens: 7, field: 'max_tokens' } },
    ],
    ['one stop sequence', { stop: 'END' }, { stop: ['END'] }],
    ['no stop sequences', { stop: [] }, {}],
    ['16 stop sequences', { stop: repeat(16, 'x') }, { stop: repeat(16, 'x') }],
    ['stream options alone', { stream_options: {} }, {}],
    [
      'usage left open',
      { stream: true, stream_options: { include_usage: null } },
      { stream: true },
    ],
    ['plain text', { response_format: { type: 'text' } }, {}],
    ['a JSON object', { response_format: { type: 'json_object' } }, { json: true }],
    ['a schema of which nothing is said', { response_format: { type: 'json_schema' } }, ANY_JSON],
    ['a schema that is none', jsonSchema({ name: 'a', schema: '{}', strict: true }), ANY_JSON],
    [
      'a schema with all that goes with it',
      jsonSchema({ name: 'a-B_3', description: 'D.', schema: {}, strict: true, x: 1 }),
      { json: true, schema: { name: 'a-B_3', description: 'D.', schema: {}, strict: true } },
    ],
    [
      'a schema whose name no upstream would take',
      jsonSchema({ name: 'a b', description: null, schema: {}, strict: 'yes' }),
      { json: true, schema: { name: 'answer', schema: {} } },
    ],
    ['no tools', { tools: [], tool_choice: 'auto' }, {}],
    ['a choice of none without tools', { tool_choice: 'none' }, {}],
    ['an odd hint', { parallel_tool_calls: 'yes' }, {}],
    ['256 characters of user', { user: '😀'.repeat(256) }, { endUser: '😀'.repeat(256) }],
    ['legacy functions', { functions: [{ name: 'f' }], function_call: 'auto' }, {}],
    ['thinking on', { thinking: { type: 'enabled', budget_tokens: 9 } }, { reasoning: 'on' }],
    ['thinking off', { thinking: { type: 'disabled' } }, { reasoning: 'off' }],
    [
      'thinking off beside an effort',
      { thinking: { type: 'disabled' }, reasoning_effort: 'high' },
      { reasoning: 'off' },
    ],
    [
      'no effort beside thinking',
      { thinking: { type: 'enabled' }, reasoning_effort: 'none' },
      { reasoning: 'off' },
    ],
    [
      'an effort beside thinking',
      { thinking: { type: 'enabled' }, reasoning_effort: 'low' },
      { reasoning: 'low' },
    ],
    ['adaptive thinking', { thinking: { type: 'adaptive' } }, { reasoning: 'on' }],
    ['an effort in an object', { reasoning: { effort: 'xhigh' } }, { reasoning: 'high' }],
    ['an object that turns thinking on', { reasoning: { enabled: true } }, { reasoning: 'on' }],
    [
      'an object that turns thinking off',
      { reasoning: { enabled: false, effort: 'high' } },
      { reasoning: 'off' },
    ],
    ['a budget of thinking', { reasoning: { max_tokens: 2_000 } }, { reasoning: 'on' }],
    ['a budget of nothing', { reasoning: { max_tokens: 0 } }, { reasoning: 'off' }],
    [
      'an effort beside an object',
      { reasoning_effort: 'low', reasoning: { effort: 'max', exclude: true } },
      { reasoning: 'low', hidesThinking: true },
    ],
    ['thinking that is shown', { reasoning: { exclude: false } }, {}],
    ['odd reasoning', { reasoning: 'high' }, {}],
    ['odd members of reasoning', { reasoning: { effort: 5, exclude: 'yes', x: 1 } }, {}],
    ['a verbosity', { verbosity: 'low' }, { verbosity: 'low' }],
    ['an odd verbosity', { verbosity: 'terse' }, {}],
    ['a cache key', { prompt_cache_key: 'session-1' }, { promptCacheKey: 'session-1' }],
    [
      'a long cache key',
      { prompt_cache_key: 'k'.repeat(999) },
      { promptCacheKey: 'k'.repeat(256) },
    ],
    ['odd cache keys', { prompt_cache_key: 5 }, {}],
    ['an empty cache key', { prompt_cache_key: '' }, {}],
  ];

  test.each(FIELDS)('may hold %s', (_name, more, expected) => {
    expect(parse(body(more))).toEqual({ ...MINIMAL, ...expected });
  });

  test.each([
    ['none', 'off'],
    ['minimal', 'low'],
    ['low', 'low'],
    ['medium', 'high'],
    ['high', 'high'],
    ['xhigh', 'high'],
    ['max', 'max'],
  ] as const)('maps the effort %s to %s', (effort, reasoning) => {
    expect(parse(body({ reasoning_effort: effort }))).toEqual({ ...MINIMAL, reasoning });
  });

  test.each(['auto', 'none', 'required'] as const)('keeps the tool choice %s', (kind) => {
    const { toolChoice } = parse(body({ tools: [tool('f')], tool_choice: kind }));
    expect(toolChoice).toEqual({ kind });
  });

  test('may name a tool with 128 characters, and have 128 tools', () => {
    const tools = Array.from({ length: 128 }, (_, index) => tool(`${index}`.padEnd(128, 'é')));
    expect(parse(body({ tools })).tools).toHaveLength(128);
  });

  test('may have null in the place of every optional field', () => {
    const optional = [
      'max_tokens max_completion_tokens temperature top_p frequency_penalty presence_penalty stop',
      'stream stream_options response_format tools tool_choice reasoning_effort thinking user n',
      'parallel_tool_calls metadata store seed logprobs',
    ].flatMap((line) => line.split(' '));
    const nulls = Object.fromEntries(optional.map((field) => [field, null]));
    expect(parse(body(nulls))).toEqual(MINIMAL);
    const nullTool = tool('f', { description: null, parameters: null, strict: null });
    expect(parse(body({ tools: [nullTool] })).tools).toEqual([
      { name: 'f', parameters: { type: 'object', properties: {} } },
    ]);
  });
});

describe('an accepted custom tool', () => {
  const PARAMETERS = {
    type: 'object',
    properties: { input: { type: 'string' } },
    required: ['input'],
    additionalProperties: false,
  };
  const grammar = { syntax: 'lark', definition: 'start: "a"' } as const;
  const RULE = 'The input must match this lark grammar:\nstart: "a"';
  test.each<[name: string, given: object, expected: object]>([
    ['without a description', {}, { custom: {} }],
    [
      'with a description',
      { description: 'Runs it.', format: { type: 'text' } },
      { description: 'Runs it.', custom: { description: 'Runs it.' } },
    ],
    [
      'with a grammar',
      { format: { type: 'grammar', grammar } },
      { description: RULE, custom: { grammar } },
    ],
    [
      'with both',
      { description: 'Runs it.', format: { type: 'grammar', grammar } },
      {
        description: `Runs it.\n\n${RULE}`,
        custom: { description: 'Runs it.', grammar },
      },
    ],
  ])('is a function of one text, too: %s', (_name, given, expected) => {
    const tools = [{ type: 'custom', custom: { name: 'run', ...given } }];
    expect(parse(body({ tools })).tools).toEqual([
      { name: 'run', parameters: PARAMETERS, ...expected },
    ]);
  });

  test('may be forced', () => {
    const tools = [{ type: 'custom', custom: { name: 'run' } }];
    const choice = { type: 'custom', custom: { name: 'run' } };
    expect(parse(body({ tools, tool_choice: choice })).toolChoice).toEqual({
      kind: 'tool',
      name: 'run',
    });
  });

  test.each(['auto', 'required'] as const)(
    'offers only the allowed tools, with mode %s',
    (mode) => {
      const run = { type: 'custom', custom: { name: 'run' } };
      const { tools, toolChoice } = parse(
        body({ tools: [tool('f'), tool('g'), run], tool_choice: allowed(mode, run, tool('f')) }),
      );
      expect(tools.map(({ name }) => name)).toEqual(['f', 'run']);
      expect(toolChoice).toEqual({ kind: mode });
    },
  );
});

describe('accepted messages', () => {
  test('may have the address of an image in the place of its object', () => {
    const [plain, object] = ['https://a.b/c', { url: 'https://a.b/c' }].map((image) =>
      parse(withMessages({ role: 'user', content: [{ type: 'image_url', image_url: image }] })),
    );
    expect(plain).toEqual(object as GenerationRequest);
    expect(plain?.turns).toEqual([
      { role: 'user', parts: [{ kind: 'image', url: 'https://a.b/c' }] },
    ]);
  });

  test.each<[name: string, given: unknown, expected: object]>([
    ['as it is', 'Bob', { name: 'Bob' }],
    ['beyond ASCII', 'Zoë_王', { name: 'Zoë_王' }],
    ['with what servers refuse', 'Ann <Lee>\n', { name: 'Ann_Lee_' }],
    ['of 64 characters at most', '😀'.repeat(70), { name: '😀'.repeat(64) }],
    ['that is empty', '', {}],
    ['that is null', null, {}],
  ])('keep the name of a speaker: %s', (_name, given, expected) => {
    const { turns } = parse(
      withMessages(
        { ...HELLO, name: given },
        { role: 'assistant', content: 'Hi', name: given },
        { ...HELLO },
      ),
    );
    expect(turns).toEqual([
      { role: 'user', ...expected, parts: [{ kind: 'text', text: 'Hello?' }] },
      { role: 'assistant', ...expected, reasoning: '', text: 'Hi', toolCalls: [] },
      { role: 'user', parts: [{ kind: 'text', text: 'Hello?' }] },
    ]);
  });

  test('without parts are those that may be empty: a turn with calls, and a result', () => {
    const { turns } = parse(
      withMessages(
        HELLO,
        { role: 'assistant', content: [], tool_calls: [CALL] },
        { role: 'tool', tool_call_id: 'call_1', content: [] },
      ),
    );
    expect(turns.slice(1)).toEqual([
      {
        role: 'assistant',
        reasoning: '',
        text: '',
        toolCalls: [{ id: 'call_1', name: 'f', arguments: '{"a": 1}' }],
      },
      { role: 'tool', toolCallId: 'call_1', text: '', isError: false },
    ]);
  });

  test('of every role become turns', () => {
    const request = parse(
      withMessages(
        { role: 'system', content: 'Be kind.' },
        { role: 'developer', content: [text('Be'), text('brief.')], name: 'x' },
        { role: 'user', content: [text('What is it?'), image(PNG), image('HTTPS://a.b/c.png')] },
        { role: 'assistant', content: null, reasoning_content: 'Hm.', tool_calls: [CALL] },
        { role: 'tool', tool_call_id: 'call_1', content: [text('one'), text('two')] },
        { role: 'assistant', content: [text('A'), text('cat.')], tool_calls: [] },
        { role: 'user', content: '', tool_calls: null, reasoning_content: 5 },
      ),
    );
    expect(request).toEqual({
      ...MINIMAL,
      system: 'Be kind.\n\nBe\nbrief.',
      turns: [
        {
          role: 'user',
          parts: [
            { kind: 'text', text: 'What is it?' },
            { kind: 'image', url: PNG },
            { kind: 'image', url: 'HTTPS://a.b/c.png' },
          ],
        },
        {
          role: 'assistant',
          reasoning: 'Hm.',
          text: '',
          toolCalls: [{ id: 'call_1', name: 'f', arguments: '{"a": 1}' }],
        },
        { role: 'tool', toolCallId: 'call_1', text: 'one\ntwo', isError: false },
        { role: 'assistant', reasoning: '', text: 'A\ncat.', toolCalls: [] },
        { role: 'user', parts: [{ kind: 'text', text: '' }] },
      ],
    });
  });

  test.each<[name: string, given: object, text: string]>([
    ['in the place of content', { content: null, refusal: 'No.' }, 'No.'],
    ['without content', { refusal: 'No.' }, 'No.'],
    ['beside content', { content: 'Hm.', refusal: 'No.' }, 'Hm.\nNo.'],
    ['as a part', { content: [text('Hm.'), { type: 'refusal', refusal: 'No.' }] }, 'Hm.\nNo.'],
    ['that is null', { content: 'Yes.', refusal: null }, 'Yes.'],
  ])('keep a refusal as text: %s', (_name, given, expected) => {
    const { turns } = parse(withMessages(HELLO, { role: 'assistant', ...given }));
    expect(turns[1]).toEqual({ role: 'assistant', reasoning: '', text: expected, toolCalls: [] });
  });

  const DETAILS = [
    { type: 'reasoning.summary', summary: 'Sum' },
    { type: 'reasoning.encrypted', data: 'QQ==' },
    { type: 'reasoning.text', text: 'Text', signature: 'x' },
    ...[{ type: 'reasoning.text', text: 5 }, null, 'x', {}],
  ];
  test.each<[name: string, given: object, reasoning: string]>([
    ['by its other name', { reasoning: 'R' }, 'R'],
    ['by both names', { reasoning_content: 'C', reasoning: 'R' }, 'C'],
    ['beside an empty field', { reasoning_content: '', reasoning: 'R' }, 'R'],
    ['in details', { reasoning: null, reasoning_details: DETAILS }, 'SumText'],
    ['beside details', { reasoning: 'R', reasoning_details: DETAILS }, 'R'],
    ['of a kind that was ignored before', { reasoning: 5, reasoning_details: 'x' }, ''],
  ])('keep earlier thinking: %s', (_name, given, reasoning) => {
    const { turns } = parse(withMessages(HELLO, { role: 'assistant', content: 'A', ...given }));
    expect(turns[1]).toEqual({ role: 'assistant', reasoning, text: 'A', toolCalls: [] });
  });

  test('keep the input of a custom call as the arguments of a function, with its result', () => {
    const call = { id: 'call_1', type: 'custom', custom: { name: 'patch', input: 'a "b"\n' } };
    const { turns } = parse(
      withMessages(
        HELLO,
        { role: 'assistant', content: null, tool_calls: [call, { ...CALL, id: 'call_2' }] },
        { role: 'tool', tool_call_id: 'call_1', content: 'Done.' },
        { role: 'tool', tool_call_id: 'call_2', content: 'Done.' },
      ),
    );
    expect(turns[1]).toMatchObject({
      toolCalls: [
        { id: 'call_1', name: 'patch', arguments: '{"input":"a \\"b\\"\\n"}' },
        { id: 'call_2', name: 'f', arguments: '{"a": 1}' },
      ],
    });
    expect(turns[2]).toMatchObject({ role: 'tool', toolCallId: 'call_1', text: 'Done.' });
  });

  test.each(['', 'not JSON', '{"2":1,"1":12345678901234567890}'])(
    'keep tool arguments byte for byte: %s',
    (callArguments) => {
      const call = { id: 'call_1', function: { name: 'f', arguments: callArguments } };
      const { turns } = parse(withMessages(HELLO, { role: 'assistant', tool_calls: [call] }));
      expect(turns[1]).toEqual({
        role: 'assistant',
        reasoning: '',
        text: '',
        toolCalls: [{ id: 'call_1', name: 'f', arguments: callArguments }],
      });
    },
  );

  test('carry the pictures of tool results on, behind the last result of the run', () => {
    const calls = [CALL, { ...CALL, id: 'call_2' }];
    const { turns } = parse(
      withMessages(
        HELLO,
        { role: 'assistant', content: '', tool_calls: calls },
        { role: 'tool', tool_call_id: 'call_1', content: [text('seen'), image(PNG)] },
        { role: 'tool', tool_call_id: 'call_2', content: 'heard' },
      ),
    );
    expect(turns.slice(2)).toEqual([
      { role: 'tool', toolCallId: 'call_1', text: `seen\n${TOOL_IMAGE_MARK}`, isError: false },
      { role: 'tool', toolCallId: 'call_2', text: 'heard', isError: false },
      { role: 'user', parts: [{ kind: 'image', url: PNG }] },
    ]);
  });

  test('may be 200, with 1,000,000 characters each', () => {
    expect(parse(body({ messages: repeat(200, HELLO) })).turns).toHaveLength(200);
    const astral = '😀'.repeat(500_000);
    const long = { role: 'user', content: [text(astral), text(astral)] };
    expect(parse(withMessages(long)).turns[0]).toEqual({
      role: 'user',
      parts: repeat(2, { kind: 'text', text: astral }),
    });
  });
});

describe('a refused chat body', () => {
  test.each([[null], [[]], ['text'], [5], [true]])('is not an object: %p', (value) => {
    const message = 'The request body must be a JSON object.';
    expect(refusal(value)).toEqual({ param: undefined, message });
  });

  const ABOVE_1 = 'must be a whole number from 1 to 9007199254740991';
  const CHOICE =
    'must be "none", "auto", "required", or {"type": …} with the type "function" or "custom" and ' +
    'the name of a tool, or with the type "allowed_tools", a mode and tools';
  const NON_EMPTY = 'must be a string that is not empty';
  const NAME = 'must be a name of 1 to 128 characters without control characters';

  const ROWS: readonly (readonly [string, string, readonly object[]])[] = [
    ['model', 'is required', [{ messages: [HELLO] }, { Model: 'x', messages: [HELLO] }]],
    ['model', NON_EMPTY, [{ model: '' }, { model: 5 }, { model: null }].map(body)],
    ['messages', 'is required', [{ model: 'swift-1', MESSAGES: [HELLO] }]],
    ['messages', 'must be an array', ['x', {}, null].map((messages) => body({ messages }))],
    ['messages', 'must have at least 1 entry', [body({ messages: [] })]],
    [
      'messages',
      'must have a message that is not an empty system message',
      ['system', 'developer'].map((role) => body({ messages: [{ role, content: '' }] })),
    ],
    [
      'messages',
      'has 201 entries; at most 200 are allowed',
      [body({ messages: repeat(201, HELLO) })],
    ],
    ['max_tokens', ABOVE_1, [0, -1, 1.5, '5', 2 ** 53].map((value) => body({ max_tokens: value }))],
    ['max_completion_tokens', ABOVE_1, [body({ max_tokens: 5, max_completion_tokens: 0 })]],
    [
      'temperature',
      'must be a number from 0 to 2',
      [-0.01, 2.01, '1', Number.POSITIVE_INFINITY].map((value) => body({ temperature: value })),
    ],
    [
      'top_p',
      'must be a number above 0, up to 1',
      [0, -1, 1.0001, '1'].map((value) => body({ top_p: value })),
    ],
    [
      'frequency_penalty',
      'must be a number from -2 to 2',
      [-2.01, 2.01].map((value) => body({ frequency_penalty: value })),
    ],
    [
      'presence_penalty',
      'must be a number from -2 to 2',
      [-2.01, 2.01].map((value) => body({ presence_penalty: value })),
    ],
    ['stop', 'must be a string or an array of up to 16 strings', [body({ stop: 5 })]],
    ['stop', NON_EMPTY, [body({ stop: '' })]],
    ['stop', 'has 17 entries; at most 16 are allowed', [body({ stop: repeat(17, 'x') })]],
    ['stop[1]', NON_EMPTY, ['', 5, null, ['x']].map((entry) => body({ stop: ['x', entry] }))],
    ['stream', 'must be true or false', ['true', 1].map((stream) => body({ stream }))],
    ['stream_options', 'must be an object', [body({ stream_options: 'x' })]],
    [
      'stream_options.include_usage',
      'must be true or false',
      [body({ stream_options: { include_usage: 'false' } })],
    ],
    ['response_format', 'must be an object', [body({ response_format: 'json_object' })]],
    ['response_format.type', 'is required', [body({ response_format: {} })]],
    [
      'response_format.type',
      'must be one of "text", "json_object", "json_schema"',
      [body({ response_format: { type: 'xml' } })],
    ],
    ['tools', 'must be an array', [body({ tools: {} })]],
    [
      'tools',
      'has 129 entries; at most 128 are allowed',
      [body({ tools: Array.from({ length: 129 }, (_, index) => tool(`f${index}`)) })],
    ],
    ['tools[0]', 'must be an object', [body({ tools: [null] }), body({ tools: ['f'] })]],
    ['tools[0].type', 'is required', [body({ tools: [{ function: { name: 'f' } }] })]],
    [
      'tools[1].type',
      'must be one of "function", "custom"',
      ['web_search', '', 5].map((type) => body({ tools: [tool('f'), { ...tool('g'), type }] })),
    ],
    [
      'tools[1].custom',
      'is required',
      [body({ tools: [tool('f'), { ...tool('g'), type: 'custom' }] })],
    ],
    [
      'tools[0].custom.format.type',
      'must be one of "text", "grammar"',
      [body({ tools: [{ type: 'custom', custom: { name: 'f', format: { type: 'json' } } }] })],
    ],
    [
      'tools[0].custom.format.grammar',
      'is required',
      [body({ tools: [{ type: 'custom', custom: { name: 'f', format: { type: 'grammar' } } }] })],
    ],
    [
      'tools[1].custom.name',
      'is the name of an earlier tool too',
      [body({ tools: [tool('f'), { type: 'custom', custom: { name: 'f' } }] })],
    ],
    ['tools[0].function', 'is required', [body({ tools: [{ type: 'function' }] })]],
    [
      'tools[0].function',
      'must be an object',
      [body({ tools: [{ type: 'function', function: 5 }] })],
    ],
    [
      'tools[0].function.name',
      'is required',
      [body({ tools: [{ type: 'function', function: {} }] })],
    ],
    [
      'tools[0].function.name',
      NAME,
      ['', 5, null, 'x'.repeat(129), 'a\nb'].map((name) => body({ tools: [tool(name)] })),
    ],
    [
      'tools[1].function.name',
      'is the name of an earlier tool too',
      [body({ tools: [tool('f'), tool('f')] })],
    ],
    [
      'tools[0].function.description',
      'must be a string',
      [body({ tools: [tool('f', { description: 5 })] })],
    ],
    [
      'tools[0].function.parameters',
      'must be an object',
      [body({ tools: [tool('f', { parameters: [] })] })],
    ],
    [
      'tool_choice',
      CHOICE,
      [
        ...['any', 5, {}, { type: 'function' }, { type: 'tool', function: { name: 'f' } }],
        ...[{ type: 'custom', function: { name: 'f' } }, allowed('none', tool('f'))],
        ...[allowed('auto'), allowed('auto', {}), { type: 'allowed_tools' }],
      ].map((choice) => body({ tools: [tool('f')], tool_choice: choice })),
    ],
    [
      'tool_choice',
      'allows a tool that is not in tools',
      [body({ tools: [tool('f')], tool_choice: allowed('auto', tool('f'), tool('g')) })],
    ],
    ['tool_choice', 'needs tools to choose from', [body({ tool_choice: 'required' })]],
    [
      'tool_choice',
      'names a function that is not in tools',
      [body({ tools: [tool('f')], tool_choice: tool('g') }), body({ tool_choice: tool('g') })],
    ],
    [
      'reasoning_effort',
      'must be one of "none", "minimal", "low", "medium", "high", "xhigh", "max"',
      ['ultra', '', 5].map((effort) => body({ reasoning_effort: effort })),
    ],
    ['thinking', 'must be an object', [body({ thinking: 'enabled' })]],
    ['thinking.type', 'is required', [body({ thinking: {} })]],
    [
      'thinking.type',
      'must be one of "enabled", "disabled", "adaptive"',
      ['on', 'between_tools'].map((type) => body({ thinking: { type } })),
    ],
    ['user', 'must be a string', [body({ user: 5 }), body({ user: {} })]],
    ['user', 'must have at most 256 characters', [body({ user: 'x'.repeat(257) })]],
    ['user', 'must not contain the NUL character', [body({ user: 'a\0b' })]],
    ['n', 'must be 1', [0, 2, -1, 1.5, '1', 2 ** 64].map((n) => body({ n }))],
  ];

  test.each(ROWS)('names %s, which %s', (param, reason, bodies) => {
    for (const each of bodies) {
      expect(refusal(each)).toEqual({ param, message: `${param}: ${reason}` });
    }
  });
});

describe('a refused message', () => {
  const ROLES = 'must be one of "system", "developer", "user", "assistant", "tool"';
  const PARTS = 'must be one of "text", "image_url"';
  const NULL = 'must not be null, unless an assistant message has tool_calls';
  const URL_WORDS = 'must be an http, https or data URL';
  const NON_EMPTY = 'must be a string that is not empty';
  const user = (content: unknown): object => ({ role: 'user', content });
  const assistant = (more: object): object => ({ role: 'assistant', content: '', ...more });
  const result = (more: object): object => ({ role: 'tool', content: '', ...more });

  const ROWS: readonly (readonly [string, string, readonly unknown[]])[] = [
    ['', 'must be an object', [null, 1, 'x', []]],
    ['.role', 'is required', [{}, { content: 'x' }]],
    ['.role', ROLES, ['function', 'System', 'user ', '', 5, null].map((role) => ({ role }))],
    ['.content', 'is required', ['system', 'user', 'assistant'].map((role) => ({ role }))],
    ['.content', NULL, ['system', 'user', 'assistant'].map((role) => ({ role, content: null }))],
    ['.content', NULL, [result({ content: null, tool_call_id: 'x' })]],
    ['.content', NULL, [assistant({ content: null, tool_calls: [] })]],
    ['.content', 'must be a string or an array of parts', [5, {}, true].map(user)],
    ['.content', 'must have at least 1 entry', [user([]), assistant({ content: [] })]],
    [
      '.content',
      'must have at most 1000000 characters of text',
      [
        user('x'.repeat(1_000_001)),
        user([text('😀'.repeat(999_999)), text('xy')]),
        assistant({ content: 'x'.repeat(1_000_001) }),
      ],
    ],
    ['.content[1]', 'must be an object', [null, 'x', []].map((part) => user([text('x'), part]))],
    ['.content[0].type', 'is required', [user([{ text: 'x' }])]],
    ['.content[0].type', PARTS, ['input_audio', 'file', 5].map((type) => user([{ type }]))],
    ['.content[0].type', 'must be "text"', [{ role: 'system', content: [image(PNG)] }]],
    [
      '.content[0].type',
      'must be one of "text", "refusal"',
      [assistant({ content: [image(PNG)] })],
    ],
    ['.content[0].text', 'is required', [user([{ type: 'text' }])]],
    ['.content[0].text', 'must be a string', [5, null].map((value) => user([text(value)]))],
    ['.content[0].image_url', 'is required', [user([{ type: 'image_url' }])]],
    ['.content[0].image_url', 'must be an object', [user([{ type: 'image_url', image_url: 5 }])]],
    [
      '.content[0].image_url',
      URL_WORDS,
      [user([{ type: 'image_url', image_url: 'file:///etc/passwd' }])],
    ],
    ['.content[0].image_url.url', 'is required', [user([{ type: 'image_url', image_url: {} }])]],
    [
      '.content[0].image_url.url',
      URL_WORDS,
      ['', 'file:///etc/passwd', 'ftp://a.b', 'javascript:0', '//a.b', 'https://', ' http://a'].map(
        (url) => user([image(url)]),
      ),
    ],
    ['.tool_call_id', 'is required', [result({})]],
    ['.tool_call_id', NON_EMPTY, ['', 5, null].map((id) => result({ tool_call_id: id }))],
    ['.tool_calls', 'is allowed on assistant messages only', [{ ...HELLO, tool_calls: [CALL] }]],
    ['.tool_calls', 'must be an array', [assistant({ tool_calls: {} })]],
    ['.tool_calls[0]', 'must be an object', [assistant({ tool_calls: ['x'] })]],
    ['.tool_calls[0].id', 'is required', [assistant({ tool_calls: [{ ...CALL, id: undefined }] })]],
    ['.tool_calls[0].id', NON_EMPTY, [assistant({ tool_calls: [{ ...CALL, id: '' }] })]],
    [
      '.tool_calls[0].type',
      'must be one of "function", "custom"',
      ['tool', '', 5].map((type) => assistant({ tool_calls: [{ ...CALL, type }] })),
    ],
    [
      '.tool_calls[0].custom',
      'is required',
      [assistant({ tool_calls: [{ ...CALL, type: 'custom' }] })],
    ],
    ['.refusal', 'must be a string', [assistant({ refusal: 5 })]],
    [
      '.tool_calls[0].function.arguments',
      'must be a string',
      [assistant({ tool_calls: [{ ...CALL, function: { name: 'f', arguments: {} } }] })],
    ],
    ['.reasoning_content', 'must be a string', [assistant({ reasoning_content: 5 })]],
  ];

  test.each(ROWS)('names messages[1]%s, which %s', (param, reason, messages) => {
    for (const message of messages) {
      expect(refusal(withMessages(HELLO, message))).toEqual({
        param: `messages[1]${param}`,
        message: `messages[1]${param}: ${reason}`,
      });
    }
  });
});

describe('any chat body', () => {
  test('is refused at its first wrong field, in the order in which it was written', () => {
    const wrong = new Map<string, { value: unknown; param: string }>([
      ['n', { value: 2, param: 'n' }],
      ['temperature', { value: 9, param: 'temperature' }],
      ['messages', { value: [HELLO, {}], param: 'messages[1].role' }],
      ['stop', { value: ['x', ''], param: 'stop[1]' }],
      ['tools', { value: [{}], param: 'tools[0].type' }],
    ]);
    fc.assert(
      fc.property(fc.shuffledSubarray([...wrong], { minLength: 1 }), (order) => {
        const fields = Object.fromEntries(order.map(([field, { value }]) => [field, value]));
        const value = { ...fields, model: 'x', messages: fields['messages'] ?? [HELLO] };
        expect(refusal(value).param).toBe(order[0]?.[1].param);
      }),
    );
  });

  test('means the same with unknown fields beside the known ones', () => {
    const known = body({
      messages: [HELLO, { role: 'assistant', content: null, tool_calls: [CALL] }],
      tools: [tool('f')],
      temperature: 0,
      max_tokens: 5,
    });
    const taken = new Set([
      'model',
      'messages',
      'stop',
      'stream',
      'tools',
      'thinking',
      'user',
      'n',
    ]);
    const name = fc.oneof(
      fc.constantFrom('metadata', 'store', 'seed', 'logprobs', '__proto__', 'constructor'),
      fc.string().filter((field) => !taken.has(field)),
    );
    fc.assert(
      fc.property(fc.array(fc.tuple(name, fc.jsonValue())), (extra) => {
        const members = extra.map(
          ([key, value]) => `${JSON.stringify(key)}:${JSON.stringify(value)}`,
        );
        const text = `{${[...members, JSON.stringify(known).slice(1, -1)].join(',')}}`;
        expect(parse(JSON.parse(text))).toEqual(parse(known));
      }),
    );
    expect(Object.hasOwn(Object.prototype, 'polluted')).toBe(false);
  });

  test('of any shape is parsed or refused, and a refusal never repeats it', () => {
    const canary = 'c4n4ry';
    const value = fc.oneof(fc.constant(canary), fc.jsonValue(), fc.constant([canary]));
    const field = fc.constantFrom('role', 'content', 'type', 'text', 'image_url', 'tool_calls');
    const message = fc.dictionary(field, value);
    const top = fc.constantFrom('model', 'stop', 'tools', 'tool_choice', 'n', 'user', 'thinking');
    fc.assert(
      fc.property(fc.dictionary(top, value), fc.array(message), (fields, messages) => {
        const error = thrownBy(GatewayError, () => parse({ model: 'x', messages, ...fields }));
        expect(`${error?.message} ${error?.param}`).not.toInclude(canary);
      }),
    );
  });
});

function zeros(value: 0): object {
  return { temperature: value, frequency_penalty: value, presence_penalty: value };
}

function text(value: unknown): object {
  return { type: 'text', text: value };
}

function image(url: string): object {
  return { type: 'image_url', image_url: { url, detail: 'low' } };
}
