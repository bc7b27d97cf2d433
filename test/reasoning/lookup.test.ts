// How stored thinking is found: calls that are equal for a client are equal here, and calls of two
// conversations never are.

import { describe, expect, spyOn, test } from 'bun:test';
import fc from 'fast-check';
import type { AssistantTurn, ToolCall, Turn } from '../../src/core/generation.ts';
import { digestCall, LookupBudget, precedingDigests } from '../../src/reasoning/lookup.ts';
import { cpuTimer } from '../support/cpu-time.ts';

const KEY = new Uint8Array(32).fill(7);
const UNIQUE = 'call_00_Xk2Lq8Zp0aVbT3mNwR5yQ1';

const call = (more: Partial<ToolCall> = {}): ToolCall => {
  return { id: 'call_0', name: 'read', arguments: '{}', ...more };
};

function digest(of: ToolCall, preceding = 'before', accountId = 'acct_a', key = KEY): string {
  const made = digestCall(key, accountId, of, () => preceding, new LookupBudget());
  return Buffer.from(made).toString('hex');
}

describe('an id that identifies its call', () => {
  test.each([
    UNIQUE,
    'toolu_01A09q90qw90lq917835lq9',
    'call_9PcKqWm2xH4tLd8sRf6vBn3z',
    'chatcmpl-tool-2f1c0a4be5d94c6f8a7b3d2e1f0a9b8c',
    '0f8fad5b-d9cb-469f-a165-70867728950e',
    'call_-8123456789012345678',
  ])('%s is enough by itself', (id) => {
    const other = call({ id, arguments: '{"trimmed":true}' });
    expect(digest(call({ id }))).toBe(digest(other, 'another conversation'));
    expect(digest(call({ id }), 'before', 'acct_b')).not.toBe(digest(call({ id })));
  });

  test.each([
    'call_0',
    'functions.read:0',
    'functions.read:12345',
    'tool_1_read',
    'call_1732212345678',
    'read',
    'call_20261121_001',
    'call_abcdefghijklmnopqrstuvwxyz',
    // Short random ones are taken for counters: with the conversation they are as good.
    'Xk2Lq8Zp0',
  ])('%s is not', (id) => {
    const seen = [
      digest(call({ id })),
      digest(call({ id }), 'another conversation'),
      digest(call({ id, arguments: '{"path":"a"}' })),
    ];
    expect(new Set(seen).size).toBe(3);
  });

  test('the name of a tool never makes an id random', () => {
    const name = 'mcp_7f3a9c2e_lookup_v2_2026';
    const of = call({ id: `functions.${name}:0`, name });
    expect(digest(of)).not.toBe(digest(of, 'another conversation'));
  });

  // The runtime's search takes quadratic time for such a name.
  test.each([
    ['a', 'read'],
    ['b', `${'b'.repeat(325_000)}a${'b'.repeat(325_000)}`],
  ])('nothing takes long, however long id (%s…) and name are', (letter, name) => {
    const id = letter.repeat(1_300_000);
    const cpuMs = cpuTimer();
    digest(call({ id, name }));
    expect(cpuMs()).toBeLessThan(1_000);
  });
});

test('law: account, id, name and secret each make another digest', () => {
  const word = fc.string({ minLength: 1, maxLength: 20 });
  fc.assert(
    fc.property(word, word, word, word, (account, id, name, other) => {
      const of = call({ id, name });
      const own = digest(of, '', account);
      if (other !== account) expect(digest(of, '', other)).not.toBe(own);
      if (other !== id) expect(digest({ ...of, id: other }, '', account)).not.toBe(own);
      if (other !== name) expect(digest({ ...of, name: other }, '', account)).not.toBe(own);
      expect(digest(of, '', account, new Uint8Array(32))).not.toBe(own);
    }),
  );
});

