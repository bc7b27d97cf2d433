// What a Messages upstream receives: the fields of a request, and each field of a profile.

import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import type { GenerationRequest, Tool } from '../../../../src/core/generation.ts';
import type { MessagesProfile } from '../../../../src/core/profile.ts';
import type { UpstreamCall } from '../../../../src/wire/format.ts';
import { assistant, calling, result, system, user, write, written } from './support.ts';

const HI = [{ role: 'user', content: [{ type: 'text', text: 'Hi' }] }];
const PLAIN = { model: 'upstream-model', max_tokens: 4_096, messages: HI };

const TOOL: Tool = { name: 'f', description: 'F.', parameters: { type: 'object' } };
const WRITTEN_TOOL = { name: 'f', description: 'F.', input_schema: { type: 'object' } };
const SENTENCE = 'Answer with one JSON object and nothing else: no text around it, no code fence.';

const MATCHING =
  'Answer with JSON and nothing else: no text around it, no code fence. It must match this JSON schema:';
const SCHEMA = { type: 'object', properties: {}, additionalProperties: false };

type Fields = Readonly<Record<string, unknown>>;
type Row = [name: string, request: Partial<GenerationRequest>, members: Fields];

/** What stands in the request beside model, bound and messages. */
const FIELDS: Row[] = [
  ['nothing else', {}, {}],
  ['a system prompt', { system: 'Be brief.' }, { system: 'Be brief.' }],
  ['a system prompt of white space', { system: ' \n' }, {}],
  ['JSON mode', { json: true }, { system: SENTENCE }],
  ['JSON mode and a prompt', { json: true, system: 'A.' }, { system: `A.\n\n${SENTENCE}` }],
  [
    'a schema',
    { json: true, schema: { name: 'a', schema: SCHEMA } },
    { system: `${MATCHING}\n${JSON.stringify(SCHEMA)}` },
  ],
  ['temperature 0', { temperature: 0 }, { temperature: 0 }],
  ['case 164: temperature above 1', { temperature: 1.7 }, { temperature: 1 }],
  ['top_p', { topP: 0.5 }, { top_p: 0.5 }],
  ['temperature and top_p', { temperature: 0.5, topP: 0.5 }, { temperature: 0.5 }],
  ['penalties', { frequencyPenalty: 1, presencePenalty: -1 }, {}],
  ['the end user', { endUser: 'end-user' }, {}],
  ['stop sequences', { stop: ['a', ' ', 'b', 'a'] }, { stop_sequences: ['a', 'b'] }],
  ['stop sequences of white space alone', { stop: ['\n'] }, {}],
  ['tools', { tools: [TOOL] }, { tools: [WRITTEN_TOOL] }],
  ['a choice without tools', { toolChoice: { kind: 'required' }, parallelToolCalls: false }, {}],
  ...(
    [
      ['auto', { type: 'auto' }],
      ['none', { type: 'none' }],
      ['required', { type: 'any' }],
    ] as const
  ).map(
    ([kind, tool_choice]): Row => [
      `the choice ${kind}`,
      { tools: [TOOL], toolChoice: { kind } },
      { tools: [WRITTEN_TOOL], tool_choice },
    ],
  ),
  [
    'the choice of a tool',
    { tools: [TOOL], toolChoice: { kind: 'tool', name: 'f' } },
    { tools: [WRITTEN_TOOL], tool_choice: { type: 'tool', name: 'f' } },
  ],
  ['calls in parallel', { tools: [TOOL], parallelToolCalls: true }, { tools: [WRITTEN_TOOL] }],
  [
    'one call at a time',
    { tools: [TOOL], parallelToolCalls: false },
    {
      tools: [WRITTEN_TOOL],
      tool_choice: { type: 'auto', disable_parallel_tool_use: true },
    },
  ],
  [
    'one call at a time, and a choice',
    { tools: [TOOL], toolChoice: { kind: 'tool', name: 'f' }, parallelToolCalls: false },
    {
      tools: [WRITTEN_TOOL],
      tool_choice: { type: 'tool', name: 'f', disable_parallel_tool_use: true },
    },
  ],
  [
    'one call at a time, and none at all',
    { tools: [TOOL], toolChoice: { kind: 'none' }, parallelToolCalls: false },
    { tools: [WRITTEN_TOOL], tool_choice: { type: 'none' } },
  ],
];

