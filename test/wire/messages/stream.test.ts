// Streams in the Messages format: recordings of whole streams, and the laws that every client
// depends on, for any upstream.

import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { GatewayError } from '../../../src/core/error.ts';
import { answerEvents, Fold } from '../../../src/core/fold.ts';
import type { FinishReason, GenerationEvent, Receipt } from '../../../src/core/generation.ts';
import { messagesFormat } from '../../../src/wire/messages/format.ts';
import { encodeToolId } from '../../../src/wire/messages/tool-id.ts';
import { messageStart } from '../../support/message-start.ts';
import { parseEvents } from '../../support/sse.ts';
import { HEAD, jsonObjectText, RECEIPT, SIGNATURE, USAGE_JSON } from './fixtures.ts';

const START = messageStart('msg_abc123', 'swift-1');

type Json = Record<string, unknown>;

/** The data of every event; the event line has to say the same as the data's type. */
function read(text: string): Json[] {
  return parseEvents(text).map((event) => {
    expect(String(event.json?.['type'])).toBe(event.event);
    return event.json ?? {};
  });
}

function encode(
  events: readonly GenerationEvent[],
  head = HEAD,
  receipt: Receipt = RECEIPT,
): Json[] {
  const stream = messagesFormat.stream(head);
  return read(stream.start() + events.map(stream.push).join('') + stream.finish(receipt));
}

function reasoning(text: string): GenerationEvent {
  return { kind: 'reasoning-delta', text };
}

function text(value: string): GenerationEvent {
  return { kind: 'text-delta', text: value };
}

function start(index: number, id = `call_${index}`): GenerationEvent {
  return { kind: 'tool-start', index, id, name: `f${index}` };
}

function args(index: number, json: string): GenerationEvent {
  return { kind: 'tool-delta', index, json };
}

function finish(reason: FinishReason): GenerationEvent {
  return { kind: 'finish', reason };
}

const EMPTY_BLOCKS: Record<string, object> = {
  text: { type: 'text', text: '' },
  thinking: { type: 'thinking', thinking: '', signature: '' },
};

const DELTA_FIELDS: Record<string, string> = {
  text_delta: 'text',
  thinking_delta: 'thinking',
  signature_delta: 'signature',
  input_json_delta: 'partial_json',
};

function opened(index: number, block: object): Json {
  return { type: 'content_block_start', index, content_block: block };
}

function delta(index: number, type: string, value: string): Json {
  const field = DELTA_FIELDS[type] ?? '';
  return { type: 'content_block_delta', index, delta: { type, [field]: value } };
}

function textBlock(index: number, ...pieces: string[]): Json[] {
  const deltas = pieces.map((piece) => delta(index, 'text_delta', piece));
  return [opened(index, EMPTY_BLOCKS['text'] ?? {}), ...deltas, stopped(index)];
}

function thinkingBlock(index: number, ...pieces: string[]): Json[] {
  const deltas = pieces.map((piece) => delta(index, 'thinking_delta', piece));
  const signature = delta(index, 'signature_delta', SIGNATURE);
  return [opened(index, EMPTY_BLOCKS['thinking'] ?? {}), ...deltas, signature, stopped(index)];
}

function toolBlock(index: number, call: number, ...pieces: string[]): Json[] {
  const block = { type: 'tool_use', id: `call_${call}`, name: `f${call}`, input: {} };
  const deltas = pieces.map((piece) => delta(index, 'input_json_delta', piece));
  return [opened(index, block), ...deltas, stopped(index)];
}

function stopped(index: number): Json {
  return { type: 'content_block_stop', index };
}

function ended(reason: string, outcome = 'completed'): Json[] {
  const usage = {
    ...USAGE_JSON,
    svc_balance_tokens: '987.5',
    svc_fallback_used: true,
    svc_outcome: outcome,
  };
  return [
    { type: 'message_delta', delta: { stop_reason: reason, stop_sequence: null }, usage },
    { type: 'message_stop' },
  ];
}

