// The turns of a conversation as items of a Responses request.

import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import type { ThinkingBlock, Turn } from '../../../../src/core/generation.ts';
import { asked, assistant, call, items, picture, result, said, user, write } from './support.ts';

const ITEM = '{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"x+/=\\u0000"}';
const native: ThinkingBlock = { kind: 'native', json: ITEM };
const signed = (blocks: readonly ThinkingBlock[], model = 'upstream-model') => ({
  signed: { upstream: 'here', model, blocks },
});
const types = (turns: readonly Turn[], profile = {}, more = {}): unknown[] =>
  items(turns, profile, more).map(({ type, role }) => (type === 'message' ? role : type));

test('each kind of turn', () => {
  const turns: Turn[] = [
    {
      role: 'user',
      parts: [{ kind: 'text', text: 'See' }, ...picture('data:image/png;base64,AA').parts],
    },
    assistant('Well', { toolCalls: [call('a', '{"2":0,"1":12345678901234567890}')] }),
    result('a', 'Sunny'),
    { role: 'system', text: 'Now in French.' },
    { role: 'user', name: 'Ann', parts: [{ kind: 'text', text: 'Bye' }] },
  ];
  expect(items(turns, { phases: 'omit' })).toEqual([
    {
      type: 'message',
      role: 'user',
      content: [
        { type: 'input_text', text: 'See' },
        { type: 'input_image', image_url: 'data:image/png;base64,AA', detail: 'auto' },
      ],
    },
    said('Well'),
    {
      type: 'function_call',
      call_id: 'a',
      name: 'f',
      arguments: '{"2":0,"1":12345678901234567890}',
    },
    { type: 'function_call_output', call_id: 'a', output: 'Sunny' },
    {
      type: 'message',
      role: 'developer',
      content: [{ type: 'input_text', text: 'Now in French.' }],
    },
    asked('Ann: Bye'),
  ]);
});

test('system text in the middle joins its neighbour where the server does not take it', () => {
  const turns: Turn[] = [user('Hi'), { role: 'system', text: 'Be kind.' }, user('Bye')];
  expect(types(turns, { systemInMiddle: 'fold' })).toEqual(['user', 'user']);
});

test('results: a mark on errors, and words where the server needs some', () => {
  const turns = [user('Hi'), assistant('', { toolCalls: [call('a'), call('b')] })];
  const outputs = (profile = {}): unknown[] =>
    items([...turns, result('a', 'broken', true), result('b', '')], profile)
      .filter(({ type }) => type === 'function_call_output')
      .map(({ output }) => output);
  expect(outputs()).toEqual(['The tool reported an error:\nbroken', '']);
  expect(outputs({ emptyToolResult: '(none)' })).toEqual([
    'The tool reported an error:\nbroken',
    '(none)',
  ]);
});

describe('every call has an output, and every output a call', () => {
  test('a conversation that ends with calls says that they were not answered', () => {
    const turns = [user('Hi'), assistant('', { toolCalls: [call('a'), call('b')] })];
    expect(items(turns).slice(3)).toEqual(
      ['a', 'b'].map((call_id) => ({
        type: 'function_call_output',
        call_id,
        output: 'The tool reported an error:\nThis tool call was not answered.',
      })),
    );
  });

  test('ids that come again are made distinct, and long ones rewritten alike on both sides', () => {
    const round = (id: string): Turn[] => [
      assistant('', { toolCalls: [call(id)] }),
      result(id, ''),
    ];
    const ids = (turns: Turn[]): unknown[] =>
      items([user('Hi'), ...turns]).flatMap(({ call_id }) => call_id ?? []);
    expect(ids([...round('a'), ...round('a')])).toEqual(['a', 'a', 'a-2', 'a-2']);
    const [first, second] = ids(round('x'.repeat(65))) as string[];
    expect(first).toBe(second ?? '');
    expect(first?.length).toBeLessThanOrEqual(64);
  });
});

describe('phases', () => {
  const turns = [
    user('Hi'),
    assistant('One moment.', { toolCalls: [call('a')] }),
    result('a', ''),
    assistant('Done.'),
    user('Thanks'),
  ];
  const phases = (given: readonly Turn[], profile = {}): unknown[] =>
    items(given, profile)
      .filter(({ role }) => role === 'assistant')
      .map(({ phase }) => phase);

  test('by the turn where the server gave none', () => {
    expect(phases(turns)).toEqual(['commentary', 'final_answer']);
    expect(phases(turns, { phases: 'omit' })).toEqual([undefined, undefined]);
  });

  test('as the server gave them', () => {
    const blocks: ThinkingBlock[] = [
      { kind: 'text', length: 3, phase: 'commentary' },
      { kind: 'text', length: 2, phase: 'final_answer' },
    ];
    const two = [user('Hi'), assistant('abcde', signed(blocks)), user('x')];
    expect(items(two).slice(1, 3)).toEqual([said('abc', 'commentary'), said('de', 'final_answer')]);
  });
});

