import { describe, expect, test } from 'bun:test';
import type { GenerationRequest, Turn } from '../../../../src/core/generation.ts';
import { DEFAULT_PROFILE } from '../../../../src/core/profile.ts';
import type { UpstreamCall } from '../../../../src/wire/format.ts';
import { chatDialect } from '../../../../src/wire/upstream/chat/dialect.ts';
import { bodyFor, CALL, messagesFor, REQUEST } from './request-support.ts';

const dialect = chatDialect(DEFAULT_PROFILE.chat);
const MESSAGES = [{ role: 'user', content: 'Hi' }];
const TOOL = { name: 'f', description: 'Does f.', parameters: { type: 'object', properties: {} } };
const WRITTEN_TOOL = { type: 'function', function: TOOL };

const write = (request: Partial<GenerationRequest>, call: Partial<UpstreamCall> = {}) =>
  bodyFor({}, request, call);
const messages = (turns: readonly Turn[], call: Partial<UpstreamCall> = {}) =>
  messagesFor({}, turns, call);

describe('upstream requests', () => {
  test('the least one, to the byte', () => {
    expect(dialect.request(REQUEST, CALL)).toBe(
      '{"model":"up-1","messages":[{"role":"user","content":"Hi"}],"max_tokens":100}',
    );
  });

  test('everything, to the byte: prompt caches compare prefixes', () => {
    const request: GenerationRequest = {
      ...REQUEST,
      system: 'Be kind. Answer in JSON.',
      maxOutputTokens: { tokens: 50, field: 'max_tokens' },
      temperature: 0,
      topP: 1,
      frequencyPenalty: 0,
      presencePenalty: -1,
      stop: ['END'],
      tools: [TOOL],
      toolChoice: { kind: 'tool', name: 'f' },
      parallelToolCalls: false,
      reasoning: 'high',
      json: true,
      stream: true,
      endUser: 'user-7',
    };
    expect(dialect.request(request, { ...CALL, stream: true })).toBe(
      '{"model":"up-1","messages":[{"role":"system","content":"Be kind. Answer in JSON."},{"role":"user","content":"Hi"}],' +
        '"max_tokens":100,"temperature":0,"top_p":1,"frequency_penalty":0,"presence_penalty":-1,"stop":["END"],' +
        '"tools":[{"type":"function","function":{"name":"f","description":"Does f.","parameters":{"type":"object","properties":{}}}}],' +
        '"tool_choice":{"type":"function","function":{"name":"f"}},"parallel_tool_calls":false,' +
        '"response_format":{"type":"json_object"},"thinking":{"type":"enabled"},"reasoning_effort":"high",' +
        '"stream":true,"stream_options":{"include_usage":true}}',
    );
  });

  test('whether the upstream streams is not what the client asked', () => {
    expect(write({ stream: true }, { stream: false })).not.toHaveProperty('stream');
    expect(write({ stream: true }, { stream: false })).not.toHaveProperty('stream_options');
    expect(write({ stream: false, includeUsage: false }, { stream: true })).toMatchObject({
      stream: true,
      stream_options: { include_usage: true },
    });
  });

  test('without tools there is no choice of them', () => {
    const written = write({ toolChoice: { kind: 'required' }, parallelToolCalls: false });
    expect(written).toEqual({ model: 'up-1', messages: MESSAGES, max_tokens: 100 });
  });

  test('tool choices', () => {
    for (const kind of ['auto', 'none', 'required'] as const) {
      expect(write({ tools: [TOOL], toolChoice: { kind } })).toMatchObject({
        tools: [WRITTEN_TOOL],
        tool_choice: kind,
      });
    }
    expect(write({ tools: [TOOL] })).not.toHaveProperty('tool_choice');
  });

  test('reasoning, and none of it to a model that cannot', () => {
    const enabled = { type: 'enabled' };
    const common = { model: 'up-1', messages: MESSAGES, max_tokens: 100 };
    const written = {
      off: { thinking: { type: 'disabled' } },
      on: { thinking: enabled },
      low: { thinking: enabled, reasoning_effort: 'low' },
      high: { thinking: enabled, reasoning_effort: 'high' },
      max: { thinking: enabled, reasoning_effort: 'max' },
    };
    for (const reasoning of ['off', 'on', 'low', 'high', 'max'] as const) {
      expect(write({ reasoning })).toEqual({ ...common, ...written[reasoning] });
      expect(write({ reasoning }, { reasons: false })).toEqual(common);
    }
    expect(write({})).toEqual(common);
  });
});

