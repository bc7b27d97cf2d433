import { describe, expect, test } from 'bun:test';
import type { Answer, Receipt } from '../../../src/core/generation.ts';
import { chatFormat } from '../../../src/wire/chat/format.ts';
import { HEAD, RECEIPT, USAGE_JSON } from './fixtures.ts';

const EMPTY: Answer = { reasoning: '', text: '', toolCalls: [], finish: 'stop' };

function encode(answer: Partial<Answer>, receipt: Receipt = RECEIPT): unknown {
  return JSON.parse(chatFormat.response(HEAD, { ...EMPTY, ...answer }, receipt));
}

function expected(message: object, finishReason: string): object {
  return {
    id: 'chatcmpl-abc123',
    object: 'chat.completion',
    created: 1_700_000_000,
    model: 'swift-1',
    choices: [
      {
        index: 0,
        message: { role: 'assistant', refusal: null, ...message },
        logprobs: null,
        finish_reason: finishReason,
      },
    ],
    usage: USAGE_JSON,
    system_fingerprint: 'fp_tollgate',
  };
}

describe('a whole chat answer', () => {
  test('holds the text and every counter', () => {
    expect(encode({ text: 'Hello.' })).toEqual(expected({ content: 'Hello.' }, 'stop'));
  });

  test('is an empty text where the model said nothing', () => {
    expect(encode({})).toEqual(expected({ content: '' }, 'stop'));
  });

  test('has reasoning only where there is some', () => {
    expect(encode({ text: 'Hello.', reasoning: 'Hm.', finish: 'content_filter' })).toEqual(
      expected({ content: 'Hello.', reasoning_content: 'Hm.' }, 'content_filter'),
    );
  });

  test('has the text of a custom call', () => {
    const toolCalls = [
      { id: 'call_1', name: 'patch', arguments: '{"input":"a\\nb"}' },
      { id: 'call_2', name: 'f', arguments: '{"input":"x"}' },
    ];
    const head = { ...HEAD, customTools: ['patch'] };
    const answer = { ...EMPTY, toolCalls, finish: 'tool_calls' } as const;
    const calls = [
      { id: 'call_1', type: 'custom', custom: { name: 'patch', input: 'a\nb' } },
      { id: 'call_2', type: 'function', function: { name: 'f', arguments: '{"input":"x"}' } },
    ];
    expect(JSON.parse(chatFormat.response(head, answer, RECEIPT))).toEqual(
      expected({ content: null, tool_calls: calls }, 'tool_calls'),
    );
  });

  test('has null content beside tool calls alone, whose arguments stay as they were', () => {
    const toolCalls = [
      { id: 'call_1', name: 'f', arguments: '{"2":1,"1":12345678901234567890}' },
      { id: 'call_2', name: 'g', arguments: '' },
    ];
    const calls = [
      {
        id: 'call_1',
        type: 'function',
        function: { name: 'f', arguments: '{"2":1,"1":12345678901234567890}' },
      },
      { id: 'call_2', type: 'function', function: { name: 'g', arguments: '{}' } },
    ];
    expect(encode({ toolCalls, finish: 'tool_calls' })).toEqual(
      expected({ content: null, tool_calls: calls }, 'tool_calls'),
    );
    expect(encode({ text: 'Look:', toolCalls, finish: 'tool_calls' })).toEqual(
      expected({ content: 'Look:', tool_calls: calls }, 'tool_calls'),
    );
  });

  test('ends for its length when the balance stopped it', () => {
    expect(encode({ text: 'Hel' }, { ...RECEIPT, outcome: 'stopped_balance' })).toEqual(
      expected({ content: 'Hel' }, 'length'),
    );
  });
});
