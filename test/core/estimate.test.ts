// The size of a prompt: every text counts, in every place, and so does the frame around it.

import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { formatInstruction } from '../../src/core/answer-format.ts';
import { estimatePrompt } from '../../src/core/estimate.ts';
import type { Tool, Turn } from '../../src/core/generation.ts';
import { tokenCount } from '../../src/core/money.ts';

/** One token a character: what is counted shows in the sum. */
const byLength = (texts: readonly string[]): number => texts.join('').length;

const IMAGE_TOKENS = 777;
const perImage = (): number => IMAGE_TOKENS;

function estimate(system: string, turns: readonly Turn[], tools: readonly Tool[] = []) {
  return estimatePrompt({ system, turns, tools }, byLength, perImage);
}

const SCHEMA = { name: 'a', schema: { type: 'object' } };

const user = (text: string): Turn => ({ role: 'user', parts: [{ kind: 'text', text }] });

type Row = [what: string, system: string, turns: Turn[], tools: Tool[], tokens: number];

test.each<Row>([
  ['nothing', '', [], [], 3],
  ['a system prompt', 'abc', [], [], 3 + 4 + 3],
  ['a user turn', '', [user('hello')], [], 3 + 4 + 5],
  ['an empty turn', '', [user('')], [], 3 + 4],
  [
    'an image, by its own count',
    '',
    [
      {
        role: 'user',
        parts: [{ kind: 'image', url: `data:image/png;base64,${'A'.repeat(9_999)}` }],
      },
    ],
    [],
    3 + 4 + IMAGE_TOKENS,
  ],
  [
    'an assistant turn: thinking, text and calls',
    '',
    [
      {
        role: 'assistant',
        reasoning: 'abc',
        text: 'de',
        toolCalls: [{ id: 'of the usual length', name: 'f', arguments: '{}' }],
      },
    ],
    [],
    3 + 4 + 3 + 2 + 6 + 1 + 2,
  ],
  [
    'signed thinking that begins with what the client sent in its place, and encrypted thinking',
    '',
    [
      {
        role: 'assistant',
        reasoning: 'a',
        signed: {
          upstream: 'one',
          blocks: [
            { kind: 'thinking', text: 'a long', signature: 's'.repeat(999) },
            { kind: 'redacted', data: 'd'.repeat(50) },
            { kind: 'thinking', text: ' thought', signature: 's'.repeat(999) },
          ],
        },
        text: '',
        toolCalls: [{ id: 'call_1', name: 'f', arguments: '' }],
      },
    ],
    [],
    3 + 4 + 14 + 10 + 6 + 1,
  ],
  ...[
    ['count behind the last question', [], 20 + 10],
    ['are dropped by the upstream before it', [{ role: 'user', parts: [] }] as const, 4],
  ].map(
    ([what, later, tokens]): Row => [
      `encrypted items and signatures of calls ${what}`,
      '',
      [
        {
          role: 'assistant',
          reasoning: '',
          signed: {
            upstream: 'one',
            blocks: [
              {
                kind: 'native',
                json: '{"type":"reasoning","encrypted_content":"'.padEnd(100, 'e'),
              },
              { kind: 'native', json: '{"type":"reasoning.text","text":"'.padEnd(100, 't') },
              { kind: 'call', signature: 's'.repeat(50) },
            ],
          },
          text: '',
          toolCalls: [{ id: 'call_1', name: 'f', arguments: '' }],
        },
        ...(later as Turn[]),
      ],
      [],
      3 + 4 + Number(tokens) + 6 + 1,
    ],
  ),
  ...[
    ['the same text', 'a thought', 9],
    ['more of it', 'a thought and more', 18],
    ['something else, which may be cheaper', ' '.repeat(20), 29],
    ['nothing', '', 9],
  ].map(
    ([what, reasoning, tokens]): Row => [
      `signed thinking, and from the client ${what}`,
      '',
      [
        {
          role: 'assistant',
          reasoning: String(reasoning),
          signed: {
            upstream: 'one',
            blocks: [{ kind: 'thinking', text: 'a thought', signature: 's' }],
          },
          text: '',
          toolCalls: [],
        },
      ],
      [],
      3 + 4 + Number(tokens),
    ],
  ),
  [
    'a tool result',
    '',
    [{ role: 'tool', toolCallId: 'of the usual length', text: 'sunny', isError: false }],
    [],
    3 + 4 + 5,
  ],
  [
    'ids that are text: too long to be ids',
    '',
    [
      {
        role: 'assistant',
        reasoning: '',
        text: '',
        toolCalls: [{ id: 'x'.repeat(65), name: 'f', arguments: '' }],
      },
      { role: 'tool', toolCallId: 'x'.repeat(65), text: '', isError: false },
    ],
    [],
    3 + 4 + 6 + 1 + 65 + 4 + 65,
  ],
  [
    'a tool: name, description and schema',
    '',
    [],
    [{ name: 'f', description: 'does', parameters: { type: 'object' } }],
    3 + 8 + 1 + 4 + '{"type":"object"}'.length,
  ],
  ['a tool without a description', '', [], [{ name: 'f', parameters: {} }], 3 + 8 + 1 + 2],
])('%s', async (_name, system, turns, tools, expected) => {
  expect(await estimate(system, turns, tools)).toBe(tokenCount(expected));
});

test.each<[string, Parameters<typeof estimatePrompt>[0], number]>([
  [
    'speakers, with their names',
    {
      system: '',
      turns: [
        { role: 'user', name: 'Bob', parts: [{ kind: 'text', text: 'Q' }] },
        { role: 'assistant', name: 'Eve', reasoning: '', text: 'A', toolCalls: [] },
      ],
      tools: [],
    },
    3 + 4 + 5 + 4 + 5,
  ],
  [
    'JSON, with the instructions about it',
    { system: '', turns: [], tools: [], json: true },
    3 + 4 + formatInstruction({ json: true }).length,
  ],
  [
    'a schema for the answer',
    { system: 'abc', turns: [], tools: [], json: true, schema: SCHEMA },
    3 + 4 + 3 + formatInstruction({ json: true, schema: SCHEMA }).length,
  ],
])('%s', async (_name, request, expected) => {
  expect(await estimatePrompt(request, byLength, perImage)).toBe(tokenCount(expected));
});

test('a count that comes later counts the same', async () => {
  const turns = [user('hello'), user('there')];
  const request = { system: 'abc', turns, tools: [] };
  const later = await estimatePrompt(request, async (texts) => texts.join('').length, perImage);
  expect(later).toBe(await estimatePrompt(request, byLength, perImage));
});

test('one more turn is never less', async () => {
  const texts = fc.array(fc.string(), { maxLength: 8 });
  await fc.assert(
    fc.asyncProperty(texts, fc.string(), async (before, more) => {
      const shorter = await estimate('', before.map(user));
      const longer = await estimate('', [...before, more].map(user));
      expect(longer).toBe(tokenCount(shorter + 4 + more.length));
    }),
  );
});
