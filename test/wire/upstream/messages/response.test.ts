// Whole Messages answers, and the law that a streamed answer folds to the same result.

import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { isFailure } from '../../../../src/core/failure.ts';
import { Fold } from '../../../../src/core/fold.ts';
import type { Answer, ThinkingBlock } from '../../../../src/core/generation.ts';
import { ANSWER_BYTES_MAX } from '../../../../src/wire/upstream/limits.ts';
import { jsonObjectText } from '../../messages/fixtures.ts';
import { testRecordedBodies } from '../recorded.ts';
import { splitAt } from '../support.ts';
import { decodeReads, readMessagesResponse } from './support.ts';

testRecordedBodies('upstream-messages', (bytes) =>
  readMessagesResponse(new TextDecoder().decode(bytes)),
);

type Block =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'tool_use'; readonly id: string; readonly name: string; readonly json: string }
  | { readonly type: 'thinking'; readonly thinking: string; readonly signature: string }
  | { readonly type: 'redacted_thinking'; readonly data: string }
  | { readonly type: 'server_tool_use'; readonly input: object };

type Message = { readonly blocks: readonly Block[]; readonly counts: readonly number[] };

const words = fc.string({ unit: 'grapheme', maxLength: 20 });
const block: fc.Arbitrary<Block> = fc.oneof(
  words.map((text) => ({ type: 'text' as const, text })),
  fc.record({ thinking: words, signature: fc.constantFrom('', 'c2ln') }).map((rest) => ({
    type: 'thinking' as const,
    ...rest,
  })),
  fc.constant({ type: 'redacted_thinking' as const, data: 'c2Vh' }),
  fc.constant({ type: 'server_tool_use' as const, input: { a: 1 } }),
  fc
    .record({
      id: fc.constantFrom('a', 'b', ''),
      name: fc.constantFrom('f', 'g'),
      json: jsonObjectText,
    })
    .map((rest) => ({ type: 'tool_use' as const, ...rest })),
);
const messages: fc.Arbitrary<Message> = fc.record({
  blocks: fc.array(block, { maxLength: 6 }),
  counts: fc.array(fc.nat(1_000), { minLength: 4, maxLength: 4 }),
});

const usageOf = ([input, read, creation, output]: readonly number[]): object => ({
  input_tokens: input,
  cache_read_input_tokens: read,
  cache_creation_input_tokens: creation,
  output_tokens: output,
});
const reasonOf = ({ blocks }: Message): string => {
  return blocks.some((part) => part.type === 'tool_use') ? 'tool_use' : 'end_turn';
};

function writeBlock(part: Block): string {
  if (part.type !== 'tool_use') return JSON.stringify(part);
  const { json, ...rest } = part;
  return `${JSON.stringify(rest).slice(0, -1)},"input":${json}}`;
}

function renderWhole(message: Message): string {
  const content = message.blocks.map(writeBlock).join(',');
  return `{"id":"m","content":[${content}],"stop_reason":"${reasonOf(message)}","usage":${JSON.stringify(usageOf(message.counts))}}`;
}

/** `lengths` say how the texts are cut into pieces. */
function renderStream(message: Message, lengths: Iterator<number>): string {
  const cut = (whole: string): string[] => {
    const characters = Array.from(whole);
    const parts: string[] = [];
    while (characters.length > 0) {
      parts.push(characters.splice(0, (lengths.next().value ?? 0) + 1).join(''));
    }
    return parts;
  };
  const deltas = (part: Block): object[] => {
    switch (part.type) {
      case 'text':
        return cut(part.text).map((text) => ({ type: 'text_delta', text }));
      case 'thinking':
        return [
          ...cut(part.thinking).map((thinking) => ({ type: 'thinking_delta', thinking })),
          { type: 'signature_delta', signature: part.signature },
        ];
      case 'tool_use':
        return cut(part.json).map((piece) => ({ type: 'input_json_delta', partial_json: piece }));
      case 'server_tool_use':
        return [{ type: 'input_json_delta', partial_json: '{}' }];
      case 'redacted_thinking':
        return [];
    }
  };
  const start = (part: Block): object => {
    switch (part.type) {
      case 'text':
        return { type: 'text', text: '' };
      case 'thinking':
        return { type: 'thinking', thinking: '', signature: '' };
      case 'tool_use':
        return { type: 'tool_use', id: part.id, name: part.name, input: {} };
      default:
        return part;
    }
  };
  const [input = 0, read = 0, creation = 0] = message.counts;
  const events = [
    { type: 'message_start', message: { id: 'm', usage: usageOf([input, read, creation, 1]) } },
    ...message.blocks.flatMap((part, index) => [
      { type: 'content_block_start', index, content_block: start(part) },
      ...deltas(part).map((delta) => ({ type: 'content_block_delta', index, delta })),
      { type: 'content_block_stop', index },
    ]),
    {
      type: 'message_delta',
      delta: { stop_reason: reasonOf(message) },
      usage: { output_tokens: message.counts[3] },
    },
    { type: 'message_stop' },
  ];
  return events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join('');
}