const USAGE: GenerationEvent = { kind: 'usage', usage: RECEIPT.usage };

type Row = [name: string, events: GenerationEvent[], blocks: Json[], reason: string];

const ROWS: Row[] = [
  ['nothing', [finish('stop')], [], 'end_turn'],
  [
    'text',
    [text('Hel'), text(''), text('lo'), finish('stop')],
    textBlock(0, 'Hel', 'lo'),
    'end_turn',
  ],
  ['usage after the finish', [text('A'), finish('length'), USAGE], textBlock(0, 'A'), 'max_tokens'],
  [
    'reasoning, text and two calls',
    [
      reasoning('a'),
      reasoning('b'),
      text('T'),
      start(0),
      args(0, '{"x":'),
      args(0, '1}'),
      start(1),
      args(1, '{}'),
      finish('tool_calls'),
    ],
    [
      ...thinkingBlock(0, 'a', 'b'),
      ...textBlock(1, 'T'),
      ...toolBlock(2, 0, '{"x":', '1}'),
      ...toolBlock(3, 1, '{}'),
    ],
    'tool_use',
  ],
  [
    'reasoning, then a call',
    [reasoning('a'), start(0), args(0, '{}'), finish('stop')],
    [...thinkingBlock(0, 'a'), ...toolBlock(1, 0, '{}')],
    'tool_use',
  ],
  [
    'late reasoning',
    [text('A'), reasoning('b'), text('C'), finish('stop')],
    textBlock(0, 'A', 'C'),
    'end_turn',
  ],
  [
    'reasoning between calls, and behind text that waits for one',
    [
      ...[start(0), args(0, '{}'), reasoning('a'), start(1), args(1, '{'), text('T')],
      ...[reasoning('b'), args(1, '}'), finish('stop')],
    ],
    [
      ...toolBlock(0, 0, '{}'),
      ...thinkingBlock(1, 'a'),
      ...toolBlock(2, 1, '{', '}'),
      ...textBlock(3, 'T'),
    ],
    'tool_use',
  ],
  [
    'reasoning inside a call',
    [start(0), args(0, '{"a"'), reasoning('b'), reasoning('c'), args(0, ':1}'), finish('stop')],
    [...toolBlock(0, 0, '{"a"', ':1}'), ...thinkingBlock(1, 'bc')],
    'tool_use',
  ],
  [
    'blank lines before reasoning',
    [text('\n\n'), reasoning('a'), text('\n'), text('T'), finish('stop')],
    [...thinkingBlock(0, 'a'), ...textBlock(1, '\n\n\nT')],
    'end_turn',
  ],
  [
    'blank lines before a call',
    [text('\n\n'), start(0), args(0, '{}'), text('\n'), finish('tool_calls')],
    toolBlock(0, 0, '{}'),
    'tool_use',
  ],
  ['blank lines alone', [text('\n'), text(' '), finish('stop')], textBlock(0, '\n '), 'end_turn'],
  [
    'interleaved calls',
    [
      start(0),
      args(0, '{"a"'),
      start(1),
      args(1, '{"b"'),
      args(0, ':1}'),
      args(1, ':2}'),
      start(2),
      finish('tool_calls'),
    ],
    [...toolBlock(0, 0, '{"a"', ':1}'), ...toolBlock(1, 1, '{"b":2}'), ...toolBlock(2, 2)],
    'tool_use',
  ],
  [
    'text between the pieces of a call',
    [start(0), args(0, '{'), text('A'), text('B'), args(0, '}'), finish('stop')],
    [...toolBlock(0, 0, '{', '}'), ...textBlock(1, 'AB')],
    'tool_use',
  ],
  [
    'text behind a whole call',
    [start(0), args(0, '{}'), text('A'), args(0, '\n'), text('B'), finish('stop')],
    [...toolBlock(0, 0, '{}'), ...textBlock(1, 'A', 'B')],
    'tool_use',
  ],
  [
    'blank lines before a call, and text behind it',
    [text('\n'), start(0), args(0, '{}'), text('A'), finish('stop')],
    [...toolBlock(0, 0, '{}'), ...textBlock(1, 'A')],
    'tool_use',
  ],
  [
    'garbage for a call that is over',
    [start(0), args(0, '{}'), start(1), args(1, '{}'), args(0, '"'), finish('length')],
    [...toolBlock(0, 0, '{}'), ...toolBlock(1, 1, '{}')],
    'tool_use',
  ],
  ['a call without arguments', [start(0), finish('tool_calls')], toolBlock(0, 0), 'tool_use'],
  [
    'white space before arguments',
    [start(0), args(0, ' '), args(0, '{'), args(0, '}'), finish('tool_calls')],
    toolBlock(0, 0, ' {', '}'),
    'tool_use',
  ],
  [
    'arguments that were encoded twice',
    [start(0), args(0, '"{\\"a\\"'), args(0, ':1}"'), finish('tool_calls')],
    toolBlock(0, 0, '{"a":1}'),
    'tool_use',
  ],
  [
    'a call that the length limit cut',
    [start(0), args(0, '{"a'), finish('length')],
    toolBlock(0, 0, '{"a'),
    'max_tokens',
  ],
  [
    'a whole call before the length limit',
    [start(0), args(0, '{"a":1}'), finish('length')],
    toolBlock(0, 0, '{"a":1}'),
    'tool_use',
  ],
  ['an unknown index', [args(3, '{}'), finish('stop')], [], 'end_turn'],
];

