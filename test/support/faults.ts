// Every upstream failure, one row a model name, in each dialect. Names that start with `late-`
// fail after content; other names behave as in behaviours.ts. Used by the failure matrix and by the
// canary test, which inserts its own strings wherever an upstream can send text.

import {
  answersProbes,
  type Behaviour,
  HELLO,
  isRefusal,
  sendText,
  sendWhole,
  streamHead,
} from './behaviours.ts';
import type { RecordedRequest } from './recorded-request.ts';
import { chatFrame, type Piece, type Script, streamFrames, USAGE, wholeBody } from './render.ts';
import type { Exchange } from './upstream.ts';

export type FaultOptions = {
  /** Rides in every error text, header and name of the upstream: it must never reach a client. */
  readonly canary: string;
  /** Whether the client has seen content of this request: without it a late fault is an early one. */
  readonly delivered: (request: RecordedRequest) => boolean;
};

/** Where redirects lead: a site that would answer, and that must never be called. */
export const REDIRECTED_SITE = 'redirected';

const STATUSES = [
  ...[400, 401, 402, 403, 404, 405, 408, 409, 410, 413, 415, 422, 425, 429],
  ...[500, 501, 502, 503, 504, 529],
];

/** What `retry-after` says, and with which status. */
const RETRY_AFTERS: Readonly<Record<string, readonly [status: number, value: string]>> = {
  'retry-after-1': [429, '1'],
  'retry-after-60': [429, '60'],
  'retry-after-absurd': [429, '99999999999999999999'],
  'retry-after-negative': [429, '-5'],
  'retry-after-text': [429, 'soon'],
  'retry-after-date': [429, 'Fri, 31 Dec 2100 23:59:59 GMT'],
  'retry-after-1-of-503': [503, '1'],
  'retry-after-60-of-503': [503, '60'],
};

const KILOBYTES = 'x '.repeat(32_768);
const SAID: Piece = { text: HELLO };
const CALLED: Piece = { tool: 0, id: 'call_1', name: 'sayHello', json: '{"city":"Paris"}' };
const SCRIPT: Script = { pieces: [SAID], finish: 'stop', usage: USAGE };

/** Behaviours by model name; see `startUpstream`. */
export function createFaults(options: FaultOptions): Readonly<Record<string, Behaviour>> {
  const { canary } = options;
  const answers = (status: number, more: Readonly<Record<string, string>> = {}): Behaviour => {
    return (exchange) => {
      const headers = { ...hostileHeaders(canary), ...more };
      sendWhole(exchange, status, errorBody(exchange, canary), 'application/json', headers);
    };
  };
  const late = (breaks: Behaviour, piece: Piece = SAID): Behaviour =>
    afterContent(options, breaks, piece);
  const error: Behaviour = (exchange) => endWith(exchange, errorFrame(exchange, canary));
  const garbage: Behaviour = (exchange) => endWith(exchange, `data: {"${canary}\n\n`);
  return {
    ...Object.fromEntries(
      STATUSES.map((status) => [
        `status-${status}`,
        isRefusal(status) ? answersProbes(answers(status)) : answers(status),
      ]),
    ),
    ...Object.fromEntries(
      Object.entries(RETRY_AFTERS).map(([name, [status, value]]) => [
        name,
        answers(status, { 'retry-after': value }),
      ]),
    ),
    ...Object.fromEntries(
      [301, 302, 307, 308].map((status) => [
        `redirect-${status}`,
        answersProbes(redirects(status)),
      ]),
    ),
    ...beforeHead(canary),
    ...insteadOfAnAnswer(canary),
    ...beforeContent(canary, error, garbage),

    'late-cut': late((exchange) => exchange.end()),
    'late-cut-connection': late((exchange) => exchange.cut()),
    'late-cut-of-reasoning': late((exchange) => exchange.end(), { reasoning: HELLO }),
    'late-cut-of-call': late((exchange) => exchange.end(), CALLED),
    'late-reset': late((exchange) => exchange.reset()),
    'late-stall': late((exchange) => exchange.untilGone()),
    'late-comments': late((exchange) => forever(exchange, ': keep-alive\n\n')),
    'late-trickle': late((exchange) =>
      forever(exchange, contentFrame(exchange, { text: ' a' }), 250),
    ),
    'late-garbage': late(garbage),
    'late-error': late(error),
    'late-oversized-line': late((exchange) => forever(exchange, KILOBYTES, 0)),
    'late-endless-event': late((exchange) => forever(exchange, `data: ${KILOBYTES}\n`, 0)),
    'late-exhaustion': late((exchange) =>
      endWith(exchange, chatFrame(exchange.request.model, {}, 'insufficient_system_resource')),
    ),
  };
}

