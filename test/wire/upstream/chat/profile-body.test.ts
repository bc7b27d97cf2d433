// How each profile field changes the body of a request: one row a value. The bytes of the default
// are tested elsewhere; these rows show the differences.

import { describe, expect, test } from 'bun:test';
import type { GenerationRequest } from '../../../../src/core/generation.ts';
import type { ChatProfile } from '../../../../src/core/profile.ts';
import type { UpstreamCall } from '../../../../src/wire/format.ts';
import { bodyFor } from './request-support.ts';

describe('members of the body', () => {
  const TOOL = { name: 'f', parameters: { type: 'object' } };
  const SCHEMA = { name: 'a', schema: { type: 'object' }, strict: true };
  type Row = [
    name: string,
    profile: Partial<ChatProfile>,
    request: Partial<GenerationRequest>,
    written: Readonly<Record<string, unknown>>,
    call?: Partial<UpstreamCall>,
  ];
  const sampling = { temperature: 0, topP: 0.5, frequencyPenalty: 0, presencePenalty: 1 };
  const forced = { tools: [TOOL], toolChoice: { kind: 'required' } } as const;
  const named = { tools: [TOOL], toolChoice: { kind: 'tool', name: 'f' } } as const;
  const namedWritten = { type: 'function', function: { name: 'f' } };
  const rows: Row[] = [
    ['maxTokensField max_tokens', { maxTokensField: 'max_tokens' }, {}, { max_tokens: 100 }],
    [
      'maxTokensField max_completion_tokens',
      { maxTokensField: 'max_completion_tokens' },
      {},
      { max_completion_tokens: 100, max_tokens: undefined },
    ],
    [
      'sampling send',
      { sampling: 'send' },
      sampling,
      { temperature: 0, top_p: 0.5, frequency_penalty: 0, presence_penalty: 1 },
    ],
    [
      'sampling omit',
      { sampling: 'omit' },
      sampling,
      {
        temperature: undefined,
        top_p: undefined,
        frequency_penalty: undefined,
        presence_penalty: undefined,
      },
    ],
    ['verbosity send', { verbosity: 'send' }, { verbosity: 'low' }, { verbosity: 'low' }],
    ['verbosity omit', {}, { verbosity: 'low' }, { verbosity: undefined }],
    [
      'verbosity of a model that does not reason',
      { verbosity: 'send' },
      { verbosity: 'low' },
      { verbosity: undefined },
      { reasons: false },
    ],
    ['stopMax', { stopMax: 2 }, { stop: ['a', 'b', 'c'] }, { stop: ['a', 'b'] }],
    ['blankStops send', { blankStops: 'send' }, { stop: ['\n', 'a'] }, { stop: ['\n', 'a'] }],
    ['blankStops hold', { blankStops: 'hold' }, { stop: ['\n', 'a'] }, { stop: ['a'] }],
    ['no stop that may be sent', { blankStops: 'hold' }, { stop: ['\n'] }, { stop: undefined }],
    ['forcedChoice send', { forcedChoice: 'send' }, forced, { tool_choice: 'required' }],
    ['forcedChoice send, by name', { forcedChoice: 'send' }, named, { tool_choice: namedWritten }],
    ['forcedChoice auto', { forcedChoice: 'auto' }, forced, { tool_choice: 'auto' }],
    ['forcedChoice auto, by name', { forcedChoice: 'auto' }, named, { tool_choice: 'auto' }],
    [
      'forcedChoice auto, and none is none',
      { forcedChoice: 'auto' },
      { tools: [TOOL], toolChoice: { kind: 'none' } },
      { tool_choice: 'none' },
    ],
    [
      'forcedChoice auto, and nothing said',
      { forcedChoice: 'auto' },
      { tools: [TOOL] },
      { tool_choice: undefined },
    ],
    [
      'forcedChoice auto_when_thinking, by default',
      { forcedChoice: 'auto_when_thinking' },
      forced,
      { tool_choice: 'auto' },
    ],
    [
      'forcedChoice auto_when_thinking, thinking',
      { forcedChoice: 'auto_when_thinking' },
      { ...named, reasoning: 'high' },
      { tool_choice: 'auto' },
    ],
    [
      'forcedChoice auto_when_thinking, asked not to think',
      { forcedChoice: 'auto_when_thinking' },
      { ...forced, reasoning: 'off' },
      { tool_choice: 'required' },
    ],
    [
      'forcedChoice auto_when_thinking, a model that cannot',
      { forcedChoice: 'auto_when_thinking' },
      named,
      { tool_choice: namedWritten },
      { reasons: false },
    ],
    [
      'parallelToolCalls send',
      { parallelToolCalls: 'send' },
      { tools: [TOOL], parallelToolCalls: false },
      { parallel_tool_calls: false },
    ],
    [
      'parallelToolCalls omit',
      { parallelToolCalls: 'omit' },
      { tools: [TOOL], parallelToolCalls: false },
      { parallel_tool_calls: undefined },
    ],
    [
      'jsonMode send',
      { jsonMode: 'send' },
      { json: true },
      { response_format: { type: 'json_object' } },
    ],
    ['jsonMode omit', { jsonMode: 'omit' }, { json: true }, { response_format: undefined }],
    [
      'jsonSchema prompt',
      { jsonSchema: 'prompt' },
      { json: true, schema: SCHEMA },
      { response_format: { type: 'json_object' } },
    ],
    [
      'jsonSchema prompt without JSON mode',
      { jsonSchema: 'prompt', jsonMode: 'omit' },
      { json: true, schema: SCHEMA },
      { response_format: undefined },
    ],
    ...(['send', 'both'] as const).map(
      (jsonSchema): Row => [
        `jsonSchema ${jsonSchema}`,
        { jsonSchema, jsonMode: 'omit' },
        { json: true, schema: SCHEMA },
        { response_format: { type: 'json_schema', json_schema: SCHEMA } },
      ],
    ),
    [
      'streamOptions send',
      { streamOptions: 'send' },
      {},
      { stream: true, stream_options: { include_usage: true } },
      { stream: true },
    ],
    [
      'streamOptions omit',
      { streamOptions: 'omit' },
      {},
      { stream: true, stream_options: undefined },
      { stream: true },
    ],
  ];
  for (const [name, profile, request, written, call] of rows) {
    test(name, () => {
      const body = bodyFor(profile, request, call);
      const members = Object.keys(written).map((member) => [member, Reflect.get(body, member)]);
      expect(Object.fromEntries(members)).toEqual(written);
    });
  }
});

