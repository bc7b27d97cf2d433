// Every end of an upstream's answer, over real sockets: a complete answer is complete in any
// framing, and everything else is a failure.

import { afterAll, beforeAll, expect, test } from 'bun:test';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import type { FailureClass } from '../../src/core/failure.ts';
import type { GenerationEvent } from '../../src/core/generation.ts';
import type { Behaviour } from '../support/behaviours.ts';
import { type Script, streamFrames, USAGE, wholeBody } from '../support/render.ts';
import type { Exchange } from '../support/upstream.ts';
import { type AttemptRig, startAttemptRig, untilRead } from './rig.ts';

const SCRIPT: Script = {
  pieces: [{ text: 'Hello ' }, { text: 'wörld' }],
  finish: 'stop',
  usage: USAGE,
};
type Dialect = 'chat' | 'messages';
const DIALECTS: readonly Dialect[] = ['chat', 'messages'];
const TRANSPORTS = ['sockets', 'fetch'] as const;

/** How it ends where a stream is asked for, and where a whole answer is. */
type Ending = 'complete' | 'complete, no usage' | FailureClass;

/** The frames of a whole stream, without so many at its end. */
const framesOf = ({ request }: Exchange, without = 0): string => {
  const frames = streamFrames(request.dialect, 'any', SCRIPT);
  return frames.slice(0, frames.length - without).join('');
};
/** The last three frames of either dialect hold the finish reason. */
const beforeFinish = (exchange: Exchange): string => framesOf(exchange, 3);
const wholeOf = ({ request }: Exchange): string => wholeBody(request.dialect, 'any', SCRIPT);

/** A complete body of what was asked for. */
const bodyOf = (exchange: Exchange): string =>
  exchange.request.stream ? framesOf(exchange) : wholeOf(exchange);
const typeOf = ({ request }: Exchange): string =>
  request.stream ? 'text/event-stream' : 'application/json';

function send(body: (exchange: Exchange) => string | Uint8Array, headers = {}): Behaviour {
  return (exchange) => {
    exchange.head(200, { 'content-type': typeOf(exchange), ...headers });
    exchange.write(body(exchange));
    exchange.end();
  };
}

/** Sends a status alone, or with a body that would be complete. */
function status(code: number, body = false): Behaviour {
  return (exchange) => {
    const length = body ? {} : { 'content-length': '0' };
    exchange.head(code, { 'content-type': typeOf(exchange), ...length });
    if (body) exchange.write(bodyOf(exchange));
    exchange.end();
  };
}

/** Writes HTTP by hand and then closes the connection, which no other request may be sent on. */
function raw(bytes: (exchange: Exchange) => string): Behaviour {
  return async (exchange) => {
    exchange.raw(bytes(exchange));
    // What is closed together with its last bytes is another case than what is closed behind them.
    await exchange.sleep(20);
    exchange.cut();
  };
}

const ok = (exchange: Exchange, headers: string): string =>
  `HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-type: ${typeOf(exchange)}\r\n${headers}\r\n\r\n`;
const chunk = (text: string): string => `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`;
const length = (exchange: Exchange, more: number): string =>
  `content-length: ${Buffer.byteLength(bodyOf(exchange)) + more}`;

type Case = readonly [title: string, streamed: Ending, whole: Ending, Behaviour, only?: Dialect];

