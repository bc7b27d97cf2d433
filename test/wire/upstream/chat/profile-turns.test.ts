// How each profile field changes the turns of a request: one row a value. The default is tested
// elsewhere; these rows show the differences.

import { describe, expect, test } from 'bun:test';
import type { Turn } from '../../../../src/core/generation.ts';
import type { ChatProfile } from '../../../../src/core/profile.ts';
import { cpuTimer } from '../../../support/cpu-time.ts';
import {
  assistant,
  bodyFor,
  called,
  messagesFor,
  picture,
  result,
  TOOL_CALL,
  user,
} from './request-support.ts';

const WRITTEN_CALL = {
  id: 'call_1',
  type: 'function',
  function: { name: 'f', arguments: '{"a":1}' },
};

const SPEAKERS: Turn[] = [
  { ...user('Q'), name: 'Bob' },
  { ...assistant('A'), name: 'Eve' },
  { ...user('R'), name: 'Ann' },
];

describe('turns', () => {
  type Row = [name: string, profile: Partial<ChatProfile>, turns: Turn[], written: object[]];
  const longId = { ...TOOL_CALL, id: 'functions.f:0' };
  const longCalled = assistant('', { toolCalls: [longId] });
  const longResult = { ...result('1'), toolCallId: longId.id };
  const withId = (id: string, content = '1'): object[] => [
    { role: 'assistant', content: null, tool_calls: [{ ...WRITTEN_CALL, id }] },
    { role: 'tool', tool_call_id: id, content },
  ];
  const said = (content: string, members: object = {}): object => ({
    role: 'assistant',
    content,
    ...members,
  });
  const asked = (content: string): object => ({ role: 'user', content });
  const called1 = { role: 'assistant', content: null, tool_calls: [WRITTEN_CALL] };
  const answered = (content: string): object => ({ role: 'tool', tool_call_id: 'call_1', content });
  const text = (of: string): object[] => [{ type: 'text', text: of }];
  const thought = assistant('A', { reasoning: 'hm' });
  const rows: Row[] = [
    [
      'ids that come again',
      {},
      [user('Q'), called, result('1'), called, result('1')],
      [asked('Q'), ...withId('call_1'), ...withId('call_1-2')],
    ],
    [
      'systemInMiddle fold',
      { systemInMiddle: 'fold' },
      [user('Q'), { role: 'system', text: 'S' }, assistant('A'), user('R')],
      [asked('Q\n\nS'), said('A'), asked('R')],
    ],
    [
      'callSignature',
      { callSignature: 'skip' },
      [assistant('', { toolCalls: [TOOL_CALL, { ...TOOL_CALL, id: 'call_2' }] })],
      [
        {
          ...called1,
          tool_calls: [
            { ...WRITTEN_CALL, extra_content: { google: { thought_signature: 'skip' } } },
            { ...WRITTEN_CALL, id: 'call_2' },
          ],
        },
      ],
    ],
    [
      'systemInMiddle keep',
      { systemInMiddle: 'keep' },
      [user('Q'), { role: 'system', text: 'S' }, assistant('A'), user('R')],
      [asked('Q'), { role: 'system', content: 'S' }, said('A'), asked('R')],
    ],
    [
      'speakerNames send',
      {},
      SPEAKERS,
      [
        { role: 'user', name: 'Bob', content: 'Q' },
        said('A', { name: 'Eve' }),
        { role: 'user', name: 'Ann', content: 'R' },
      ],
    ],
    [
      'speakerNames fold',
      { speakerNames: 'fold' },
      SPEAKERS,
      [asked('Bob: Q'), said('A'), asked('Ann: R')],
    ],
    [
      'speakerNames fold, before a picture',
      { speakerNames: 'fold' },
      [{ ...picture('data:image/png;base64,aGk='), name: 'Bob' }],
      [
        {
          role: 'user',
          content: [
            ...text('Bob:'),
            { type: 'image_url', image_url: { url: 'data:image/png;base64,aGk=' } },
          ],
        },
      ],
    ],
    [
      'turnOrder alternate with names',
      { turnOrder: 'alternate' },
      [
        { ...user('Q'), name: 'Bob' },
        { ...user('R'), name: 'Ann' },
      ],
      [asked('Bob: Q\nAnn: R')],
    ],
    [
      'systemInMiddle fold with names',
      { systemInMiddle: 'fold' },
      [
        { ...user('Q'), name: 'Bob' },
        { role: 'system', text: 'S' },
        { ...assistant('A'), name: 'Eve' },
        { role: 'system', text: 'T' },
        { ...user('R'), name: 'Ann' },
      ],
      [
        { role: 'user', name: 'Bob', content: 'Q\n\nS' },
        said('A', { name: 'Eve' }),
        { role: 'user', name: 'Ann', content: 'T\nR' },
      ],
    ],
    ['toolIds any', { toolIds: 'any' }, [longCalled, longResult], withId('functions.f:0')],
    [
      'toolIds word',
      { toolIds: 'word' },
      [longCalled, longResult],
      withId('call_wRpxqOo5H4DYrl8IHIZhw0'),
    ],
    ['toolIds nine', { toolIds: 'nine' }, [longCalled, longResult], withId('wRpxqOo5H')],
    [
      'emptyToolResult',
      { emptyToolResult: '(no output)' },
      [called, result(''), called, { ...result(''), isError: true }, called, result(' ')],
      [
        called1,
        answered('(no output)'),
        ...withId('call_1-2', 'The tool reported an error:\n(no output)'),
        ...withId('call_1-3', ' '),
      ],
    ],
    [
      'reasoningField reasoning_content',
      { reasoningField: 'reasoning_content' },
      [user('Q'), thought],
      [asked('Q'), said('A', { reasoning_content: 'hm' })],
    ],
    [
      'reasoningField reasoning',
      { reasoningField: 'reasoning' },
      [user('Q'), thought],
      [asked('Q'), said('A', { reasoning: 'hm' })],
    ],
    [
      'reasoningField none',
      { reasoningField: 'none', lostReasoning: 'empty' },
      [user('Q'), thought, called],
      [asked('Q'), said('A'), called1],
    ],
    [
      'lostReasoning omit',
      { lostReasoning: 'omit' },
      [user('Q'), assistant('A'), called],
      [asked('Q'), said('A'), called1],
    ],
    [
      'lostReasoning empty',
      { lostReasoning: 'empty', reasoningField: 'reasoning' },
      [user('Q'), assistant('A'), thought, called],
      [
        asked('Q'),
        said('A', { reasoning: '' }),
        said('A', { reasoning: 'hm' }),
        { ...called1, reasoning: '' },
      ],
    ],
    [
      'contentParts images',
      { contentParts: 'images' },
      [user('a', 'b'), picture('data:x')],
      [
        asked('a\nb'),
        { role: 'user', content: [{ type: 'image_url', image_url: { url: 'data:x' } }] },
      ],
    ],
    [
      'contentParts always',
      { contentParts: 'always' },
      [user('a', '', 'b'), user(''), assistant('A'), called, result('1'), assistant('')],
      [
        { role: 'user', content: [...text('a'), ...text('b')] },
        asked(''),
        { role: 'assistant', content: text('A') },
        called1,
        { role: 'tool', tool_call_id: 'call_1', content: text('1') },
        said(''),
      ],
    ],
    ['contentParts never', { contentParts: 'never' }, [user('a', 'b')], [asked('a\nb')]],
    ['contentBesideCalls null', { contentBesideCalls: 'null' }, [called], [called1]],
    [
      'contentBesideCalls empty',
      { contentBesideCalls: 'empty' },
      [called],
      [{ ...called1, content: '' }],
    ],
    [
      'turnOrder any',
      { turnOrder: 'any' },
      [user('Q'), user('R'), assistant('A'), assistant('B')],
      [asked('Q'), asked('R'), said('A'), said('B')],
    ],
    [
      'turnOrder alternate',
      { turnOrder: 'alternate' },
      [
        user('Q'),
        user('R'),
        thought,
        assistant('', { reasoning: 'so', toolCalls: [TOOL_CALL] }),
        result('1'),
        result('2'),
        assistant('B'),
        assistant(''),
      ],
      [
        asked('Q\nR'),
        said('A', { reasoning_content: 'hm\n\nso', tool_calls: [WRITTEN_CALL] }),
        answered('1'),
        answered('2'),
        said('B'),
      ],
    ],
    [
      'turnOrder alternate, around a turn in which nothing was said',
      { turnOrder: 'alternate' },
      [user('Q'), assistant(''), user('R')],
      [asked('Q\nR')],
    ],
    [
      'turnOrder alternate, system kept',
      { turnOrder: 'alternate', systemInMiddle: 'keep' },
      [user('Q'), { role: 'system', text: 'S' }, { role: 'system', text: 'T' }, user('R')],
      [asked('Q'), { role: 'system', content: 'S\n\nT' }, asked('R')],
    ],
    [
      'userAfterTool send',
      { userAfterTool: 'send' },
      [called, result('1'), user('Q')],
      [called1, answered('1'), asked('Q')],
    ],
    [
      'userAfterTool bridge',
      { userAfterTool: 'bridge', lostReasoning: 'empty' },
      [called, result('1'), result('2'), user('Q'), assistant('A'), user('R')],
      [
        { ...called1, reasoning_content: '' },
        answered('1'),
        answered('2'),
        said('OK.', { reasoning_content: '' }),
        asked('Q'),
        said('A', { reasoning_content: '' }),
        asked('R'),
      ],
    ],
    ['prefill send', { prefill: 'send' }, [user('Q'), assistant('So')], [asked('Q'), said('So')]],
    [
      'prefill prefix',
      { prefill: 'prefix' },
      [user('Q'), assistant('A'), user('R'), assistant('So')],
      [asked('Q'), said('A'), asked('R'), said('So', { prefix: true })],
    ],
    [
      'prefill prefix, where there is nothing to continue',
      { prefill: 'prefix' },
      [user('Q'), called],
      [asked('Q'), called1],
    ],
  ];
  test.each(rows)('%s', (_name, profile, turns, written) => {
    expect(messagesFor(profile, turns)).toEqual(written);
  });

  test.each<[string, Turn]>([
    ['user turns', user('Q')],
    ['turns with calls', called],
  ])('turnOrder alternate merges many %s at once', (_name, turn) => {
    const turns = Array.from({ length: 20_000 }, () => turn);
    const cpuMs = cpuTimer();
    expect(messagesFor({ turnOrder: 'alternate' }, turns)).toHaveLength(1);
    expect(cpuMs()).toBeLessThan(1_000);
  });

  test('lostReasoning is no matter of models that do not think', () => {
    const turns = [user('Q'), assistant('A')];
    const written = [asked('Q'), said('A')];
    expect(messagesFor({ lostReasoning: 'empty' }, turns, { reasons: false })).toEqual(written);
    const off = bodyFor({ lostReasoning: 'empty' }, { turns, reasoning: 'off' });
    expect(Reflect.get(off, 'messages')).toEqual(written);
  });

  test('contentParts always, for the system prompt too', () => {
    expect(bodyFor({ contentParts: 'always' }, { system: 'S' })).toMatchObject({
      messages: [
        { role: 'system', content: text('S') },
        { role: 'user', content: text('Hi') },
      ],
    });
  });

  test('prefill continue_final_message', () => {
    const prefill = { prefill: 'continue_final_message' } as const;
    const flags = { continue_final_message: true, add_generation_prompt: false };
    const begun = bodyFor(prefill, { turns: [user('Q'), assistant('So')] });
    expect(begun).toMatchObject({ ...flags, messages: [asked('Q'), said('So')] });
    for (const last of [user('Q'), called, result('1'), assistant('')]) {
      expect(bodyFor(prefill, { turns: [last] })).toEqual(bodyFor({}, { turns: [last] }));
    }
    // Behind the text stands what the system has to say: there is no answer to be continued.
    const folded = bodyFor(prefill, { turns: [assistant('So'), { role: 'system', text: 'S' }] });
    expect(folded).not.toHaveProperty('continue_final_message');
  });
});
