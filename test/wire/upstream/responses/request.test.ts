// The body of a Responses request, apart from the turns.

import { describe, expect, test } from 'bun:test';
import type { GenerationRequest } from '../../../../src/core/generation.ts';
import { DEFAULT_PROFILE } from '../../../../src/core/profile.ts';
import type { ResponsesProfile } from '../../../../src/core/responses-profile.ts';
import { asked, picture, user, write, written } from './support.ts';

const NO_ARGUMENTS = { type: 'object', properties: {} };
const WEATHER = { name: 'get_weather', description: 'The weather.', parameters: NO_ARGUMENTS };
const OTHER = {
  name: 'other',
  parameters: { type: 'object', properties: { a: { type: 'string' } } },
};
const FORCED = { toolChoice: { kind: 'tool', name: 'other' } } as const;
const TOOLS = { tools: [WEATHER, OTHER] };

function member(
  name: string,
  request: Partial<GenerationRequest>,
  profile: Partial<ResponsesProfile> = {},
  call: object = {},
): unknown {
  return written(request, profile, call)[name];
}

test('the whole of a request to OpenAI', () => {
  const request = {
    system: 'Be brief.',
    turns: [user('Hi')],
    tools: [WEATHER],
    toolChoice: { kind: 'auto' },
    parallelToolCalls: false,
    reasoning: 'high',
    verbosity: 'low',
    temperature: 0.5,
    frequencyPenalty: 1,
    stop: ['x'],
  } as const;
  expect(written(request, {}, { stream: true, cacheKey: 'key' })).toEqual({
    model: 'upstream-model',
    instructions: 'Be brief.',
    store: false,
    include: ['reasoning.encrypted_content'],
    max_output_tokens: 4_096,
    reasoning: { effort: 'high', summary: 'auto' },
    prompt_cache_key: 'key',
    tools: [
      {
        type: 'function',
        name: 'get_weather',
        description: 'The weather.',
        parameters: { type: 'object', properties: {} },
        strict: false,
      },
    ],
    tool_choice: 'auto',
    parallel_tool_calls: false,
    text: { verbosity: 'low' },
    stream: true,
    stream_options: { include_obfuscation: false },
    input: [asked('Hi')],
  });
});

test('a server without features of its own gets no member that it may refuse', () => {
  expect(written({}, DEFAULT_PROFILE.responses, { reasons: false, stream: true })).toEqual({
    model: 'upstream-model',
    store: false,
    max_output_tokens: 4_096,
    stream: true,
    input: [asked('Hi')],
  });
});

test('fields of the profile: store, smallest bound, constants', () => {
  expect(member('store', {}, { store: 'omit' })).toBeUndefined();
  expect(member('max_output_tokens', {}, { minOutputTokens: 16 }, { maxOutputTokens: 3 })).toBe(16);
  expect(member('max_output_tokens', {}, { minOutputTokens: 16 }, { maxOutputTokens: 17 })).toBe(
    17,
  );
  const extraBody = { service_tier: 'flex', store: true, input: [], reasoning: { mode: 'x' } };
  expect(written({ reasoning: 'low' }, { extraBody })).toMatchObject({
    service_tier: 'flex',
    store: false,
    input: [asked('Hi')],
    reasoning: { mode: 'x', effort: 'low' },
  });
});

describe('thinking', () => {
  const words = { off: 'none', low: 'low', high: 'high', max: 'xhigh' };
  test.each<[GenerationRequest['reasoning'], Partial<ResponsesProfile>, unknown]>([
    [undefined, {}, { summary: 'auto' }],
    ['on', {}, { effort: 'high', summary: 'auto' }],
    ['low', {}, { effort: 'low', summary: 'auto' }],
    ['max', {}, { effort: 'xhigh', summary: 'auto' }],
    ['off', {}, { effort: 'none' }],
    ['off', { thinkingOff: 'lowest' }, { effort: 'low' }],
    ['off', { effortWords: { ...words, off: '' } }, undefined],
    ['high', { reasoningSummary: 'omit' }, { effort: 'high' }],
    [undefined, { reasoningSummary: 'omit' }, undefined],
    ['high', { reasoningSwitch: 'none' }, undefined],
  ])('%s with %j', (reasoning, profile, sent) => {
    const request = reasoning === undefined ? {} : { reasoning };
    expect(member('reasoning', request, { effortWords: words, ...profile })).toEqual(sent);
    expect(member('reasoning', request, profile, { reasons: false })).toBeUndefined();
  });

  test('no summary for a client that does not see it', () => {
    expect(member('reasoning', { reasoning: 'high', hidesThinking: true })).toEqual({
      effort: 'high',
    });
  });

  test('encrypted items are asked for only where they are given back', () => {
    expect(member('include', {}, { reasoningHistory: 'text' })).toBeUndefined();
    expect(member('include', {}, { reasoningHistory: 'none' })).toBeUndefined();
    expect(member('include', {}, {}, { reasons: false })).toBeUndefined();
  });

  test('sampling beside thinking', () => {
    const temperature = (
      sampling: ResponsesProfile['sampling'],
      request: Partial<GenerationRequest> = {},
      profile: Partial<ResponsesProfile> = {},
    ): unknown => member('temperature', { temperature: 0.5, ...request }, { sampling, ...profile });
    expect(temperature('send')).toBe(0.5);
    expect(temperature('omit', { reasoning: 'off' })).toBeUndefined();
    expect(temperature('omit_when_thinking')).toBeUndefined();
    expect(temperature('omit_when_thinking', { reasoning: 'off' })).toBe(0.5);
    // It thinks all the same.
    expect(
      temperature('omit_when_thinking', { reasoning: 'off' }, { thinkingOff: 'lowest' }),
    ).toBeUndefined();
  });
});