const CASES: readonly Case[] = [
  // Before an answer.
  ['closes at once', 'unreachable', 'unreachable', (exchange) => exchange.cut()],
  ['resets at once', 'unreachable', 'unreachable', (exchange) => exchange.reset()],
  ['ends inside the status line', 'unreachable', 'unreachable', raw(() => 'HTTP/1.1 20')],
  [
    'ends inside the headers',
    'unreachable',
    'unreachable',
    raw(() => 'HTTP/1.1 200 OK\r\ncontent-type: text/ev'),
  ],
  ['speaks no HTTP', 'malformed', 'malformed', raw(() => 'Hello there\r\n\r\n')],
  [
    'declares a length that is none',
    'malformed',
    'malformed',
    raw((exchange) => ok(exchange, 'content-length: many') + bodyOf(exchange)),
  ],
  ['never answers', 'timeout', 'timeout', (exchange) => exchange.untilGone()],

  // Another status.
  ['201 with an answer', 'complete', 'complete', status(201, true)],
  ['202 with an answer', 'server_error', 'server_error', status(202, true)],
  [
    '204',
    'server_error',
    'server_error',
    raw(() => 'HTTP/1.1 204 No Content\r\nconnection: close\r\n\r\n'),
  ],
  ['206 with an answer', 'server_error', 'server_error', status(206, true)],
  ['304', 'mismatch', 'mismatch', status(304)],
  [
    '100 and then 200',
    'complete',
    'complete',
    raw(
      (exchange) =>
        `HTTP/1.1 100 Continue\r\n\r\n${ok(exchange, length(exchange, 0))}${bodyOf(exchange)}`,
    ),
  ],

  // The framing of the body.
  ['no body', 'cut', 'malformed', status(200)],
  [
    'no body where one is declared',
    'cut',
    'cut',
    raw((exchange) => ok(exchange, length(exchange, 0))),
  ],
  ['no chunk', 'cut', 'cut', raw((exchange) => ok(exchange, 'transfer-encoding: chunked'))],
  [
    'a chunk whose size is no number',
    'cut',
    'cut',
    raw((exchange) => `${ok(exchange, 'transfer-encoding: chunked')}zz\r\n${bodyOf(exchange)}`),
  ],
  [
    'no last chunk',
    'complete',
    'cut',
    raw((exchange) => ok(exchange, 'transfer-encoding: chunked') + chunk(bodyOf(exchange))),
  ],
  [
    'trailers',
    'complete',
    'complete',
    raw(
      (exchange) =>
        `${ok(exchange, 'transfer-encoding: chunked\r\ntrailer: x-sum')}${chunk(bodyOf(exchange))}0\r\nx-sum: 1\r\n\r\n`,
    ),
  ],
  [
    'no length, ended by the connection',
    'complete',
    'complete',
    raw((exchange) => ok(exchange, 'x-framing: none') + bodyOf(exchange)),
  ],
  [
    'a length above the body',
    'complete',
    'cut',
    raw((exchange) => ok(exchange, length(exchange, 9)) + bodyOf(exchange)),
  ],
  [
    'a length that cuts the end off',
    'complete, no usage',
    'malformed',
    raw((exchange) => ok(exchange, length(exchange, -20)) + bodyOf(exchange)),
    'chat',
  ],

  // Where the bytes stop.
  ['inside an event', 'cut', 'malformed', send((exchange) => bodyOf(exchange).slice(0, 200))],
  [
    'inside a character',
    'cut',
    'malformed',
    send((exchange) => {
      const bytes = Buffer.from(bodyOf(exchange));
      return bytes.subarray(0, bytes.indexOf('ö') + 1);
    }),
  ],
  ['before the finish reason', 'cut', 'cut', send(beforeFinish)],
  ['[DONE] alone', 'cut', 'cut', send(() => 'data: [DONE]\n\n')],
  [
    'a reset before the finish reason',
    'cut',
    'cut',
    async (exchange) => {
      exchange.head(200, { 'content-type': typeOf(exchange) });
      exchange.write(beforeFinish(exchange));
      await exchange.sleep(20);
      exchange.reset();
    },
  ],
  [
    'silence before the finish reason',
    'timeout',
    'timeout',
    async (exchange) => {
      exchange.head(200, { 'content-type': typeOf(exchange) });
      exchange.write(beforeFinish(exchange));
      await exchange.untilGone();
    },
  ],
  [
    'after the finish reason',
    'complete, no usage',
    'complete, no usage',
    send((exchange) => framesOf(exchange, 2)),
    'chat',
  ],
  [
    'after the stop reason',
    'complete',
    'complete',
    send((exchange) => framesOf(exchange, 1)),
    'messages',
  ],
  [
    'inside the usage',
    'complete, no usage',
    'complete, no usage',
    send((exchange) => framesOf(exchange, 1).slice(0, -40)),
    'chat',
  ],
  [
    'inside the stop reason',
    'cut',
    'cut',
    send((exchange) => framesOf(exchange, 1).slice(0, -40)),
    'messages',
  ],
  [
    'a reset after the usage',
    'complete',
    'complete',
    async (exchange) => {
      exchange.head(200, { 'content-type': typeOf(exchange) });
      exchange.write(framesOf(exchange, 1));
      if (!exchange.request.stream) return exchange.end();
      await untilRead(exchange);
      exchange.reset();
    },
  ],
  [
    'nothing behind the end counts',
    'complete',
    'complete',
    send(
      (exchange) =>
        bodyOf(exchange) +
        (exchange.request.stream ? 'data: {"error":{"message":"late"}}\n\n' : ''),
    ),
  ],

  // What the body is.
  ['case 87: JSON', 'complete', 'complete', send(wholeOf, { 'content-type': 'application/json' })],
  [
    'JSON, in other letters',
    'complete',
    'complete',
    send(wholeOf, { 'content-type': 'Application/JSON; charset=UTF-8' }),
  ],
  [
    'JSON after a byte-order mark',
    'complete',
    'complete',
    send((exchange) => `\uFEFF${wholeOf(exchange)}`, { 'content-type': 'application/json' }),
  ],
  [
    'JSON that calls itself a stream, behind blank lines',
    'complete',
    'complete',
    async (exchange) => {
      exchange.head(200, { 'content-type': 'text/event-stream' });
      for (const piece of ['\n\n', wholeOf(exchange).slice(0, 50), wholeOf(exchange).slice(50)]) {
        exchange.write(piece);
        await exchange.sleep(20);
      }
      exchange.end();
    },
  ],
  [
    'an error that calls itself a stream',
    'server_error',
    'server_error',
    send(() => '{"error":{"message":"no"}}', { 'content-type': 'text/event-stream' }),
  ],
  [
    'an unrequested stream',
    'complete',
    'complete',
    send((exchange) => framesOf(exchange), { 'content-type': 'text/event-stream' }),
  ],
  [
    'a stream that calls itself JSON',
    'complete',
    'complete',
    send((exchange) => `: hello\n\n${framesOf(exchange)}`, { 'content-type': 'application/json' }),
  ],
  [
    'JSON, half of it',
    'malformed',
    'malformed',
    send((exchange) => wholeOf(exchange).slice(0, -9), { 'content-type': 'application/json' }),
  ],
  ['an array', 'malformed', 'malformed', send(() => '[]', { 'content-type': 'application/json' })],
  [
    'case 55: an error object',
    'server_error',
    'server_error',
    send(() => '{"error":{"message":"no"}}', { 'content-type': 'application/json' }),
  ],
  [
    'case 101: an error object as the first event',
    'server_error',
    'server_error',
    send(() => 'data: {"error":{"message":"no"}}\n\n'),
  ],
  [
    'case 56: HTML',
    'cut',
    'malformed',
    send(() => '<html></html>', { 'content-type': 'text/html' }),
  ],
  ['no type', 'complete', 'complete', send(bodyOf, { 'content-type': '' })],

  // How the body is compressed, without a request for it.
  [
    'gzip',
    'complete',
    'complete',
    send((exchange) => gzipSync(bodyOf(exchange)), { 'content-encoding': 'gzip' }),
  ],
  [
    'brotli',
    'complete',
    'complete',
    send((exchange) => brotliCompressSync(bodyOf(exchange)), { 'content-encoding': 'br' }),
  ],
  [
    'gzip, half of it',
    'cut',
    'cut',
    send((exchange) => gzipSync(bodyOf(exchange)).subarray(0, 60), { 'content-encoding': 'gzip' }),
  ],
  ['gzip that is none', 'cut', 'cut', send(bodyOf, { 'content-encoding': 'gzip' })],
  ['undeclared gzip', 'cut', 'malformed', send((exchange) => gzipSync(bodyOf(exchange)))],
];