/** The connection is there and HTTP is not, or not to its end. */
function beforeHead(canary: string): Readonly<Record<string, Behaviour>> {
  const raw = (bytes: string, breaks: Behaviour): Behaviour => {
    return (exchange) => {
      exchange.raw(bytes);
      return breaks(exchange);
    };
  };
  const cut: Behaviour = (exchange) => exchange.cut();
  const stall: Behaviour = (exchange) => exchange.untilGone();
  return {
    'malformed-head': raw(`HTTP/9.9 ${canary}\r\nno colon\r\n\r\n`, cut),
    'not-http': raw(`220 ${canary} ESMTP ready\r\n`, stall),
    'half-head': raw('HTTP/1.1 200 OK\r\ncontent-ty', cut),
    'stall-in-head': raw('HTTP/1.1 200 OK\r\ncontent-ty', stall),
    'head-flood': raw('HTTP/1.1 200 OK\r\n', (exchange) =>
      forever(exchange, `x-flood: ${KILOBYTES}\r\n`, 0),
    ),
    'interim-flood': raw('', (exchange) =>
      forever(exchange, `HTTP/1.1 103 Early Hints\r\nlink: <${canary}>\r\n\r\n`.repeat(100), 0),
    ),
    'wrong-chunk-size': raw(
      `HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n${canary}\r\n`,
      stall,
    ),
  };
}

/** Bodies of a 200 that are no answer. */
function insteadOfAnAnswer(canary: string): Readonly<Record<string, Behaviour>> {
  const whole =
    (body: string, type?: string, more?: Readonly<Record<string, string>>): Behaviour =>
    (exchange) =>
      sendWhole(exchange, 200, body, type, more);
  const html = `<html><title>${canary}</title>Welcome to nginx!</html>`;
  return {
    html: whole(html, 'text/html', hostileHeaders(canary)),
    empty: whole(''),
    'json-null': whole('null'),
    'half-json': whole(`{"id":"x","choices":[{"message":${canary}`),
    'no-choices': whole(`{"id":"${canary}","object":"chat.completion","type":"message"}`),
    'deep-json': whole('['.repeat(100_000)),
    'false-gzip': whole(canary, 'application/json', { 'content-encoding': 'gzip' }),
    'bare-204': (exchange) => {
      exchange.head(204, { 'content-length': '0' });
      exchange.end();
    },
    'error-in-200': (exchange) => sendWhole(exchange, 200, errorBody(exchange, canary)),
    'html-500': (exchange) => sendWhole(exchange, 500, html, 'text/html', hostileHeaders(canary)),
    /** A part of it comes, and then the connection ends. */
    'length-too-long': (exchange) => {
      const { dialect, model } = exchange.request;
      exchange.head(200, { 'content-type': 'application/json', 'content-length': '100000' });
      exchange.write(wholeBody(dialect, model, SCRIPT));
      exchange.cut();
    },
    /** What is behind the declared length belongs to no answer. */
    'length-too-short': (exchange) => {
      const { dialect, model } = exchange.request;
      exchange.head(200, { 'content-type': 'application/json', 'content-length': '20' });
      exchange.write(wholeBody(dialect, model, SCRIPT));
      exchange.end();
    },
    'context-400': (exchange) => {
      const words = {
        chat: 'maximum context length is 100 tokens',
        messages: 'prompt is too long',
        responses: 'maximum context length is 100 tokens',
      };
      const body = errorBody(exchange, `${words[exchange.request.dialect]} ${canary}`);
      sendWhole(exchange, 400, body);
    },
  };
}