describe('extraBody', () => {
  test('its members come last', () => {
    const extraBody = { provider: { sort: 'price' }, top_k: 5 };
    expect(JSON.stringify(bodyFor({ extraBody }))).toBe(
      '{"model":"up-1","messages":[{"role":"user","content":"Hi"}],"max_tokens":100,' +
        '"provider":{"sort":"price"},"top_k":5}',
    );
  });

  test('what the request says itself wins; objects are merged', () => {
    const extraBody = {
      temperature: 0.6,
      top_p: 0.9,
      chat_template_kwargs: { enable_thinking: false, preserve_thinking: true },
    };
    const request = { temperature: 0, reasoning: 'on' } as const;
    expect(bodyFor({ extraBody, reasoningSwitch: 'template' }, request)).toMatchObject({
      temperature: 0,
      top_p: 0.9,
      chat_template_kwargs: { enable_thinking: true, preserve_thinking: true },
    });
  });

  test('what an answer means and costs is not for it to say', () => {
    const extraBody = {
      model: 'x',
      messages: [],
      max_tokens: 9,
      max_completion_tokens: 9,
      n: 2,
      tools: [],
      tool_choice: 'none',
      stream: true,
      stream_options: {},
    };
    expect(bodyFor({ extraBody })).toEqual(bodyFor({}));
  });
});