describe('a request with', () => {
  test.each(FIELDS)('%s', (_name, request, members) => {
    expect(written(request)).toEqual({ ...PLAIN, ...members });
  });

  test('a tool of a type is sent as declared to upstreams that know it', () => {
    const typed = { type: 'bash_20250124', name: 'bash' };
    const tools = [TOOL, { ...TOOL, name: 'bash', typed }];
    const asFunction = { ...WRITTEN_TOOL, name: 'bash' };
    expect(written({ tools }, { typedTools: 'send' })['tools']).toEqual([WRITTEN_TOOL, typed]);
    expect(written({ tools })['tools']).toEqual([WRITTEN_TOOL, asFunction]);
    const marked = written({ tools }, { typedTools: 'send', cacheMarks: 'always' })['tools'];
    expect(marked).toEqual([WRITTEN_TOOL, { ...typed, cache_control: { type: 'ephemeral' } }]);
  });

  test('calls in its history and no tools names those that were called, for no further use', () => {
    const turns = [
      user('Hi'),
      calling(['a', 'b']),
      result('a', '1'),
      result('b', '2'),
      assistant('', { toolCalls: [{ id: 'c', name: 'g', arguments: '{}' }] }),
      result('c', '3'),
    ];
    const { tools, tool_choice } = written({ turns });
    expect({ tools, tool_choice }).toEqual({
      tools: [
        { name: 'f', input_schema: { type: 'object', properties: {} } },
        { name: 'g', input_schema: { type: 'object', properties: {} } },
      ],
      tool_choice: { type: 'none' },
    });
  });
});

test('the stream flag and the bound are those of the call', () => {
  const maxOutputTokens = { tokens: 9, field: 'max_tokens' } as const;
  expect(written({ stream: false, maxOutputTokens }, {}, { stream: true })).toEqual({
    ...PLAIN,
    stream: true,
  });
});

type Thinks = { reasoning: NonNullable<GenerationRequest['reasoning']> };
type Call = Partial<UpstreamCall>;
type ProfileRow = [
  name: string,
  profile: Partial<MessagesProfile>,
  request: Partial<GenerationRequest>,
  call: Call,
  members: Fields,
];

const ON: Thinks = { reasoning: 'on' };
const budget = (budget_tokens: number) => ({ thinking: { type: 'enabled', budget_tokens } });
const off = { thinking: { type: 'disabled' } };
const forced: Partial<GenerationRequest> = { tools: [TOOL], toolChoice: { kind: 'required' } };
const any = { tools: [WRITTEN_TOOL], tool_choice: { type: 'any' } };
const auto = { tools: [WRITTEN_TOOL], tool_choice: { type: 'auto' } };
const hot: Partial<GenerationRequest> = { temperature: 1.5, topP: 0.5 };
const LARGE: Call = { maxOutputTokens: 100_000 };