describe('turns', () => {
  const image = { kind: 'image', url: 'data:image/png;base64,AA==' } as const;
  const call = { id: 'call_1', name: 'f', arguments: '{"2":1, "1":12345678901234567890}' };

  test('user text is one string, and an array only with images', () => {
    const parts = [
      { kind: 'text', text: 'a' },
      { kind: 'text', text: '' },
      { kind: 'text', text: 'b' },
    ] as const;
    expect(messages([{ role: 'user', parts }])).toEqual([{ role: 'user', content: 'a\nb' }]);
    expect(messages([{ role: 'user', parts: [] }])).toEqual([{ role: 'user', content: '' }]);
    expect(messages([{ role: 'user', parts: [...parts, image] }])).toEqual([
      {
        role: 'user',
        content: [
          { type: 'text', text: 'a' },
          { type: 'text', text: 'b' },
          { type: 'image_url', image_url: { url: image.url } },
        ],
      },
    ]);
  });

  test('case 128: reasoning, text and calls are one message; an object of arguments stays as it was written', () => {
    const turn: Turn = { role: 'assistant', reasoning: 'hm', text: 'So:', toolCalls: [call] };
    const { id, ...rest } = call;
    const calls = [{ id, type: 'function', function: rest }];
    const common = { role: 'assistant', content: 'So:', tool_calls: calls };
    expect(messages([turn])).toEqual([{ ...common, reasoning_content: 'hm' }]);
    expect(messages([turn], { reasons: false })).toEqual([common]);
  });

  test('cases 130 and 131: calls alone have null content; no arguments are an empty object', () => {
    const empty = { ...call, arguments: '' };
    const turn: Turn = { role: 'assistant', reasoning: '', text: '', toolCalls: [empty] };
    const calls = [{ id: 'call_1', type: 'function', function: { name: 'f', arguments: '{}' } }];
    expect(messages([turn])).toEqual([{ role: 'assistant', content: null, tool_calls: calls }]);
  });

  test.each([
    ['{"a": "b', '{}'],
    ['[1]', '{"value":[1]}'],
    ['"{\\"a\\":1}"', '{"a":1}'],
    ['null', '{}'],
  ])('arguments that are no object, %s, are one for a server that parses them', (text, input) => {
    const toolCalls = [{ ...call, arguments: text }];
    const calls = [{ id: 'call_1', type: 'function', function: { name: 'f', arguments: input } }];
    expect(messages([{ role: 'assistant', reasoning: '', text: '', toolCalls }])).toEqual([
      { role: 'assistant', content: null, tool_calls: calls },
    ]);
  });

  test('an assistant turn without anything keeps a string', () => {
    const turn: Turn = { role: 'assistant', reasoning: '', text: '', toolCalls: [] };
    expect(messages([turn])).toEqual([{ role: 'assistant', content: '' }]);
  });

  test('case 125: a failed tool is marked', () => {
    const turn = { role: 'tool', toolCallId: 'call_1', text: 'no such city' } as const;
    const common = { role: 'tool', tool_call_id: 'call_1' };
    expect(
      messages([
        { ...turn, isError: false },
        { ...turn, isError: true },
      ]),
    ).toEqual([
      { ...common, content: 'no such city' },
      { ...common, content: 'The tool reported an error:\nno such city' },
    ]);
  });
});

test('an upstream without a key is sent no credential', () => {
  expect(dialect.headers('k')).toEqual({
    'content-type': 'application/json',
    authorization: 'Bearer k',
  });
  expect(dialect.headers('')).toEqual({ 'content-type': 'application/json' });
  expect(dialect.path(CALL)).toBe('/chat/completions');
});
