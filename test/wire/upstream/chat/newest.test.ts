// The rules of the newest models of each vendor: tools that are forced by name or in words, begun
// answers, earlier thinking in each form, and models that always think.

import { describe, expect, test } from 'bun:test';
import { BUILT_IN_PROFILES } from '../../../../src/core/built-in-profiles.ts';
import { affinityOf, cacheKeyOf } from '../../../../src/core/conversation.ts';
import type { GenerationRequest, ThinkingBlock, Turn } from '../../../../src/core/generation.ts';
import type { ChatProfile } from '../../../../src/core/profile.ts';
import { requestWith } from '../../../support/request.ts';
import { assistant, bodyFor, messagesFor, result, TOOL_CALL, user } from './request-support.ts';

const F = { name: 'f', parameters: { type: 'object' } };
const G = { name: 'g', parameters: { type: 'object', properties: {} } };
const required = { tools: [F, G], toolChoice: { kind: 'required' } } as const;
const named = { tools: [F, G], toolChoice: { kind: 'tool', name: 'g' } } as const;
const byName = (name: string) => ({ type: 'function', function: { name } });

function profileOf(name: string): ChatProfile {
  const profile = BUILT_IN_PROFILES.get(name);
  return profile?.dialect === 'chat' ? profile : expect.unreachable();
}

function membersOf(body: object, ...names: string[]): object {
  return Object.fromEntries(names.map((name) => [name, Reflect.get(body, name)]));
}

describe('a forced tool', () => {
  type Row = readonly [
    name: string,
    forcedChoice: ChatProfile['forcedChoice'],
    request: Partial<GenerationRequest>,
    choice: unknown,
    system: string | undefined,
  ];
  const any = 'Answer with a call of one of these tools, and with nothing before it: "f", "g".';
  const one = 'Answer with a call of the tool "g", and with nothing before it.';
  const rows: readonly Row[] = [
    ['one', 'by_name', named, byName('g'), undefined],
    ['any of two', 'by_name', required, 'auto', any],
    ['any of one', 'by_name', { ...required, tools: [F] }, byName('f'), undefined],
    ['none', 'by_name', { tools: [F], toolChoice: { kind: 'none' } }, 'none', undefined],
    ['one', 'instruct', named, 'auto', one],
    ['any of two', 'instruct', required, 'auto', any],
    ['auto', 'instruct', { tools: [F], toolChoice: { kind: 'auto' } }, 'auto', undefined],
    ['none', 'instruct', { tools: [F], toolChoice: { kind: 'none' } }, 'none', undefined],
    ['any of none', 'instruct', { toolChoice: { kind: 'required' } }, undefined, undefined],
  ];
  test.each(rows)('%s, %s', (_name, forcedChoice, request, choice, system) => {
    const body = bodyFor({ forcedChoice }, request);
    const [first] = Reflect.get(body, 'messages') as { role: string; content: string }[];
    expect(Reflect.get(body, 'tool_choice')).toEqual(choice);
    expect(first?.role === 'system' ? first.content : undefined).toEqual(system as never);
  });

  test('in words stands behind the prompt, with the tools as they are', () => {
    const body = bodyFor({ forcedChoice: 'instruct' }, { ...named, system: 'Be brief.' });
    expect(body).toMatchObject({
      messages: [{ role: 'system', content: `Be brief.\n\n${one}` }, { role: 'user' }],
      tools: [byName('f'), byName('g')],
    });
  });
});

describe('a begun answer', () => {
  const begun = [user('Q'), assistant('{"a": ')];
  const last = (profile: Partial<ChatProfile>, turns: readonly Turn[]) =>
    (messagesFor(profile, turns) as object[]).at(-1);

  test('carries the flag of its vendor', () => {
    expect(last({ prefill: 'partial' }, begun)).toEqual({
      role: 'assistant',
      content: '{"a": ',
      partial: true,
    });
    expect(last({ prefill: 'prefix' }, begun)).toMatchObject({ prefix: true });
    expect(last({ prefill: 'partial' }, [user('Q')])).toEqual({ role: 'user', content: 'Q' });
  });

  test('is bridged by a user turn', () => {
    const written = messagesFor({ prefill: 'bridge' }, begun) as object[];
    expect(written).toHaveLength(3);
    expect(written.at(-1)).toEqual({
      role: 'user',
      content:
        'Continue your last message exactly where it ends. Repeat none of it, and add no introduction.',
    });
    const loop = [user('Q'), assistant('', { toolCalls: [TOOL_CALL] }), result('1')];
    expect(messagesFor({ prefill: 'bridge' }, loop)).toHaveLength(3);
    expect(messagesFor({ prefill: 'bridge' }, [user('Q')])).toHaveLength(1);
  });
});