describe('a stream', () => {
  test.each(ROWS)('of %s', (_name, events, blocks, reason) => {
    expect(encode(events)).toEqual([START, ...blocks, ...ended(reason)]);
  });

  test('of a content filter says so beside the stop reason', () => {
    const [last = {}, stop = {}] = ended('end_turn');
    const refused = { type: 'refusal', category: null, explanation: null };
    const delta = { stop_reason: 'end_turn', stop_sequence: null, stop_details: refused };
    const events = [text('A'), finish('content_filter')];
    expect(encode(events)).toEqual([START, ...textBlock(0, 'A'), { ...last, delta }, stop]);
  });

  test('shows no thinking where it was turned off', () => {
    const events = [reasoning('a'), text('T'), finish('stop')];
    expect(encode(events, { ...HEAD, showReasoning: false })).toEqual([
      START,
      ...textBlock(0, 'T'),
      ...ended('end_turn'),
    ]);
  });

  test('marks hidden thinking with a block that has a signature and no text', () => {
    const events = [reasoning('a'), reasoning('b'), text('T'), reasoning('c'), finish('stop')];
    const head = { ...HEAD, showReasoning: false, marksThinking: true };
    const isThought = (event: { readonly delta?: unknown }) =>
      (event.delta as { readonly type?: string } | undefined)?.type === 'thinking_delta';
    expect(encode(events, head) as object[]).toEqual(
      (encode(events) as object[]).filter((event) => !isThought(event)),
    );
  });

  test('that the balance stopped ends as if by the length limit', () => {
    const receipt: Receipt = { ...RECEIPT, outcome: 'stopped_balance' };
    expect(encode([text('T')], HEAD, receipt)).toEqual([
      START,
      ...textBlock(0, 'T'),
      ...ended('max_tokens', 'stopped_balance'),
    ]);
  });

  test('writes each text at once, in one record of two lines', () => {
    const stream = messagesFormat.stream(HEAD);
    stream.push(text('a'));
    expect(stream.push(text('b\n\nevent: x'))).toBe(
      'event: content_block_delta\ndata: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"b\\n\\nevent: x"}}\n\n',
    );
  });

  test('sends a ping as its heartbeat', () => {
    expect(messagesFormat.stream(HEAD).heartbeat()).toBe('event: ping\ndata: {"type":"ping"}\n\n');
  });
});

