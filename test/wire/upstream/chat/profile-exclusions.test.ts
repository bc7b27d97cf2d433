// Features that an upstream cannot combine in one request: which one yields, and how tools are
// forced and forbidden where the standard fields are ignored. One row a value of a profile field.

import { describe, expect, test } from 'bun:test';
import type { GenerationRequest, Turn } from '../../../../src/core/generation.ts';
import type { ChatProfile } from '../../../../src/core/profile.ts';
import type { UpstreamCall } from '../../../../src/wire/format.ts';
import { bodyFor, REQUEST } from './request-support.ts';

const F = { name: 'f', parameters: { type: 'object' } };
const G = { name: 'g', parameters: { type: 'object' } };
const asTool = (tool: typeof F) => ({ type: 'function', function: tool });
const required = { tools: [F, G], toolChoice: { kind: 'required' } } as const;
const named = { tools: [F, G], toolChoice: { kind: 'tool', name: 'g' } } as const;
const namedWritten = { type: 'function', function: { name: 'g' } };
const none = { tools: [F, G], toolChoice: { kind: 'none' } } as const;
const begun: Turn = { role: 'assistant', reasoning: '', text: '{', toolCalls: [] };
const prefilled = { turns: [...REQUEST.turns, begun] };

type Row = [
  name: string,
  profile: Partial<ChatProfile>,
  request: Partial<GenerationRequest>,
  written: Readonly<Record<string, unknown>>,
  call?: Partial<UpstreamCall>,
];

const words = {
  reasoningSwitch: 'effort',
  effortWords: { off: 'none', low: 'low', high: 'high', max: 'xhigh' },
} as const;
const withoutTools = { ...words, thinkingWithTools: 'off' } as const;
const unforced = { ...words, forcedChoice: 'without_thinking' } as const;
const plain = { ...words, prefill: 'without_thinking' } as const;
const cool = { ...words, sampling: 'omit_when_thinking' } as const;

describe('thinking gives way', () => {
  const rows: Row[] = [
    ['to tools', withoutTools, { tools: [F], reasoning: 'max' }, { reasoning_effort: 'none' }],
    ['to tools, unasked', withoutTools, { tools: [F] }, { reasoning_effort: 'none' }],
    ['not where no tool is', withoutTools, { reasoning: 'max' }, { reasoning_effort: 'xhigh' }],
    [
      'not to tools that are left out',
      { ...withoutTools, forbiddenChoice: 'drop_tools' },
      { ...none, reasoning: 'low' },
      { reasoning_effort: 'low' },
    ],
    [
      'not in a model that cannot',
      withoutTools,
      { tools: [F] },
      { reasoning_effort: undefined },
      { reasons: false },
    ],
    [
      'to a forced tool',
      unforced,
      { ...required, reasoning: 'high' },
      { reasoning_effort: 'none', tool_choice: 'required' },
    ],
    [
      'to a tool forced by name',
      unforced,
      named,
      { reasoning_effort: 'none', tool_choice: namedWritten },
    ],
    [
      'not to tools that may be left alone',
      unforced,
      { tools: [F], toolChoice: { kind: 'auto' }, reasoning: 'high' },
      { reasoning_effort: 'high', tool_choice: 'auto' },
    ],
    [
      'to an answer begun',
      plain,
      { ...prefilled, reasoning: 'high' },
      { reasoning_effort: 'none' },
    ],
    ['not to a question', plain, { reasoning: 'high' }, { reasoning_effort: 'high' }],
    [
      'not by default',
      words,
      { ...required, ...prefilled, reasoning: 'high' },
      { reasoning_effort: 'high', tool_choice: 'required' },
    ],
  ];
  run(rows);
});

describe('sampling gives way to thinking', () => {
  const sampling = { temperature: 0, topP: 0.5, frequencyPenalty: 1, presencePenalty: 1 };
  const sent = { temperature: 0, top_p: 0.5, frequency_penalty: 1, presence_penalty: 1 };
  const left = Object.fromEntries(Object.keys(sent).map((member) => [member, undefined]));
  run([
    ['asked for', cool, { ...sampling, reasoning: 'low' }, left],
    ['by default', cool, sampling, left],
    ['not where it is off', cool, { ...sampling, reasoning: 'off' }, sent],
    [
      'not where tools have turned it off',
      { ...cool, thinkingWithTools: 'off' },
      { ...sampling, tools: [F] },
      sent,
    ],
    ['not in a model that cannot', cool, sampling, sent, { reasons: false }],
  ]);
});

describe('forcedChoice required', () => {
  const profile = { forcedChoice: 'required' } as const;
  run([
    ['any tool', profile, required, { tool_choice: 'required', tools: [F, G].map(asTool) }],
    [
      'one by name is the only one',
      profile,
      named,
      { tool_choice: 'required', tools: [asTool(G)] },
    ],
    [
      'a name that no tool has',
      profile,
      { ...named, toolChoice: { kind: 'tool', name: 'h' } },
      { tool_choice: 'required', tools: [F, G].map(asTool) },
    ],
    ['none', profile, none, { tool_choice: 'none', tools: [F, G].map(asTool) }],
  ]);
});

describe('forbiddenChoice', () => {
  run([
    ['send', {}, none, { tool_choice: 'none', tools: [F, G].map(asTool) }],
    [
      'drop_tools',
      { forbiddenChoice: 'drop_tools' },
      { ...none, parallelToolCalls: false },
      { tool_choice: undefined, tools: undefined, parallel_tool_calls: undefined },
    ],
    [
      'drop_tools, and tools are allowed',
      { forbiddenChoice: 'drop_tools' },
      { tools: [F], toolChoice: { kind: 'auto' } },
      { tool_choice: 'auto', tools: [asTool(F)] },
    ],
  ]);
});

function run(rows: readonly Row[]): void {
  for (const [name, profile, request, written, call] of rows) {
    test(name, () => {
      const body = bodyFor(profile, request, call);
      const members = Object.keys(written).map((member) => [member, Reflect.get(body, member)]);
      expect(Object.fromEntries(members)).toEqual(written);
    });
  }
}