describe('earlier thinking', () => {
  const entries = [
    { type: 'reasoning.text', text: 'hm', signature: 's', index: 0 },
    { type: 'reasoning.encrypted', data: 'd', index: 1 },
  ];
  const native = entries.map((entry): ThinkingBlock => {
    return { kind: 'native', json: JSON.stringify(entry) };
  });
  const signedBy = (upstream: string, model: string, blocks: readonly ThinkingBlock[]): Turn =>
    assistant('A', {
      reasoning: 'hm',
      toolCalls: [TOOL_CALL, { ...TOOL_CALL, id: 'call_2' }],
      signed: { upstream, model, blocks },
    });
  const written = (profile: Partial<ChatProfile>, turn: Turn, request = {}) => {
    const [message = {}] = Reflect.get(
      bodyFor(profile, { ...request, turns: [turn] }),
      'messages',
    ) as object[];
    return message;
  };
  const details = { reasoningField: 'details' } as const;

  test('returns as the entries that the server has sent', () => {
    const message = written(details, signedBy('up', 'up-1', native));
    expect(membersOf(message, 'reasoning_details', 'reasoning', 'content')).toEqual({
      reasoning_details: entries,
      reasoning: undefined,
      content: 'A',
    });
  });

  test('of another upstream or model returns as text', () => {
    for (const [upstream, model] of [
      ['elsewhere', 'up-1'],
      ['up', 'up-2'],
    ] as const) {
      const message = written(details, signedBy(upstream, model, native));
      expect(membersOf(message, 'reasoning_details', 'reasoning')).toEqual({
        reasoning_details: undefined,
        reasoning: 'hm',
      });
    }
  });

  test('returns as parts of the content, before its text', () => {
    const thinking = { type: 'thinking', thinking: [{ type: 'text', text: 'hm' }] };
    const parts = { reasoningField: 'parts' } as const;
    expect(written(parts, assistant('A', { reasoning: 'hm' }))).toMatchObject({
      content: [thinking, { type: 'text', text: 'A' }],
    });
    const calls = assistant('', { reasoning: 'hm', toolCalls: [TOOL_CALL] });
    expect(written(parts, calls)).toMatchObject({ content: [thinking] });
    expect(written(parts, assistant('A'))).toMatchObject({ content: 'A' });
  });

  test('that is lost is one space where the server refuses an empty field', () => {
    const space = { lostReasoning: 'space' } as const;
    const calls = assistant('', { toolCalls: [TOOL_CALL] });
    expect(written(space, calls)).toMatchObject({ reasoning_content: ' ' });
    expect(written(space, assistant('A', { reasoning: 'hm' }))).toMatchObject({
      reasoning_content: 'hm',
    });
    expect(written(space, calls, { reasoning: 'off' })).not.toHaveProperty('reasoning_content');
    const always = { ...space, thinkingOff: 'lowest' } as const;
    expect(written(always, calls, { reasoning: 'off' })).toMatchObject({ reasoning_content: ' ' });
  });

  describe('as signatures of calls', () => {
    const signature = JSON.stringify({ vertex: { thought_signature: 'own' } });
    const gemini = { callSignature: 'skip', reasoningField: 'none' } as const;
    const standIn = { google: { thought_signature: 'skip' } };
    const signaturesOf = (turn: Turn, profile: Partial<ChatProfile> = gemini) => {
      const calls = Reflect.get(written(profile, turn), 'tool_calls') as object[];
      return calls.map((call) => Reflect.get(call, 'extra_content'));
    };

    test.each([[gemini], [{}]])('returns on the call that it came with, %p', (profile) => {
      const first: ThinkingBlock[] = [{ kind: 'call', signature }];
      expect(signaturesOf(signedBy('up', 'up-1', first), profile)).toEqual([
        { vertex: { thought_signature: 'own' } },
        undefined,
      ]);
      const second: ThinkingBlock[] = [{ kind: 'call' }, { kind: 'call', signature }];
      expect(signaturesOf(signedBy('up', 'up-1', second), profile)).toEqual([
        undefined,
        { vertex: { thought_signature: 'own' } },
      ]);
    });

    test('has a stand-in only where it is lost', () => {
      const lost = [
        signedBy('up', 'up-2', [{ kind: 'call', signature }]),
        signedBy('elsewhere', 'up-1', [{ kind: 'call', signature }]),
        assistant('', { toolCalls: [TOOL_CALL, { ...TOOL_CALL, id: 'call_2' }] }),
      ];
      for (const turn of lost) expect(signaturesOf(turn)).toEqual([standIn, undefined]);
    });
  });
});

