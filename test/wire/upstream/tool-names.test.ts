// Names of tools that an upstream would refuse are shortened for it, and restored in its answers.

import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { DEFAULT_PROFILE } from '../../../src/core/profile.ts';
import { dialectOf } from '../../../src/wire/upstream/dialect.ts';
import { CALL, REQUEST } from './chat/request-support.ts';
import { decodeWith } from './support.ts';

const LONG = `mcp__plugin_chrome-devtools-mcp_chrome-devtools__performance_analyze_insight`;
const DOTTED = 'fs.read file';

const chat = () => dialectOf(DEFAULT_PROFILE.chat);
const messages = () => dialectOf(DEFAULT_PROFILE.messages);

function requestWith(names: readonly string[], chosen?: string) {
  return {
    ...REQUEST,
    tools: names.map((name) => ({ name, parameters: { type: 'object' } })),
    turns: [
      ...REQUEST.turns,
      {
        role: 'assistant' as const,
        reasoning: '',
        text: '',
        toolCalls: names.map((name, at) => ({ id: `call_${at}`, name, arguments: '{}' })),
      },
      ...names.map((_, at) => ({
        role: 'tool' as const,
        toolCallId: `call_${at}`,
        text: 'ok',
        isError: false,
      })),
    ],
    ...(chosen !== undefined && { toolChoice: { kind: 'tool' as const, name: chosen } }),
  };
}

/** The names of the tools, of the calls, and of the choice. */
function namesIn(body: unknown): readonly string[] {
  const text = String(body);
  return [...text.matchAll(/"name":"([^"]*)"/g)].map(([, name]) => name ?? '');
}

test('a name that is too long or has other characters is the same short one everywhere', () => {
  const names = namesIn(chat().request(requestWith([LONG, DOTTED, 'plain'], DOTTED), CALL));
  expect(names).toHaveLength(7);
  expect(new Set(names).size).toBe(3);
  for (const name of names) expect(name).toMatch(/^[A-Za-z0-9_-]{1,64}$/);
  expect(names).toContain('plain');
  expect(names.find((name) => name.startsWith('mcp__plugin_chrome-devtools'))).toHaveLength(64);
  expect(names.filter((name) => name.startsWith('fs_read_file_'))).toHaveLength(3);
  const again = chat().request(requestWith([LONG, DOTTED, 'plain'], DOTTED), CALL);
  expect(namesIn(again)).toEqual(names);
});

test('Messages upstreams take 128 characters', () => {
  const names = namesIn(messages().request(requestWith([LONG, DOTTED]), CALL));
  expect(names.filter((name) => name === LONG)).toHaveLength(2);
  expect(names.filter((name) => name.startsWith('fs_read_file_'))).toHaveLength(2);
});

test('law: names that fit stay, others fit afterwards, and different ones stay different', () => {
  const name = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 128 });
  fc.assert(
    fc.property(fc.uniqueArray(name, { minLength: 1, maxLength: 8 }), (given) => {
      const body = JSON.parse(String(chat().request(requestWith(given), CALL))) as {
        tools: readonly { function: { name: string } }[];
      };
      const sent = body.tools.map((tool) => tool.function.name);
      expect(new Set(sent).size).toBe(given.length);
      for (const [at, short] of sent.entries()) {
        expect(short).toMatch(/^[A-Za-z0-9_-]{1,64}$/);
        if (/^[A-Za-z0-9_-]{1,64}$/.test(given[at] ?? '')) expect(short).toBe(given[at] ?? '');
      }
    }),
  );
});

function callOf(name: string) {
  return { id: 'call_9', type: 'function', function: { name, arguments: '{}' } };
}

test('an answer has the name that the client gave, whole and streamed', () => {
  const dialect = chat();
  const [short = ''] = namesIn(dialect.request(requestWith([LONG]), CALL));
  expect(short).not.toBe(LONG);
  const message = { role: 'assistant', content: null, tool_calls: [callOf(short)] };
  const whole = dialect.response(
    JSON.stringify({ choices: [{ index: 0, message, finish_reason: 'tool_calls' }] }),
  );
  expect(whole).toMatchObject({ toolCalls: [{ name: LONG, arguments: '{}' }] });
  const delta = { tool_calls: [{ index: 0, ...callOf(short) }] };
  const chunk = { choices: [{ index: 0, delta, finish_reason: 'tool_calls' }] };
  const { events } = decodeWith(dialect, `data: ${JSON.stringify(chunk)}\n\ndata: [DONE]\n\n`);
  expect(events[0]).toMatchObject({ kind: 'tool-start', name: LONG });
  expect(events.at(-1)).toMatchObject({ kind: 'finish', reason: 'tool_calls' });
});

test('a name that the model makes up is passed on', () => {
  const dialect = chat();
  dialect.request(requestWith([LONG]), CALL);
  const message = { role: 'assistant', content: null, tool_calls: [callOf('other')] };
  const whole = dialect.response(JSON.stringify({ choices: [{ index: 0, message }] }));
  expect(whole).toMatchObject({ toolCalls: [{ name: 'other' }] });
});