const BILL = {
  svc_tokens_debited: '12.5',
  svc_cost_usd: '0.0000125',
  svc_balance_tokens: '987.5',
  svc_outcome: 'upstream_failed',
};

describe('a failed stream', () => {
  const error = new GatewayError('provider_unavailable', { message: 'Gone.' });
  const body = {
    type: 'overloaded_error',
    message: 'Gone.',
    code: 'provider_unavailable',
    request_id: 'req_1',
  };

  test('ends with one error event, which has the bill', () => {
    const stream = messagesFormat.stream(HEAD);
    stream.push(text('a'));
    const receipt: Receipt = { ...RECEIPT, outcome: 'upstream_failed' };
    expect(read(stream.fail(error, receipt))).toEqual([
      { type: 'error', error: { ...body, ...BILL } },
    ]);
  });

  test('has no bill before it is settled', () => {
    const stream = messagesFormat.stream(HEAD);
    expect(read(stream.fail(error, undefined))).toEqual([{ type: 'error', error: body }]);
  });
});

const words = fc.oneof(
  fc.constantFrom('', ' ', '\n\n', '\u2028', 'data: [DONE]\n\n', '"\\'),
  fc.string({ unit: 'binary', maxLength: 5 }),
);

const piece = fc.oneof(
  words,
  fc.constantFrom('{', '}', '{}', '"a":1', '[1]', '"{}"'),
  jsonObjectText,
);

/** Events in any order that the neutral stream allows, arguments sane or not. */
const eventSequence = fc
  .array(
    fc.tuple(
      fc.constantFrom('reasoning', 'text', 'start', 'args', 'usage'),
      piece,
      fc.nat({ max: 9 }),
    ),
    { maxLength: 20 },
  )
  .map((steps) => {
    let calls = 0;
    const events = steps.flatMap(([kind, value, pick]): GenerationEvent[] => {
      if (kind === 'reasoning') return [reasoning(value)];
      if (kind === 'text') return [text(value)];
      if (kind === 'usage') return [USAGE];
      if (kind === 'args') return calls === 0 ? [] : [args(pick % calls, value)];
      calls += 1;
      return [start(calls - 1, `call ${value}`)];
    });
    return [...events, finish('stop')];
  });

type Block = { type: string; id: string; value: string; signatures: number };

/** Reads a stream as strictly as the strictest client. */
function blocksOf(events: readonly Json[]): Block[] {
  const blocks: Block[] = [];
  let open: Block | undefined;
  expect(events[0]).toEqual(START);
  expect(events.slice(-2).map((event) => event['type'])).toEqual(['message_delta', 'message_stop']);
  for (const event of events.slice(1, -2)) {
    if (event['type'] === 'content_block_start') {
      expect(open).toBeUndefined();
      expect(event['index']).toBe(blocks.length);
      const block = event['content_block'] as Json;
      open = { type: String(block['type']), id: String(block['id']), value: '', signatures: 0 };
      blocks.push(open);
      continue;
    }
    expect(event['index']).toBe(blocks.length - 1);
    if (open === undefined) throw new Error('no block is open');
    if (event['type'] === 'content_block_stop') {
      open = undefined;
      continue;
    }
    expect(event['type']).toBe('content_block_delta');
    const change = event['delta'] as Json;
    const type = String(change['type']);
    expect(open.signatures).toBe(0);
    if (type === 'signature_delta') open.signatures += 1;
    else open.value += String(change[DELTA_FIELDS[type] ?? '']);
    const owner = { text_delta: 'text', input_json_delta: 'tool_use' }[type] ?? 'thinking';
    expect(open.type).toBe(owner);
  }
  expect(open).toBeUndefined();
  return blocks;
}

