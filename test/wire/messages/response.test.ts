// Whole answers in the Messages format, compared as whole objects.

import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import type { Answer, FinishReason, Outcome, ToolCall } from '../../../src/core/generation.ts';
import { messagesFormat } from '../../../src/wire/messages/format.ts';
import { HEAD, jsonObjectText, RECEIPT, SIGNATURE, USAGE_JSON } from './fixtures.ts';

const CALL: ToolCall = { id: 'call_1', name: 'f', arguments: '{"a":1}' };
const EMPTY: Answer = { reasoning: '', text: '', toolCalls: [], finish: 'stop' };

function message(content: unknown[], stopReason: string): object {
  return {
    id: 'msg_abc123',
    type: 'message',
    role: 'assistant',
    model: 'swift-1',
    content,
    stop_reason: stopReason,
    stop_sequence: null,
    usage: USAGE_JSON,
  };
}

function respond(answer: Partial<Answer>, head = HEAD, outcome: Outcome = 'completed'): unknown {
  const receipt = { ...RECEIPT, outcome };
  return JSON.parse(messagesFormat.response(head, { ...EMPTY, ...answer }, receipt));
}

const TEXT = { type: 'text', text: 'Hi' };
const THINKING = { type: 'thinking', thinking: 'Hm', signature: SIGNATURE };
const TOOL_USE = { type: 'tool_use', id: 'call_1', name: 'f', input: { a: 1 } };

describe('a whole answer', () => {
  test.each<[name: string, answer: Partial<Answer>, expected: object]>([
    ['nothing', {}, message([], 'end_turn')],
    ['text', { text: 'Hi' }, message([TEXT], 'end_turn')],
    [
      'everything',
      {
        reasoning: 'Hm',
        text: 'Hi',
        toolCalls: [CALL, { ...CALL, id: 'a b', arguments: '' }],
        finish: 'tool_calls',
      },
      message(
        [THINKING, TEXT, TOOL_USE, { ...TOOL_USE, id: 'toolu_xYSBi', input: {} }],
        'tool_use',
      ),
    ],
    ['blank lines alone', { text: '\n\n' }, message([{ type: 'text', text: '\n\n' }], 'end_turn')],
    [
      'blank lines before a call',
      { text: '\n\n', toolCalls: [CALL] },
      message([TOOL_USE], 'tool_use'),
    ],
  ])('of %s', (_name, answer, expected) => {
    expect(respond(answer)).toEqual(expected);
  });

  test('shows no thinking where it was turned off', () => {
    const head = { ...HEAD, showReasoning: false };
    expect(respond({ reasoning: 'Hm', text: 'Hi' }, head)).toEqual(message([TEXT], 'end_turn'));
  });

  test('marks hidden thinking with a block that has a signature and no text', () => {
    const head = { ...HEAD, showReasoning: false, marksThinking: true };
    const block = { type: 'thinking', thinking: '', signature: expect.stringMatching(/./) };
    expect(respond({ reasoning: 'Hm', text: 'Hi' }, head)).toEqual(
      message([block, TEXT], 'end_turn'),
    );
    expect(respond({ text: 'Hi' }, head)).toEqual(message([TEXT], 'end_turn'));
  });

  test('keeps the bytes of tool inputs', () => {
    fc.assert(
      fc.property(jsonObjectText, (text) => {
        const toolCalls = [{ ...CALL, arguments: text }];
        const body = messagesFormat.response(HEAD, { ...EMPTY, toolCalls }, RECEIPT);
        JSON.parse(body);
        expect(body).toContain(`"name":"f","input":${text}}]`);
      }),
    );
  });
});

const CALLS = {
  'no call': [],
  'a whole call': [CALL],
  'a torn call': [CALL, { ...CALL, arguments: '{"a":' }],
  'a call without arguments': [{ ...CALL, arguments: '' }],
};

describe('the stop reason', () => {
  test.each<[FinishReason, keyof typeof CALLS, Outcome, string]>([
    ['stop', 'no call', 'completed', 'end_turn'],
    ['stop', 'a whole call', 'completed', 'tool_use'],
    ['stop', 'a call without arguments', 'completed', 'tool_use'],
    ['tool_calls', 'a whole call', 'completed', 'tool_use'],
    ['tool_calls', 'no call', 'completed', 'end_turn'],
    ['stop', 'a torn call', 'completed', 'max_tokens'],
    ['tool_calls', 'a torn call', 'completed', 'max_tokens'],
    ['length', 'no call', 'completed', 'max_tokens'],
    ['length', 'a whole call', 'completed', 'tool_use'],
    ['length', 'a torn call', 'completed', 'max_tokens'],
    ['length', 'a call without arguments', 'completed', 'max_tokens'],
    ['content_filter', 'no call', 'completed', 'end_turn'],
    ['content_filter', 'a whole call', 'completed', 'end_turn'],
    ['insufficient_system_resource', 'no call', 'completed', 'end_turn'],
    ['stop', 'no call', 'stopped_balance', 'max_tokens'],
    ['tool_calls', 'a whole call', 'stopped_balance', 'max_tokens'],
  ])('of %s with %s, %s, is %s', (finish, calls, outcome, reason) => {
    const toolCalls = CALLS[calls];
    expect(respond({ finish, toolCalls }, HEAD, outcome)).toMatchObject({ stop_reason: reason });
  });
});