/** A stream has begun and says nothing that is content. */
function beforeContent(
  canary: string,
  error: Behaviour,
  garbage: Behaviour,
): Readonly<Record<string, Behaviour>> {
  const stream = (then: Behaviour): Behaviour => {
    return (exchange) => {
      streamHead(exchange);
      return then(exchange);
    };
  };
  return {
    'cut-after-head': stream((exchange) => exchange.end()),
    'reset-after-head': stream(async (exchange) => {
      exchange.write(': here\n\n');
      await exchange.sleep(30);
      exchange.reset();
    }),
    'comments-only': stream((exchange) => forever(exchange, ': keep-alive\n\n')),
    'blank-lines': stream((exchange) => forever(exchange, '\n\n')),
    'role-then-stall': stream((exchange) => {
      exchange.write(opening(exchange));
      return exchange.untilGone();
    }),
    'role-chunks': stream((exchange) => forever(exchange, opening(exchange))),
    'role-then-end': stream((exchange) => endWith(exchange, opening(exchange))),
    'done-only': (exchange) => sendText(exchange, 'data: [DONE]\n\n'),
    'error-first': stream(error),
    'garbage-first': stream(garbage),
    'half-character': stream((exchange) => {
      exchange.write(
        Buffer.from(`data: {"choices":[{"delta":{"content":"${canary}é`).subarray(0, -1),
      );
      exchange.end();
    }),
    // In one write, so that they come in one read.
    'words-and-garbage': stream((exchange) => {
      const words = opening(exchange) + contentFrame(exchange, SAID);
      endWith(exchange, `${words}data: {"${canary}\n\n`);
    }),
    'oversized-line': stream((exchange) => forever(exchange, KILOBYTES, 0)),
    'endless-event': stream((exchange) => forever(exchange, `data: ${KILOBYTES}\n`, 0)),
  };
}

/**
 * Says hello, waits until the client has got it, and breaks. An answer that is wanted whole is broken
 * in the middle of its body: nothing of it has been delivered then.
 */
function afterContent({ delivered }: FaultOptions, breaks: Behaviour, piece: Piece): Behaviour {
  const script = { ...SCRIPT, pieces: [piece] };
  return async (exchange) => {
    const { dialect, model, stream } = exchange.request;
    if (stream) {
      streamHead(exchange);
      exchange.write(opening(exchange, script) + contentFrame(exchange, piece));
      while (!exchange.gone() && !delivered(exchange.request)) await exchange.sleep(2);
    } else {
      const body = wholeBody(dialect, model, script);
      exchange.head(200, { 'content-type': 'application/json' });
      exchange.write(body.slice(0, body.length / 2));
      await exchange.sleep(10);
    }
    await breaks(exchange);
  };
}

/** The frames in front of any content. */
function opening({ request: { dialect, model } }: Exchange, script = SCRIPT): string {
  const frames = streamFrames(dialect, model, script);
  return frames.slice(0, dialect === 'chat' ? 1 : 2).join('');
}

/** One piece more of what the opening has begun. */
function contentFrame({ request: { dialect, model } }: Exchange, piece: Piece): string {
  const frames = streamFrames(dialect, model, { ...SCRIPT, pieces: [piece] });
  return frames[dialect === 'chat' ? 1 : 2] ?? '';
}

async function forever(exchange: Exchange, piece: string, gapMs = 20): Promise<void> {
  while (!exchange.gone()) {
    exchange.write(piece);
    if (gapMs > 0) await exchange.sleep(gapMs);
    else await new Promise((wake) => setImmediate(wake));
  }
}

function endWith(exchange: Exchange, text: string): void {
  exchange.write(text);
  exchange.end();
}

function redirects(status: number): Behaviour {
  return (exchange) => {
    const origin = `http://${exchange.request.headers['host']}`;
    const location = `${origin}/${REDIRECTED_SITE}/v1${exchange.request.path.replace(/^.*\/v1/, '')}`;
    exchange.head(status, { location, 'content-length': '0' });
    exchange.end();
  };
}

/** All that a hostile upstream knows and could send back in its words. */
function errorBody({ request }: Exchange, canary: string): string {
  const { authorization, 'x-api-key': apiKey } = request.headers;
  const message = `The engine of ${canary} failed: ${authorization ?? apiKey} asked ${request.text}`;
  return request.dialect !== 'messages'
    ? JSON.stringify({ error: { message, type: canary, param: canary, code: canary } })
    : JSON.stringify({ type: 'error', error: { type: 'api_error', message } });
}

function errorFrame(exchange: Exchange, canary: string): string {
  const name = exchange.request.dialect === 'chat' ? '' : 'event: error\n';
  return `${name}data: ${errorBody(exchange, canary)}\n\n`;
}

/** Headers that must not be passed on: B's of ours, cookies, and what operators would find. */
function hostileHeaders(canary: string): Readonly<Record<string, string>> {
  return {
    server: canary,
    'set-cookie': `session=${canary}`,
    'x-request-id': canary,
    'x-svc-balance': canary,
    'x-svc-model': canary,
    'x-ratelimit-limit-requests': canary,
    'x-should-retry': canary,
  };
}