function valuesOf(blocks: readonly Block[], type: string): string {
  return blocks
    .filter((block) => block.type === type)
    .map((block) => block.value)
    .join('');
}

function withoutSpace(value: string): string {
  return value.replace(/\s/g, '');
}

describe('every stream', () => {
  test('is blocks one after the other, with all thinking signed once', () => {
    fc.assert(
      fc.property(eventSequence, (events) => {
        const blocks = blocksOf(encode(events));
        blocks.forEach((block) => {
          if (block.type === 'thinking') expect(block.signatures).toBe(1);
        });
      }),
      { numRuns: 500 },
    );
  });

  test('carries all text, but for white space beside calls', () => {
    fc.assert(
      fc.property(eventSequence, (events) => {
        const fold = new Fold();
        for (const event of events) fold.push(event);
        const answer = fold.answer();
        const carried = valuesOf(blocksOf(encode(events)), 'text');
        expect(withoutSpace(carried)).toBe(withoutSpace(answer.text));
        if (answer.toolCalls.length === 0) expect(carried).toBe(answer.text);
      }),
      { numRuns: 500 },
    );
  });

  test('carries every call once, in order, and all thinking before the text but for white space', () => {
    fc.assert(
      fc.property(eventSequence, (events) => {
        const fold = new Fold();
        for (const event of events) fold.push(event);
        const blocks = blocksOf(encode(events));
        const ids = blocks.filter((block) => block.type === 'tool_use').map((block) => block.id);
        expect(ids).toEqual(fold.answer().toolCalls.map((call) => encodeToolId(call.id)));
        const thoughts = valuesOf(blocks, 'thinking');
        const { reasoning, leadingReasoning } = fold.answer();
        expect(withoutSpace(thoughts)).toBe(withoutSpace(reasoning.slice(0, leadingReasoning)));
        const kinds = blocks.map(({ type }) => type);
        if (kinds.includes('text')) {
          expect(kinds.lastIndexOf('thinking')).toBeLessThan(kinds.indexOf('text'));
        }
      }),
      { numRuns: 500 },
    );
  });

  test('carries the bytes of tool inputs, however their pieces interleave', () => {
    const inputs = fc.array(jsonObjectText, { minLength: 1, maxLength: 4 });
    const picks = fc.array(fc.tuple(fc.nat({ max: 3 }), fc.integer({ min: 1, max: 9 })));
    fc.assert(
      fc.property(inputs, picks, (wanted, order) => {
        const left = [...wanted];
        const cuts = order.concat(wanted.map((_text, index) => [index, Number.MAX_SAFE_INTEGER]));
        const pieces = cuts.map(([pick, length]) => {
          const index = pick % wanted.length;
          const rest = left[index] ?? '';
          left[index] = rest.slice(length);
          return args(index, rest.slice(0, length));
        });
        const starts = wanted.map((_text, index) => start(index));
        const blocks = blocksOf(encode([...starts, ...pieces, finish('tool_calls')]));
        expect(blocks.map((block) => block.value)).toEqual(wanted);
      }),
    );
  });

  test('shows the same blocks as the whole answer does', () => {
    const calls = fc.array(fc.record({ id: words, name: words, arguments: piece }), {
      maxLength: 3,
    });
    fc.assert(
      fc.property(words, words, calls, (reasoningText, answerText, toolCalls) => {
        const answer = {
          reasoning: reasoningText,
          text: answerText,
          toolCalls,
          finish: 'stop',
        } as const;
        const whole = JSON.parse(messagesFormat.response(HEAD, answer, RECEIPT));
        const streamed = blocksOf(encode(answerEvents(answer)));
        expect(streamed.map((block) => block.type)).toEqual(
          whole.content.map((block: Json) => block['type']),
        );
        expect(valuesOf(streamed, 'text')).toBe(
          whole.content.map((block: Json) => block['text'] ?? '').join(''),
        );
      }),
    );
  });
});