let rig: AttemptRig;

beforeAll(async () => {
  rig = await startAttemptRig(
    Object.fromEntries(CASES.map(([title, , , behaviour]) => [title, behaviour])),
  );
});

afterAll(() => rig.close());

function textOf(events: readonly GenerationEvent[]): string {
  return events.map((event) => (event.kind === 'text-delta' ? event.text : '')).join('');
}

/** For upstreams that nothing else ends. */
const SHORT = { firstByteMs: 400, firstContentMs: 400, idleMs: 400 };

/** The runtime's client does not say whether there was no answer or one that it cannot read. */
const UNREADABLE = ['speaks no HTTP', 'declares a length that is none'];

const ASKED = CASES.flatMap(([title, streamed, whole, , only]) =>
  DIALECTS.filter((dialect) => only === undefined || dialect === only).flatMap((dialect) =>
    TRANSPORTS.flatMap((transport) => {
      const isUnreadable = transport === 'fetch' && UNREADABLE.includes(title);
      return [
        [dialect, transport, title, 'streamed', isUnreadable ? 'unreachable' : streamed] as const,
        [dialect, transport, title, 'whole', isUnreadable ? 'unreachable' : whole] as const,
      ];
    }),
  ),
);

test.concurrent.each(ASKED)(
  '%s by %s: %s, %s: %s',
  async (dialect, transport, title, kind, ending) => {
    const { events, end } = await rig.run(title, {
      dialect,
      transport,
      stream: kind === 'streamed',
      ...(ending === 'timeout' ? { timeouts: SHORT } : {}),
    });
    const kinds = events.map((event) => event.kind);
    if (end === 'finished') {
      expect(textOf(events)).toBe('Hello wörld');
      expect(kinds.at(-1)).toBe('finish');
      expect(kinds.includes('usage') ? 'complete' : 'complete, no usage').toBe(ending);
    } else {
      expect(end.class).toBe(ending as FailureClass);
      expect(kinds).not.toContain('finish');
      expect('Hello wörld').toStartWith(textOf(events));
    }
  },
);

test('afterwards no connection is left that an answer was broken off on', async () => {
  await rig.upstream.waitFor(({ active }) => active() === 0);
  expect(rig.upstream.active()).toBe(0);
});
