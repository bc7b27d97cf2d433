// The bounds of an upstream's response: each kind of flood fails at its own bound, which shows that
// nothing is buffered beyond it. The upstream stops only when its connection is closed.

import { afterAll, beforeAll, expect, test } from 'bun:test';
import type { GenerationEvent } from '../../src/core/generation.ts';
import { DEFAULT_PROFILE } from '../../src/core/profile.ts';
import { chatDialect } from '../../src/wire/upstream/chat/dialect.ts';
import { messagesDialect } from '../../src/wire/upstream/messages/dialect.ts';
import { type Behaviour, streamHead } from '../support/behaviours.ts';
import { chatFrame } from '../support/render.ts';
import { type AttemptRig, startAttemptRig } from './rig.ts';

/** Sends pieces of a stream for as long as the client is connected. */
function forever(piece: (count: number) => string): Behaviour {
  return async (exchange) => {
    streamHead(exchange);
    for (let count = 0; !exchange.gone(); count += 1) {
      exchange.write(piece(count));
      await new Promise((wake) => setImmediate(wake));
    }
  };
}

let headerBytes = 0;

/** Headers for as long as the client is connected. */
const headers: Behaviour = async (exchange) => {
  exchange.raw('HTTP/1.1 200 OK\r\n');
  while (!exchange.gone()) {
    exchange.raw(`x-more: ${KILOBYTES}\r\n`);
    headerBytes += KILOBYTES.length;
    await new Promise((wake) => setImmediate(wake));
  }
};

/** A frame with one piece of a tool call. */
function toolFrame(piece: Readonly<Record<string, unknown>>): string {
  return chatFrame('any', { tool_calls: [piece] });
}

const KILOBYTES = 'x'.repeat(65_536);

const COMMENTS = `: ${KILOBYTES}\n\n`;
const BLANK = '\n'.repeat(65_536);

const FLOODS: readonly (readonly [title: string, detail: string, Behaviour])[] = [
  ['one line', 'a line of more than 8388608 bytes', forever(() => KILOBYTES)],
  [
    'one event of many lines',
    'an event of more than 8388608 characters',
    forever(() => `data: ${KILOBYTES}\n`),
  ],
  ['comments', 'more than 16777216 bytes without an event', forever(() => COMMENTS)],
  ['blank lines', 'more than 16777216 bytes without an event', forever(() => BLANK)],
  [
    'keep-alives that are data',
    'more than 16777216 bytes without an event',
    forever(() => 'data: null\n\n'.repeat(5_000)),
  ],
  [
    'chunks of a role alone',
    'more than 16777216 bytes without an event',
    forever(() => chatFrame('any', { role: 'assistant', content: '' }).repeat(300)),
  ],
  [
    'comments behind content',
    'more than 16777216 bytes without an event',
    forever((count) => (count === 0 ? chatFrame('any', { content: 'x' }) : COMMENTS)),
  ],
  [
    'text',
    'far more output than its bound allows',
    forever(() => chatFrame('any', { content: KILOBYTES })),
  ],
  [
    'tiny deltas of text',
    'far more output than its bound allows',
    forever(() => chatFrame('any', { content: 'x' }).repeat(2_000)),
  ],
  [
    'tiny deltas of thinking',
    'far more output than its bound allows',
    forever(() => chatFrame('any', { reasoning_content: 'x' }).repeat(2_000)),
  ],
  [
    'tiny deltas of arguments',
    'far more output than its bound allows',
    forever((count) =>
      toolFrame({ index: 0, id: 'a', function: { name: 'f', arguments: '1' } }).repeat(
        count === 0 ? 1 : 2_000,
      ),
    ),
  ],
  [
    'tool calls',
    'far more output than its bound allows',
    forever((count) =>
      toolFrame({ index: count, id: `a${count}`, function: { name: 'f', arguments: '{}' } }),
    ),
  ],
  [
    'tool calls with long names',
    'far more output than its bound allows',
    forever((count) =>
      toolFrame({ index: count, id: `a${count}`, function: { name: KILOBYTES, arguments: '{}' } }),
    ),
  ],
  [
    'parts of a name',
    "a tool call's id or name of more than 65536 characters",
    forever((count) => toolFrame({ index: 0, function: { name: `x${count}` } }).repeat(500)),
  ],
  [
    'long ids',
    "a tool call's id or name of more than 65536 characters",
    forever((count) => toolFrame({ index: count, id: `${count}${KILOBYTES}` })),
  ],
  [
    'arguments of a tool call without a name',
    'more than 1048576 characters for unnamed tool calls',
    forever(() => toolFrame({ index: 0, id: 'a', function: { arguments: KILOBYTES } })),
  ],
];