const PROFILES: ProfileRow[] = [
  ['stopMax', { stopMax: 2 }, { stop: ['a', 'b', 'c'] }, {}, { stop_sequences: ['a', 'b'] }],
  ['stopMax 0', { stopMax: 0 }, { stop: ['a'] }, {}, {}],
  ['blankStops send', { blankStops: 'send' }, { stop: [' '] }, {}, { stop_sequences: [' '] }],
  [
    'forcedChoice send',
    { forcedChoice: 'send' },
    { ...forced, ...ON },
    LARGE,
    { ...any, ...budget(16_384) },
  ],
  ['forcedChoice auto', { forcedChoice: 'auto' }, forced, {}, auto],
  [
    'forcedChoice auto of a tool',
    { forcedChoice: 'auto' },
    { tools: [TOOL], toolChoice: { kind: 'tool', name: 'f' } },
    {},
    auto,
  ],
  ['forcedChoice auto_when_thinking, which it does not', {}, forced, {}, any],
  [
    'forcedChoice auto_when_thinking, which it does',
    {},
    { ...forced, ...ON },
    LARGE,
    { ...auto, ...budget(16_384) },
  ],
  [
    'forcedChoice without_thinking',
    { forcedChoice: 'without_thinking' },
    { ...forced, ...ON },
    LARGE,
    { ...any, ...off },
  ],
  [
    'forcedChoice without_thinking, of a request that asks for no thinking',
    { forcedChoice: 'without_thinking' },
    forced,
    {},
    any,
  ],
  [
    'forcedChoice without_thinking, of a server that thinks unasked',
    { forcedChoice: 'without_thinking', thinkingSwitch: 'type' },
    forced,
    {},
    { ...any, ...off },
  ],
  [
    'forcedChoice disable_thinking, of a request that is silent about thinking',
    { forcedChoice: 'disable_thinking', thinkingSwitch: 'adaptive' },
    forced,
    {},
    { ...any, ...off },
  ],
  [
    'forcedChoice without_thinking, of a server without a switch',
    { forcedChoice: 'without_thinking', thinkingSwitch: 'none' },
    { ...forced, ...ON },
    {},
    any,
  ],
  [
    'parallelToolCalls omit',
    { parallelToolCalls: 'omit' },
    { tools: [TOOL], parallelToolCalls: false },
    {},
    { tools: [WRITTEN_TOOL] },
  ],
  ['sampling send', { sampling: 'send' }, hot, {}, { temperature: 1, top_p: 0.5 }],
  ['sampling one', { sampling: 'one' }, hot, {}, { temperature: 1 }],
  ['sampling omit', { sampling: 'omit' }, hot, {}, {}],
  [
    'sampling send while thinking',
    { sampling: 'send' },
    { ...hot, ...ON },
    LARGE,
    { top_p: 0.5, ...budget(16_384) },
  ],
  ['sampling one while thinking', {}, { ...hot, ...ON }, LARGE, budget(16_384)],
  [
    'top_p that is allowed while thinking',
    {},
    { topP: 0.95, ...ON },
    LARGE,
    { top_p: 0.95, ...budget(16_384) },
  ],
  [
    'sampling where thinking is off',
    {},
    { ...hot, reasoning: 'off' },
    {},
    { temperature: 1, ...off },
  ],
  ['case 164: a version without sampling', { version: '2026-10-21' }, hot, {}, {}],
  ['a later version', { version: '2027-01-01' }, { topP: 1 }, {}, {}],
  ["a cloud's version", { version: 'cloud-2026-10-21' }, hot, {}, { temperature: 1 }],
  ['thinking, untold', {}, {}, LARGE, {}],
  ['budget, off', {}, { reasoning: 'off' }, LARGE, off],
  ['budget, on', {}, ON, LARGE, budget(16_384)],
  ['budget, low', {}, { reasoning: 'low' }, LARGE, budget(4_096)],
  ['budget, high', {}, { reasoning: 'high' }, LARGE, budget(16_384)],
  ['budget, max', {}, { reasoning: 'max' }, LARGE, budget(32_768)],
  [
    'budget by the profile',
    { thinkingBudgets: { low: 2_000, high: 3_000, max: 4_000 } },
    { reasoning: 'max' },
    LARGE,
    budget(4_000),
  ],
  [
    "a profile's budget that is too small",
    { thinkingBudgets: { low: 10, high: 10, max: 10 } },
    ON,
    LARGE,
    budget(1_024),
  ],
  ['budget that leaves room for the answer', {}, ON, { maxOutputTokens: 4_096 }, budget(3_072)],
  ['the least budget', {}, ON, { maxOutputTokens: 1_025 }, budget(1_024)],
  ['no room for a budget', {}, ON, { maxOutputTokens: 1_024 }, off],
  ['a model that cannot reason', {}, ON, { ...LARGE, reasons: false }, {}],
  ['a model that cannot reason, off', {}, { reasoning: 'off' }, { reasons: false }, {}],
  [
    'adaptive, on',
    { thinkingSwitch: 'adaptive' },
    ON,
    {},
    { thinking: { type: 'adaptive', display: 'summarized' } },
  ],
  [
    'adaptive, max',
    { thinkingSwitch: 'adaptive' },
    { reasoning: 'max' },
    {},
    { thinking: { type: 'adaptive', display: 'summarized' }, output_config: { effort: 'max' } },
  ],
  ['adaptive, off', { thinkingSwitch: 'adaptive' }, { reasoning: 'off' }, {}, off],
  ['type, on', { thinkingSwitch: 'type' }, ON, {}, { thinking: { type: 'enabled' } }],
  [
    'type, low',
    { thinkingSwitch: 'type' },
    { reasoning: 'low' },
    {},
    { thinking: { type: 'enabled' }, output_config: { effort: 'low' } },
  ],
  ['type, off', { thinkingSwitch: 'type' }, { reasoning: 'off' }, {}, off],
  ['no switch', { thinkingSwitch: 'none' }, { reasoning: 'max' }, LARGE, {}],
  ['no switch, off', { thinkingSwitch: 'none' }, { reasoning: 'off' }, LARGE, {}],
  [
    'extraBody',
    {
      extraBody: {
        cache_control: { type: 'ephemeral' },
        stream: true,
        max_tokens: 1,
        messages: [],
      },
    },
    {},
    {},
    { cache_control: { type: 'ephemeral' } },
  ],
];

