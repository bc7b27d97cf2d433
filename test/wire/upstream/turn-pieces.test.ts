// A turn is put back into the order of its answer, and never loses text or calls, even if the client
// has changed it.

import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import type { AssistantTurn, ThinkingBlock } from '../../../src/core/generation.ts';
import { AnswerBlocks } from '../../../src/wire/upstream/answer-blocks.ts';
import { ownThinking, piecesOf } from '../../../src/wire/upstream/turn-pieces.ts';
import { assistant, requestWith } from '../../support/request.ts';
import { CALL, result, user, write } from './messages/support.ts';

const calls = (count: number) =>
  Array.from({ length: count }, (_, at) => ({ id: `c${at}`, name: 'f', arguments: `{"n":${at}}` }));
const thought = (text: string) => ({ kind: 'thinking', text, signature: 's' }) as const;

describe('a mixed turn', () => {
  const blocks: readonly ThinkingBlock[] = [
    thought('1'),
    { kind: 'text', length: 2 },
    { kind: 'redacted', data: 'd' },
    { kind: 'call' },
    thought('2'),
  ];
  const turn = assistant('ABCD', { toolCalls: calls(2) });

  test('comes back in its order, with what is left behind it', () => {
    const [first, second] = turn.toolCalls;
    expect(piecesOf(turn, blocks)).toEqual([
      { kind: 'thinking', block: thought('1') },
      { kind: 'text', text: 'AB', phase: undefined },
      { kind: 'thinking', block: { kind: 'redacted', data: 'd' } },
      { kind: 'call', call: first as never, signature: undefined },
      { kind: 'thinking', block: thought('2') },
      { kind: 'text', text: 'CD' },
      { kind: 'call', call: second as never },
    ]);
  });

  test('is written in that order', () => {
    const signed = { upstream: 'here', model: 'upstream-model', blocks };
    const turns = [user('Hi'), { ...turn, signed }, result('c0', 'x'), result('c1', 'y')];
    const tools = [{ name: 'f', parameters: {} }];
    const text = write({ turns, tools, reasoning: 'on' }, { thinkingSwitch: 'adaptive' });
    expect(JSON.parse(String(text)).messages[1].content).toEqual([
      { type: 'thinking', thinking: '1', signature: 's' },
      { type: 'text', text: 'AB' },
      { type: 'redacted_thinking', data: 'd' },
      { type: 'tool_use', id: 'c0', name: 'f', input: { n: 0 } },
      { type: 'thinking', thinking: '2', signature: 's' },
      { type: 'text', text: 'CD' },
      { type: 'tool_use', id: 'c1', name: 'f', input: { n: 1 } },
    ]);
  });

  test('whose text or calls are fewer than the marks has none', () => {
    expect(piecesOf({ text: 'A', toolCalls: calls(2) }, blocks)).toBeUndefined();
    expect(piecesOf({ text: 'ABCD', toolCalls: [] }, blocks)).toBeUndefined();
  });

  test('whose mark would cut a character has none', () => {
    expect(piecesOf({ text: 'A😀', toolCalls: calls(1) }, blocks)).toBeUndefined();
  });
});

describe('thinking', () => {
  test('belongs to the upstream and the model that have made it', () => {
    const blocks = [thought('1')];
    const of = (upstream: string, model?: string) =>
      ownThinking(
        assistant('A', { signed: { upstream, blocks, ...(model === undefined ? {} : { model }) } }),
        CALL,
      );
    expect(of('here', 'upstream-model')).toEqual(blocks);
    expect(of('here')).toEqual(blocks);
    expect([
      of('here', 'x'),
      of('there', 'upstream-model'),
      ownThinking(assistant('A'), CALL),
    ]).toEqual([[], [], []]);
  });
});

const word = fc.string({ unit: fc.constantFrom('a', ' ', '\n', '😀', 'é', '"'), maxLength: 6 });
const block: fc.Arbitrary<ThinkingBlock> = fc.oneof(
  fc.record({ kind: fc.constant('thinking' as const), text: word, signature: fc.constant('s') }),
  fc.record({ kind: fc.constant('redacted' as const), data: fc.constant('d') }),
  fc.record({ kind: fc.constant('native' as const), json: fc.constant('{}') }),
  fc.record({ kind: fc.constant('text' as const), length: fc.nat(8) }),
  fc.record({ kind: fc.constant('call' as const) }),
);