/** What a message says, read off its blocks; ids only where the upstream's own are usable. */
function expected({ blocks, counts }: Message): Omit<Answer, 'toolCalls'> {
  const joined = (type: 'text' | 'thinking'): string => {
    return blocks
      .map((part) => (part.type === type && type in part ? toText(part, type) : ''))
      .join('');
  };
  const thinking = listed(blocks);
  const firstText = blocks.findIndex((part) => toText(part, 'text').trim() !== '');
  const leading = blocks.slice(0, firstText).map((part) => toText(part, 'thinking'));
  const isLate = firstText !== -1 && leading.join('') !== joined('thinking');
  const [input = 0, read = 0, creation = 0, output = 0] = counts;
  return {
    reasoning: joined('thinking'),
    text: joined('text'),
    finish: blocks.some((part) => part.type === 'tool_use') ? 'tool_calls' : 'stop',
    usage: {
      inputTokens: input + read + creation,
      cachedInputTokens: read,
      cacheWriteTokens: creation,
      outputTokens: output,
      reasoningTokens: 0,
      basis: 'reported',
    },
    rawUsage: JSON.stringify(usageOf(counts)),
    ...(isLate && { leadingReasoning: leading.join('').length }),
    ...(thinking === undefined ? {} : { thinking }),
  };
}

/** Thinking, with marks for text and calls before its last block; only if all of it was signed. */
function listed(blocks: readonly Block[]): readonly ThinkingBlock[] | undefined {
  const list: ThinkingBlock[] = [];
  const said = blocks.filter((part) =>
    part.type === 'text' ? part.text !== '' : part.type !== 'server_tool_use',
  );
  for (const [at, part] of said.entries()) {
    const last = said[at - 1]?.type === 'text' ? list.at(-1) : undefined;
    if (part.type === 'redacted_thinking') list.push({ kind: 'redacted', data: part.data });
    else if (part.type === 'tool_use') list.push({ kind: 'call' });
    else if (part.type === 'text' && last?.kind === 'text') {
      list.splice(-1, 1, { kind: 'text', length: last.length + part.text.length });
    } else if (part.type === 'text') {
      list.push({ kind: 'text', length: part.text.length });
    } else if (part.type === 'thinking' && part.thinking + part.signature !== '') {
      if (part.signature === '') return undefined;
      list.push({ kind: 'thinking', text: part.thinking, signature: part.signature });
    }
  }
  const end = list.findLastIndex(({ kind }) => kind !== 'text' && kind !== 'call');
  return end === -1 ? undefined : list.slice(0, end + 1);
}

function toText(part: Block, type: 'text' | 'thinking'): string {
  if (part.type === 'text' && type === 'text') return part.text;
  return part.type === 'thinking' && type === 'thinking' ? part.thinking : '';
}

describe('a whole message and a stream of it', () => {
  test('are read as the same answer, however the stream is cut', () => {
    fc.assert(
      fc.property(messages, fc.infiniteStream(fc.nat(7)), (message, lengths) => {
        const whole = readMessagesResponse(renderWhole(message));
        if (isFailure(whole)) throw new Error(whole.detail);
        const { toolCalls, ...rest } = whole;
        expect(rest).toEqual(expected(message));
        const calls = message.blocks.filter((part) => part.type === 'tool_use');
        // An input without members may have been written in several ways.
        const text = (json: string): string => (/^\{\s*\}$/.test(json) ? '{}' : json);
        expect(toolCalls.map((call) => [call.name, text(call.arguments)])).toEqual(
          calls.map((call) => [call.name, text(call.json)]),
        );
        const bytes = new TextEncoder().encode(renderStream(message, lengths));
        const { events, failure } = decodeReads(splitAt(bytes, [bytes.length >> 1]));
        const fold = new Fold();
        for (const event of events) fold.push(event);
        const streamed = fold.answer();
        expect(failure).toBeUndefined();
        const comparable: Answer = {
          ...streamed,
          toolCalls: streamed.toolCalls.map((call) => ({
            ...call,
            arguments: text(call.arguments),
          })),
        };
        expect(comparable).toEqual(whole);
      }),
      { numRuns: 500 },
    );
  });

  test('any JSON is an answer or a failure, never an exception', () => {
    const part = fc.record(
      {
        type: fc.oneof(fc.constantFrom('text', 'tool_use', 'thinking'), fc.jsonValue()),
        text: fc.jsonValue(),
        name: fc.jsonValue(),
        input: fc.jsonValue(),
      },
      { requiredKeys: [] },
    );
    const body = fc.oneof(
      fc.jsonValue(),
      fc.record({ content: fc.array(fc.oneof(part, fc.jsonValue())), usage: fc.jsonValue() }),
    );
    fc.assert(
      fc.property(body, (value) => {
        const answer = readMessagesResponse(JSON.stringify(value));
        expect(isFailure(answer) || typeof answer.text === 'string').toBe(true);
      }),
      { numRuns: 1_000 },
    );
  });

  test('a body above the limit is not parsed', () => {
    expect(readMessagesResponse(' '.repeat(ANSWER_BYTES_MAX + 1))).toEqual({
      class: 'malformed',
      detail: 'the upstream sent more than 16777216 bytes',
    });
  });

  test('depth alone is no harm', () => {
    const deep = `${'['.repeat(900)}${']'.repeat(900)}`;
    const call = `{"type":"tool_use","id":"a","name":"f","input":${deep}}`;
    expect(readMessagesResponse(`{"content":[${call}],"stop_reason":"tool_use"}`)).toEqual({
      reasoning: '',
      text: '',
      toolCalls: [{ id: 'a', name: 'f', arguments: deep }],
      finish: 'tool_calls',
    });
  });
});