describe('inputs', () => {
  const digestOf = (text: string): string => digest(call({ arguments: text }));

  test('law: white space and the order of keys do not matter', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        fc.pre(typeof value === 'object' && value !== null);
        const text = JSON.stringify(value);
        expect(digestOf(JSON.stringify(reversed(value), null, 3))).toBe(digestOf(text));
        expect(digestOf(JSON.stringify(text))).toBe(digestOf(text));
      }),
    );
  });

  test.each([
    ['no input and an empty object', '', '{}'],
    ['nothing and an empty object', ' null ', '{}'],
    ['an escape and its character', '{"a":"\\u003cb\\u003e"}', '{"a":"<b>"}'],
    ['two ways to write a number', '{"n":1.0,"m":1e2}', '{"m":100,"n":1}'],
  ])('%s are the same', (_name, one, other) => expect(digestOf(one)).toBe(digestOf(other)));

  test.each([
    ['another value', '{"path":"a"}', '{"path":"b"}'],
    ['another order of a list', '[1,2]', '[2,1]'],
    ['a number and a text', '{"a":1}', '{"a":"1"}'],
    ['two torn texts', '{"path":"a', '{"path":"b'],
    ['plain text', 'a', 'b'],
  ])('%s is another input', (_name, one, other) => expect(digestOf(one)).not.toBe(digestOf(other)));

  const levels = (count: number, open = '['): string => open.repeat(count) + ']'.repeat(count);

  test.each([
    ['lists', levels(300_000)],
    ['lists between texts that look like their ends', levels(200_000, '["]",')],
    ['lists behind an escaped quote', `["\\"]]]",${levels(300_000)}]`],
    ['lists that were encoded twice', JSON.stringify(levels(300_000))],
  ])('%s that nest without end are compared as text, at once', (_name, deep) => {
    const cpuMs = cpuTimer();
    expect(digestOf(deep)).toBe(digestOf(deep));
    expect(digestOf(deep)).not.toBe(digestOf(`${deep} `));
    expect(cpuMs()).toBeLessThan(1_000);
  });

  test('what a request has sorted is bounded: inputs beyond that are compared as text', () => {
    const members = (count: number): string =>
      `{${Array.from({ length: count }, (_, n) => `"${n}": 0`)}}`;
    expect(digestOf(members(4_000))).toBe(digestOf(` ${members(4_000)}`));
    expect(digestOf(members(6_000))).not.toBe(digestOf(` ${members(6_000)}`));
    const budget = new LookupBudget();
    const within = (text: string): string =>
      Buffer.from(digestCall(KEY, 'acct_a', call({ arguments: text }), () => '', budget)).toString(
        'hex',
      );
    expect(within(members(2_000))).toBe(within(` ${members(2_000)}`));
    expect(within(members(2_000))).not.toBe(within(` ${members(2_000)}`));
    expect(within('{"a": 1}')).toBe(within('{"a":1}'));
  });

  test('ordinary depth is not too deep', () => {
    expect(digestOf(levels(100))).toBe(digestOf(` ${levels(100)} `));
    expect(digestOf('{"text":"[[[[{{{{\\"[["}')).toBe(digestOf('{"text": "[[[[{{{{\\"[["}'));
  });
});

/** The same value with every object's keys in the opposite order. */
function reversed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reversed);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([name, member]) => [name, reversed(member)] as const);
  return Object.fromEntries(entries.reverse());
}

/** A turn without thinking. */
function spoken({ role, text, toolCalls }: AssistantTurn): object {
  return { role, text, toolCalls };
}

describe('what was said before', () => {
  const user = (text: string): Turn => ({ role: 'user', parts: [{ kind: 'text', text }] });
  const assistant: Turn = { role: 'assistant', reasoning: '', text: 'A', toolCalls: [call()] };
  const result: Turn = { role: 'tool', toolCallId: 'call_0', text: 'R', isError: false };
  const turns = [user('Hello?'), assistant, result];
  const digests = (system: string, of: readonly Turn[]): string[] =>
    Array.from({ length: of.length + 1 }, (_, at) => precedingDigests({ system, turns: of })(at));

  test('each beginning has its own digest, which does not change when more follows', () => {
    const all = digests('Be kind.', turns);
    expect(new Set(all).size).toBe(4);
    expect(digests('Be kind.', [...turns, user('And?')]).slice(0, 4)).toEqual(all);
  });

  test('system prompt, words, calls and results count', () => {
    const last = (system: string, of: readonly Turn[]): string => digests(system, of).at(-1) ?? '';
    const others = [
      last('Be kind.', turns),
      last('Be brief.', turns),
      last('Be kind.', [user('Hello!'), assistant, result]),
      last('Be kind.', [user('Hello?'), { ...assistant, text: 'B' }, result]),
      last('Be kind.', [user('Hello?'), { ...assistant, toolCalls: [] }, result]),
      last('Be kind.', [user('Hello?'), assistant, { ...result, text: 'S' }]),
      last('Be kind.', [user('Hello?'), assistant, { ...result, isError: true }]),
      last('Be kind.', [user('Hello?'), assistant]),
    ];
    expect(new Set(others).size).toBe(others.length);
  });

  test('each digest is that of the texts before, in every version: stored thinking is found by it', () => {
    const texts = ['Be kind.', ...turns, user('And?')].map((said) =>
      JSON.stringify(typeof said === 'object' && 'reasoning' in said ? spoken(said) : said),
    );
    const all = texts.map((_, at) => {
      return new Bun.CryptoHasher('sha256').update(texts.slice(0, at + 1).join('')).digest('hex');
    });
    expect(digests('Be kind.', [...turns, user('And?')])).toEqual(all);
    expect(precedingDigests({ system: 'Be kind.', turns })(99)).toBe(all[3] ?? '');
  });

  test('digests are computed before calls and at the end, not for each of many results', () => {
    const copies = spyOn(Bun.CryptoHasher.prototype, 'copy');
    const results = Array.from({ length: 1_000 }, () => result);
    const preceding = precedingDigests({ system: '', turns: [user('Q'), assistant, ...results] });
    expect(preceding(1)).not.toBe(preceding(1_002));
    expect(copies.mock.calls.length).toBeLessThanOrEqual(2);
    copies.mockRestore();
  });

  test('thinking does not: it is what a client may have lost', () => {
    const blocks = [{ kind: 'thinking', text: 'T', signature: 's' }] as const;
    const thought: Turn = { ...assistant, reasoning: 'T', signed: { upstream: 'a', blocks } };
    expect(digests('', [user('Hello?'), thought, result])).toEqual(digests('', turns));
  });
});