describe('laws', () => {
  const turns: fc.Arbitrary<AssistantTurn> = fc
    .record({ text: word, count: fc.nat(3), blocks: fc.array(block, { maxLength: 8 }) })
    .map(({ text, count, blocks }) =>
      assistant(text, {
        toolCalls: calls(count),
        signed: { upstream: 'here', model: 'upstream-model', blocks },
      }),
    );

  test('pieces, where there are any, have all text and all calls in order, and every block', () => {
    fc.assert(
      fc.property(turns, (turn) => {
        const blocks = turn.signed?.blocks ?? [];
        const pieces = piecesOf(turn, blocks);
        if (pieces === undefined) return;
        const text = pieces.map((piece) => (piece.kind === 'text' ? piece.text : '')).join('');
        const called = pieces.flatMap((piece) => (piece.kind === 'call' ? [piece.call] : []));
        const thinking = pieces.flatMap((piece) =>
          piece.kind === 'thinking' ? [piece.block] : [],
        );
        expect({ text, called, thinking }).toEqual({
          text: turn.text,
          called: [...turn.toolCalls],
          thinking: blocks.filter((each) => each.kind !== 'text' && each.kind !== 'call') as never,
        });
      }),
      { numRuns: 2_000 },
    );
  });

  test('a request has the text and the calls of each turn, for any marks', () => {
    fc.assert(
      fc.property(turns, (turn) => {
        const results = turn.toolCalls.map(({ id }) => result(id, 'x'));
        const request = requestWith({
          turns: [user('Hi'), turn, ...results, user('B')],
          tools: [{ name: 'f', parameters: {} }],
          reasoning: 'on',
        });
        const { messages } = JSON.parse(String(write(request, { thinkingSwitch: 'adaptive' })));
        const said = messages
          .filter(({ role }: { role: string }) => role === 'assistant')
          .flatMap(({ content }: { content: { type: string }[] }) => content);
        const of = (type: string) => said.filter((each: { type: string }) => each.type === type);
        const written = of('text').map(({ text }: { text: string }) => text);
        // A piece of white space alone cannot be sent.
        const visible = (text: string) => text.replace(/\s/g, '');
        expect(visible(written.join(''))).toBe(visible(turn.text));
        expect(of('tool_use').map(({ id }: { id: string }) => id)).toEqual(
          turn.toolCalls.map(({ id }) => id),
        );
      }),
      { numRuns: 1_000 },
    );
  });

  test('what an answer has collected fits the turn that it becomes', () => {
    type Part = { readonly kind: 'thinking' | 'redacted' | 'text' | 'call'; readonly text: string };
    const parts: fc.Arbitrary<Part[]> = fc.array(
      fc.record({
        kind: fc.constantFrom('thinking', 'redacted', 'text', 'call'),
        text: word.filter((each) => each !== ''),
      }),
      { maxLength: 10 },
    );
    fc.assert(
      fc.property(parts, (answer) => {
        const collected = new AnswerBlocks();
        for (const { kind, text } of answer) {
          if (kind === 'text') collected.text(text.length);
          else if (kind === 'call') collected.call();
          else if (kind === 'redacted') collected.addRedacted(text);
          else {
            const thought = collected.begin();
            collected.addText(thought, text);
            collected.sign(thought, 's');
          }
        }
        const text = answer.map((part) => (part.kind === 'text' ? part.text : '')).join('');
        const count = answer.filter(({ kind }) => kind === 'call').length;
        const pieces = piecesOf({ text, toolCalls: calls(count) }, collected.blocks() ?? []) ?? [];
        const thinks = answer.some(({ kind }) => kind === 'thinking' || kind === 'redacted');
        // Consecutive texts are one; without thinking, the calls follow the text.
        const order = answer.map(({ kind }) => (kind === 'redacted' ? 'thinking' : kind));
        const last = order.lastIndexOf('thinking');
        const ordered = [
          ...order.slice(0, last + 1),
          ...order.slice(last + 1).filter((kind) => kind === 'text'),
          ...order.slice(last + 1).filter((kind) => kind === 'call'),
        ];
        const merged = ordered.filter((kind, at) => kind !== 'text' || ordered[at - 1] !== 'text');
        expect(pieces.map(({ kind }) => kind)).toEqual(merged);
        expect(collected.blocks() !== undefined).toBe(thinks);
      }),
      { numRuns: 1_000 },
    );
  });

  test('thinking with an unsigned part, or too long to keep, is not kept at all', () => {
    const unsigned = new AnswerBlocks();
    unsigned.sign(unsigned.begin(), 's');
    unsigned.addText(unsigned.begin(), 'lost');
    expect(unsigned.blocks()).toBeUndefined();
    const long = new AnswerBlocks();
    const thought = long.begin();
    long.sign(thought, 's');
    for (let piece = 0; piece < 100; piece += 1) long.addText(thought, 'x'.repeat(100_000));
    expect(long.blocks()).toBeUndefined();
  });
});