describe('the key of the prompt cache', () => {
  const tools = [F];
  const keyOf = (account: string, request: Partial<GenerationRequest>) => {
    const affinity = affinityOf(account, requestWith(request));
    return affinity === undefined ? undefined : cacheKeyOf(affinity);
  };
  const first = { turns: [user('Hi')], tools, system: 'S' };
  const later = { ...first, turns: [user('Hi'), assistant('A'), user('B')] };

  test('is the same on every turn, and another for each account and conversation', () => {
    const key = keyOf('a', first);
    expect(key).toMatch(/^[0-9a-z]{1,12}$/);
    expect(keyOf('a', later)).toBe(key);
    expect(keyOf('b', first)).not.toBe(key);
    expect(keyOf('a', { ...first, turns: [user('Ho')] })).not.toBe(key);
    expect(keyOf('a', { turns: [user('Hi')] })).toBeUndefined();
  });

  test('is sent if the request has one', () => {
    expect(bodyFor({}, {}, { cacheKey: 'k' })).toMatchObject({ prompt_cache_key: 'k' });
    expect(bodyFor({}, {})).not.toHaveProperty('prompt_cache_key');
  });
});

describe('thinking of', () => {
  type Row = readonly [
    profile: string,
    written: Readonly<Partial<Record<NonNullable<GenerationRequest['reasoning']>, object>>>,
  ];
  const effort = (reasoning_effort: string) => ({ reasoning_effort });
  const switched = (type: string) => ({ thinking: { type } });
  const clear = (type: string) => ({ thinking: { type, clear_thinking: false } });
  const rows: readonly Row[] = [
    ['openai-chat-6', { off: effort('low'), max: effort('xhigh') }],
    ['openai', { off: effort('none'), max: effort('xhigh') }],
    ['gemini', { off: effort('low'), on: effort('high'), max: effort('high') }],
    ['gemini-4-hydrogen', { off: effort('low'), max: effort('xhigh') }],
    ['moonshot', { off: switched('disabled'), low: switched('enabled'), max: switched('enabled') }],
    ['moonshot-k2.7', { off: {}, low: {}, max: {} }],
    ['moonshot-k3', { off: effort('low'), high: effort('high'), max: effort('max') }],
    [
      'zai',
      {
        off: { ...clear('enabled'), ...effort('low') },
        max: { ...clear('enabled'), ...effort('max') },
      },
    ],
    ['zai-4.6', { off: clear('disabled'), max: clear('enabled') }],
    ['zai-5.2', { off: clear('disabled'), low: { ...clear('enabled'), ...effort('high') } }],
    ['minimax', { off: effort('low'), max: effort('max') }],
    ['minimax-m3', { off: {}, max: {} }],
    ['qwen', { off: effort('none'), low: effort('low'), max: effort('max') }],
    ['mistral', { off: effort('none'), low: effort('high') }],
    ['mistral-large-4', { off: effort('low'), max: effort('high') }],
    ['groq', { off: effort('low'), max: effort('high') }],
    ['groq-qwen', { off: effort('none'), low: effort('default') }],
    ['cerebras-open', { off: effort('none'), max: effort('high') }],
    ['fireworks', { off: effort('none'), max: effort('max') }],
    ['lmstudio', { off: effort('low'), max: effort('high') }],
  ];
  for (const [name, written] of rows) {
    for (const [reasoning, members] of Object.entries(written)) {
      test(`${name}, asked for ${reasoning}`, () => {
        const asked = { reasoning } as Partial<GenerationRequest>;
        const body = bodyFor(profileOf(name), asked);
        expect(membersOf(body, 'thinking', 'reasoning_effort')).toEqual({
          thinking: undefined,
          reasoning_effort: undefined,
          ...members,
        });
      });
    }
  }

  const switches = [...BUILT_IN_PROFILES.values()].filter(
    (profile) => profile.dialect === 'chat' && profile.thinkingOff === 'send',
  );
  test('no profile is off with a depth, beside a switch that says off', () => {
    for (const profile of switches as ChatProfile[]) {
      const body = bodyFor(profile, { reasoning: 'off' });
      const { thinking, reasoning_effort: word = 'none' } = Object(body);
      if (thinking?.type === 'disabled') expect(word).toBe('none');
    }
  });

  test('a model that always thinks gives way to nothing', () => {
    const always = { ...profileOf('qwen'), thinkingOff: 'lowest' } as const;
    expect(bodyFor(always, { ...named, reasoning: 'high' })).toMatchObject(effort('high'));
    expect(bodyFor(profileOf('qwen'), { ...named, reasoning: 'high' })).toMatchObject(
      effort('none'),
    );
  });

  test('a model that always thinks counts as thinking for what thinking excludes', () => {
    const always = { ...profileOf('openai-chat-6') };
    const body = bodyFor(always, { reasoning: 'off', temperature: 0 });
    expect(body).not.toHaveProperty('temperature');
    expect(bodyFor(profileOf('openai'), { reasoning: 'off', temperature: 0 })).toMatchObject({
      temperature: 0,
    });
  });
});