describe('tools', () => {
  test('choices: by name and by word, and none without tools', () => {
    expect(member('tool_choice', { ...TOOLS, ...FORCED })).toEqual({
      type: 'function',
      name: 'other',
    });
    expect(member('tool_choice', { ...TOOLS, toolChoice: { kind: 'required' } })).toBe('required');
    expect(member('tool_choice', { ...TOOLS, toolChoice: { kind: 'none' } })).toBe('none');
    expect(member('tool_choice', TOOLS)).toBeUndefined();
    expect(member('tool_choice', { toolChoice: { kind: 'required' } })).toBeUndefined();
    expect(member('tools', {})).toBeUndefined();
  });

  test('forced choices that the server does not take', () => {
    const forced = { ...TOOLS, ...FORCED, system: 'Be brief.' };
    expect(written(forced, { forcedChoice: 'auto' })).toMatchObject({
      tool_choice: 'auto',
      instructions: 'Be brief.',
    });
    const instructed = written(forced, { forcedChoice: 'instruct' });
    expect(instructed['tool_choice']).toBe('auto');
    expect(instructed['instructions']).toMatch(/^Be brief\.\n\n.*"other"/);
    expect(member('instructions', TOOLS, { forcedChoice: 'instruct' })).toBeUndefined();
    expect(
      written({ ...forced, reasoning: 'high' }, { forcedChoice: 'without_thinking' }),
    ).toMatchObject({ tool_choice: { name: 'other' }, reasoning: { effort: 'none' } });
  });

  test('the hint to make one call at a time', () => {
    const one = { ...TOOLS, parallelToolCalls: false };
    expect(member('parallel_tool_calls', one)).toBe(false);
    expect(member('parallel_tool_calls', one, { parallelToolCalls: 'omit' })).toBeUndefined();
  });
});

describe('the form of the answer', () => {
  const schema = { name: 'a', schema: { type: 'object' }, strict: true } as const;
  const input = (request: Partial<GenerationRequest>, profile: Partial<ResponsesProfile> = {}) =>
    JSON.stringify(member('input', request, profile));

  test('JSON needs the word in the first turn; the system prompt does not count', () => {
    const format = { format: { type: 'json_object' } };
    const spoken = { json: true, turns: [user('Give me JSON.')] };
    expect(member('text', spoken)).toEqual(format);
    expect(member('input', spoken)).toEqual([asked('Give me JSON.')]);
    const silent = { json: true, system: 'JSON, please.' };
    expect(member('text', silent)).toEqual(format);
    expect(input(silent)).toContain('"role":"developer"');
    expect(input(silent)).toContain('JSON object');
    expect(input(silent, { systemInMiddle: 'fold' })).not.toContain('developer');
    expect(input(silent, { systemInMiddle: 'fold' })).toContain('JSON object');
  });

  test('a schema goes where the server has it', () => {
    const request = { json: true, schema };
    const format = { format: { type: 'json_schema', ...schema } };
    expect(member('text', request)).toEqual(format);
    expect(input(request)).not.toContain('schema');
    expect(member('text', request, { jsonSchema: 'both' })).toEqual(format);
    expect(input(request, { jsonSchema: 'both' })).toContain('JSON schema');
    expect(member('text', request, { jsonSchema: 'prompt' })).toEqual({
      format: { type: 'json_object' },
    });
    expect(input(request, { jsonSchema: 'prompt' })).toContain('JSON schema');
  });

  test('verbosity is for models that reason, where the server has it', () => {
    expect(member('text', { verbosity: 'low' })).toEqual({ verbosity: 'low' });
    expect(member('text', { verbosity: 'low' }, { verbosity: 'omit' })).toBeUndefined();
    expect(member('text', { verbosity: 'low' }, {}, { reasons: false })).toBeUndefined();
  });
});

test('an address of an image is refused where the server takes data alone', () => {
  const turns = [picture('https://example.com/a.png')];
  expect(write({ turns }, { imageUrls: 'data' })).toMatchObject({ class: 'unsupported' });
  expect(write({ turns: [picture('data:image/png;base64,AA')] }, { imageUrls: 'data' })).toContain(
    '"image_url":"data:image/png;base64,AA"',
  );
  expect(write({ turns })).toContain('"image_url":"https://example.com/a.png"');
});