/** An event of the Messages or the Responses dialect. */
function named(type: string, more: Readonly<Record<string, unknown>>): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, ...more })}\n\n`;
}

function startBlock(index: number, block: Readonly<Record<string, unknown>>): string {
  return named('content_block_start', { index, content_block: block });
}

function delta(more: Readonly<Record<string, unknown>>): string {
  return named('content_block_delta', { index: 0, delta: more });
}

const MESSAGES_FLOODS: typeof FLOODS = [
  [
    'text of Messages',
    'far more output than its bound allows',
    forever(() => delta({ type: 'text_delta', text: KILOBYTES })),
  ],
  [
    'thinking of Messages',
    'far more output than its bound allows',
    forever(() => delta({ type: 'thinking_delta', thinking: 'x' }).repeat(2_000)),
  ],
  [
    'pings of Messages',
    'more than 16777216 bytes without an event',
    forever(() => named('ping', {}).repeat(1_000)),
  ],
  [
    'blocks that never stop',
    'more than 1024 open blocks',
    forever((count) => startBlock(count, { type: 'text', text: '' })),
  ],
  [
    'tool blocks',
    'more than 1024 open blocks',
    forever((count) => startBlock(count, { type: 'tool_use', id: `a${count}`, name: 'f' })),
  ],
  [
    'inputs of tool blocks that never stop',
    'more than 1048576 characters of tool inputs',
    forever((count) =>
      startBlock(count, { type: 'tool_use', id: `a${count}`, name: 'f', input: { a: KILOBYTES } }),
    ),
  ],
];

const RESPONSES_FLOODS: typeof FLOODS = [
  [
    'long events of annotations behind text',
    'more than 16777216 bytes without an event',
    forever((count) => {
      const range = { start_index: 0, end_index: 1, title: '', padding: KILOBYTES.repeat(16) };
      const annotation = { type: 'url_citation', url: `https://example.com/${count}`, ...range };
      if (count > 0) return named('response.output_text.annotation.added', { annotation });
      return named('response.output_text.delta', { output_index: 0, delta: 'x' });
    }),
  ],
];

let rig: AttemptRig;

beforeAll(async () => {
  rig = await startAttemptRig({
    ...Object.fromEntries(
      [...FLOODS, ...MESSAGES_FLOODS, ...RESPONSES_FLOODS].map(([title, , behaviour]) => [
        title,
        behaviour,
      ]),
    ),
    headers,
  });
});

afterAll(() => rig.close());

const isContent = ({ kind }: GenerationEvent): boolean => kind !== 'usage' && kind !== 'finish';

const CASES = [
  ...FLOODS.map(([title, detail]) => ['chat', title, detail] as const),
  ...MESSAGES_FLOODS.map(([title, detail]) => ['messages', title, detail] as const),
  ...RESPONSES_FLOODS.map(([title, detail]) => ['responses', title, detail] as const),
];

test.each(CASES)('%s, endless: %s: %s', async (dialect, title, detail) => {
  const before = rig.upstream.aborted();
  const { events, end } = await rig.run(title, { dialect });
  expect(end).toEqual({
    class: 'malformed',
    detail: `the upstream sent ${detail}`,
    phase: events.some(isContent) ? 'stream' : 'first_content',
  });
  // Each event counts, and the last read is handed over whole.
  expect(JSON.stringify(events).length).toBeLessThan(4_000_000);
  await rig.upstream.waitFor(({ aborted }) => aborted() > before);
});

test('headers without end are not kept, and are hung up on', async () => {
  const before = rig.upstream.aborted();
  const { end } = await rig.run('headers');
  expect(end).not.toBe('finished');
  expect(headerBytes).toBeLessThan(100_000_000);
  await rig.upstream.waitFor(({ aborted }) => aborted() > before);
});

const DIALECTS = [
  ['chat', chatDialect(DEFAULT_PROFILE.chat)],
  ['messages', messagesDialect(DEFAULT_PROFILE.messages)],
] as const;

test.each(DIALECTS)(
  '%s: endless comments are read as far as a stream may be long',
  (_, dialect) => {
    const comments = new TextEncoder().encode(`: ${'x'.repeat(1_000_000)}\n`.repeat(16));
    const decoder = dialect.stream(() => {});
    let fed = 0;
    let failure = decoder.feed(comments);
    for (; failure === undefined && fed < 2 ** 31; failure = decoder.feed(comments)) {
      fed += comments.length;
    }
    expect(failure).toEqual({
      class: 'malformed',
      detail: 'the upstream sent a stream of more than 536870912 bytes',
    });
    expect(fed).toBeLessThanOrEqual(536_870_912);
  },
);

test('signed thinking beyond its bound is let go, and the answer goes on', () => {
  const encoder = new TextEncoder();
  const kept = (pieces: number): unknown => {
    let finish: GenerationEvent | undefined;
    const decoder = messagesDialect(DEFAULT_PROFILE.messages).stream((event) => {
      finish = event;
    });
    const signed = delta({ type: 'signature_delta', signature: KILOBYTES });
    const frames = [
      startBlock(0, { type: 'thinking', thinking: '' }),
      ...Array.from({ length: pieces }, () => signed),
      named('message_delta', { delta: { stop_reason: 'end_turn' } }),
      named('message_stop', {}),
    ];
    for (const frame of frames) expect(decoder.feed(encoder.encode(frame))).toBeUndefined();
    return finish;
  };
  const thinking = [{ kind: 'thinking', text: '', signature: KILOBYTES }];
  expect(kept(1)).toEqual({ kind: 'finish', reason: 'stop', thinking });
  expect(kept(100)).toEqual({ kind: 'finish', reason: 'stop' });
});