describe('the profile: ', () => {
  test.each(PROFILES)('%s', (_name, profile, request, call, members) => {
    const bound = call.maxOutputTokens ?? PLAIN.max_tokens;
    expect(written(request, profile, call)).toEqual({ ...PLAIN, max_tokens: bound, ...members });
  });

  test('a server with fewer rules gets more of what was asked for', () => {
    const profile: Partial<MessagesProfile> = {
      forcedChoice: 'send',
      blankStops: 'send',
      toolIds: 'any',
      sampling: 'send',
      thinkingSwitch: 'type',
      thinkingHistory: 'any',
    };
    const turns = [user('Hi'), calling(['call_0'], { reasoning: 'hm' }), result('call_0', '')];
    const request = { ...forced, ...hot, ...ON, turns };
    expect(written(request, profile)).toEqual({
      ...PLAIN,
      tools: any.tools,
      tool_choice: { type: 'any' },
      thinking: { type: 'enabled' },
      top_p: 0.5,
      messages: [
        ...HI,
        {
          role: 'assistant',
          content: [
            { type: 'thinking', thinking: 'hm', signature: '' },
            { type: 'tool_use', id: 'call_0', name: 'f', input: { a: 1 } },
          ],
        },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'call_0' }] },
      ],
    });
  });
});

test('the same request gives the same bytes, with nothing of ours in them', () => {
  const request = { ...forced, system: 'A.', turns: [user('Hi'), system('B.')], endUser: 'me' };
  expect(write(request)).toBe(write(structuredClone(request)));
  expect(write(request)).toBe(
    '{"model":"upstream-model","max_tokens":4096,"system":"A.",' +
      '"tools":[{"name":"f","description":"F.","input_schema":{"type":"object"}}],' +
      '"tool_choice":{"type":"any"},' +
      '"messages":[{"role":"user","content":[{"type":"text","text":"Hi\\n\\nB."}]}]}',
  );
});

test('a budget is never below the least nor above the bound, for any bound', () => {
  const reasoning = fc.constantFrom('on', 'low', 'high', 'max');
  fc.assert(
    fc.property(reasoning, fc.integer({ min: 1, max: 50_000 }), (depth, maxOutputTokens) => {
      const { thinking } = written({ reasoning: depth }, {}, { maxOutputTokens });
      const { budget_tokens: tokens } = thinking as { readonly budget_tokens?: number };
      if (maxOutputTokens <= 1_024) return expect(thinking).toEqual({ type: 'disabled' });
      expect([tokens, tokens !== undefined && tokens >= 1_024 && tokens < maxOutputTokens]).toEqual(
        [tokens, true],
      );
    }),
  );
});