describe('thinking of the server', () => {
  const turn = assistant('ab', {
    toolCalls: [call('a'), call('b')],
    ...signed([native, { kind: 'text', length: 2 }, native, { kind: 'call' }, native]),
  });
  const turns = [user('Hi'), turn, result('a', ''), result('b', ''), user('x')];

  test('comes back byte for byte, directly before what followed it', () => {
    expect(types(turns).slice(1, 7)).toEqual([
      'reasoning',
      'assistant',
      'reasoning',
      'function_call',
      'reasoning',
      'function_call',
    ]);
    expect(write({ turns })).toContain(ITEM);
  });

  test('does not where it would be last in its turn', () => {
    const last = assistant('ab', signed([native, { kind: 'text', length: 2 }, native]));
    expect(types([user('Hi'), last, user('x')])).toEqual([
      'user',
      'reasoning',
      'assistant',
      'user',
    ]);
    const alone = assistant('', signed([native]));
    expect(types([user('Hi'), alone, user('x')])).toEqual(['user', 'user']);
  });

  test('comes back whole or in no place: not to a turn that the client has changed', () => {
    const changed = assistant('a', { ...signed([native, { kind: 'text', length: 2 }, native]) });
    expect(types([user('Hi'), changed, user('x')])).toEqual(['user', 'assistant', 'user']);
  });

  test.each([
    ['another model', {}, { model: 'other' }],
    ['another upstream', {}, { upstream: 'other' }],
    ['a model that does not reason', {}, { reasons: false }],
    ['a server that takes text', { reasoningHistory: 'text' }, {}],
    ['a server that takes none', { reasoningHistory: 'none' }, {}],
  ])('is not sent to %s', (_, profile, more) => {
    expect(types(turns, profile, more)).not.toContain('reasoning');
  });

  test('is not sent where another dialect has signed it', () => {
    const foreign: ThinkingBlock[] = [
      { kind: 'native', json: '{"type":"reasoning.text","text":"x"}' },
      { kind: 'thinking', text: 'x', signature: 'y' },
      { kind: 'redacted', data: 'z' },
    ];
    expect(types([user('Hi'), assistant('a', signed(foreign)), user('x')])).not.toContain(
      'reasoning',
    );
  });
});

test('thinking as text goes before all that the turn says', () => {
  const profile = { reasoningHistory: 'text' } as const;
  const turn = assistant('ab', { reasoning: 'hm', toolCalls: [call('a')] });
  const turns = [user('Hi'), turn, result('a', ''), assistant('', { reasoning: 'alone' })];
  expect(types(turns, profile)).toEqual([
    'user',
    'reasoning',
    'assistant',
    'function_call',
    'function_call_output',
  ]);
  expect(items(turns, profile)[1]).toEqual({
    type: 'reasoning',
    summary: [],
    content: [{ type: 'reasoning_text', text: 'hm' }],
  });
  expect(types(turns, profile, { reasons: false })).not.toContain('reasoning');
});

test('an answer that the client has begun is asked to go on', () => {
  const found = items([user('Hi'), assistant('Well')]);
  expect(found.map(({ role }) => role)).toEqual(['user', 'assistant', 'user']);
  expect(JSON.stringify(found[2])).toContain('exactly where it ends');
});

test('the input is never empty', () => {
  expect(types([])).toEqual(['user']);
  expect(items([{ role: 'user', parts: [] }])).toEqual([asked('')]);
});

const word = fc.constantFrom('', 'a', 'bc', ' ', 'é😀');
const block = fc.constantFrom<ThinkingBlock>(
  native,
  { kind: 'call' },
  { kind: 'text', length: 1 },
  { kind: 'text', length: 2, phase: 'commentary' },
);
/** A conversation as the client's formats assemble it: each call is answered, or the last turn. */
const conversation = fc
  .array(
    fc.oneof(
      word.map((text): Turn[] => [user(text)]),
      fc
        .record({
          text: word,
          reasoning: word,
          ids: fc.array(fc.constantFrom('a', 'b'), { maxLength: 3 }),
          blocks: fc.array(block, { maxLength: 4 }),
        })
        .map(({ text, reasoning, ids, blocks }): Turn[] => [
          assistant(text, { reasoning, toolCalls: ids.map((id) => call(id)), ...signed(blocks) }),
          ...ids.map((id) => result(id, 'r')),
        ]),
    ),
    { maxLength: 5 },
  )
  .map((rounds) => rounds.flat());
const history = fc.constantFrom('encrypted', 'text', 'none');

test('law: for any history of a client the items stand as the server demands', () => {
  fc.assert(
    fc.property(conversation, history, fc.boolean(), (turns, reasoningHistory, isOpen) => {
      const end = isOpen ? turns.findLastIndex(({ role }) => role === 'assistant') : -1;
      const given = end === -1 ? turns : turns.slice(0, end + 1);
      const sent = items(given, { reasoningHistory });
      const calls = sent.filter(({ type }) => type === 'function_call').map((i) => i['call_id']);
      const outputs = sent.filter(({ type }) => type === 'function_call_output');
      expect(new Set(calls).size).toBe(calls.length);
      expect(outputs.map((i) => i['call_id']).toSorted()).toEqual(calls.toSorted());
      for (const [at, { type }] of sent.entries()) {
        if (type !== 'reasoning') continue;
        const next = sent[at + 1];
        const follows = next?.['role'] === 'assistant' || next?.['type'] !== 'message';
        expect(next !== undefined && follows && next['type'] !== 'function_call_output').toBe(true);
      }
    }),
  );
});

test('law: appending turns only extends the input', () => {
  fc.assert(
    fc.property(conversation, conversation, history, (before, after, reasoningHistory) => {
      const start = [...before, user('x')];
      const short = items(start, { reasoningHistory });
      const long = items([...start, assistant('y'), ...after, user('z')], { reasoningHistory });
      expect(long.slice(0, short.length)).toEqual([...short]);
    }),
  );
});
