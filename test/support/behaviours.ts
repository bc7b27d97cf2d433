// The behaviours of the scripted upstream, one row a model name. To add a behaviour, add a row;
// names with numbers are rows of PATTERNS. A name in neither table behaves as `ok`.

import { PROBE_TEXT } from '../../src/upstream/probe.ts';
import { addNote, readNote } from './file-reader.ts';
import {
  chatFrame,
  chatUsage,
  type Finish,
  type Piece,
  type Script,
  streamFrames,
  USAGE,
  wholeBody,
} from './render.ts';
import type { Exchange } from './upstream.ts';

export type Behaviour = (exchange: Exchange) => void | Promise<void>;

export const HELLO = 'Hello from upstream.';
export const REASONING = 'Let me think about it.';

const hello: readonly Piece[] = [{ text: 'Hello ' }, { text: 'from ' }, { text: 'upstream.' }];
const thoughts: readonly Piece[] = [{ reasoning: 'Let me think ' }, { reasoning: 'about it.' }];
const oneTool: readonly Piece[] = [
  { tool: 0, id: 'call_1', name: 'get_weather', json: '' },
  { tool: 0, json: '{"city":' },
  { tool: 0, json: '"Paris"}' },
];
const secondTool: readonly Piece[] = [
  { tool: 1, id: 'call_2', name: 'get_time', json: '' },
  { tool: 1, json: '{"zone":"CET"}' },
];

/** A script that says hello and ends well, by default. */
function script(pieces: readonly Piece[] = hello, finish: Finish = 'stop'): Script {
  return { pieces, finish, usage: USAGE };
}

export const SAYS_HELLO = script();

const BEHAVIOURS: Readonly<Record<string, Behaviour>> = {
  ok: play(script()),
  reasoning: play({ ...script([...thoughts, ...hello]), usage: { ...USAGE, reasoning: 2 } }),
  tool: play(script(oneTool, 'tool_calls')),
  'two-tools': play(script([...oneTool, ...secondTool], 'tool_calls')),
  'text-and-tool': play(script([...hello, ...oneTool], 'tool_calls')),
  'reasoning-and-tool': play(script([...thoughts, ...oneTool], 'tool_calls')),
  'finish-length': play(script(hello, 'length')),
  'content-filter': play(script(hello, 'content_filter')),
  insufficient: play(script([], 'insufficient_system_resource')),
  'insufficient-late': play(script(hello, 'insufficient_system_resource')),
  'no-content': play(script([], 'stop')),
  'no-usage': play({ pieces: hello, finish: 'stop' }),
  'zero-usage': play({ ...script(), usage: { prompt: 0, cached: 0, completion: 0 } }),
  'absurd-usage': play({ ...script(), usage: { prompt: -3, cached: 1e18, completion: 0.5 } }),
  'usage-everywhere': usageEverywhere,
  'late-tool-name': lateToolName,
  long: play(tokens(2_000)),
  echo: (exchange) => play(script([{ text: exchange.request.text }]))(exchange),
  'echo-message': (exchange) => {
    const messages = exchange.request.body['messages'] as readonly { readonly content: string }[];
    return play(script([{ text: messages.at(-1)?.content ?? '' }]))(exchange);
  },
  /** Calls a tool, and repeats its result once there is one. */
  'tool-round': (exchange) => {
    const result = lastResult(exchange);
    const what = result === undefined ? undefined : script([{ text: `It is ${result}.` }]);
    return play(what ?? script([...thoughts, ...oneTool], 'tool_calls'))(exchange);
  },
  /** For coding agents: reads a file with the agent's own tool, and answers with its word. */
  'reads-a-note': (exchange) => play(readNote(exchange.request))(exchange),
  /** The same with a patch that adds a file. */
  'adds-a-note': (exchange) => play(addNote(exchange.request))(exchange),

  bytewise: (exchange) => sendBytewise(exchange, framesOf(exchange).join('')),
  crlf: (exchange) => sendText(exchange, framesOf(exchange).join('').replaceAll('\n', '\r\n')),
  'one-write': (exchange) => sendText(exchange, framesOf(exchange).join('')),
  comments: (exchange) => sendText(exchange, framesOf(exchange).join(': keep-alive\n\n')),
  'comments-only': commentsOnly,

  'slow-first-byte': async (exchange) => {
    await exchange.sleep(500);
    await play(script())(exchange);
  },
  stall: async (exchange) => {
    await sendUntilFinish(exchange);
    await exchange.untilGone();
  },
  'stall-before': (exchange) => exchange.untilGone(),
  'stall-after-head': async (exchange) => {
    streamHead(exchange);
    await exchange.untilGone();
  },
  /** The body ends as it should, but the model never said that it was done. */
  cut: async (exchange) => {
    await sendUntilFinish(exchange);
    exchange.end();
  },
  /** Breaks in the middle of the first answer and gives all later ones. */
  'cut-once': async (exchange) => {
    if (exchange.request.earlier > 0) return play(script())(exchange);
    await sendUntilFinish(exchange);
    exchange.end();
  },
  /** The connection ends in the middle of the body. */
  'cut-connection': async (exchange) => {
    await sendUntilFinish(exchange);
    exchange.cut();
  },
  'cut-before': (exchange) => exchange.cut(),
  reset: async (exchange) => {
    await sendUntilFinish(exchange);
    exchange.reset();
  },
  'reset-before': (exchange) => exchange.reset(),
  'no-done': (exchange) => sendText(exchange, framesOf(exchange).slice(0, -1).join('')),

  garbage: async (exchange) => {
    const [first = '', second = '', ...rest] = framesOf(exchange);
    await sendText(exchange, `${first}${second}data: {"not json\n\n${rest.join('')}`);
  },
  html: (exchange) => sendWhole(exchange, 200, '<html>Welcome to nginx!</html>', 'text/html'),
  empty: (exchange) => sendWhole(exchange, 200, ''),
  'json-null': (exchange) => sendWhole(exchange, 200, 'null'),
  'json-for-stream': (exchange) =>
    sendWhole(exchange, 200, wholeBody(exchange.request.dialect, exchange.request.model, script())),
  'error-in-stream': async (exchange) => {
    await sendUntilFinish(exchange);
    exchange.write(errorFrame(exchange));
    exchange.end();
  },
  'overloaded-first': (exchange) =>
    sendText(exchange, errorFrame(exchange, { code: 'overloaded', status: 529 })),
  'error-first': (exchange) => sendText(exchange, errorFrame(exchange)),
  'error-in-200': (exchange) => sendWhole(exchange, 200, errorBody(exchange, 'The engine failed.')),
  'context-400': (exchange) => {
    const words =
      exchange.request.dialect !== 'messages'
        ? "This model's maximum context length is 100 tokens."
        : 'prompt is too long: 200 tokens > 100 maximum';
    sendWhole(exchange, 400, errorBody(exchange, words, { code: CONTEXT_CODE, status: 400 }));
  },
  'html-500': (exchange) => sendWhole(exchange, 500, '<html>Bad gateway</html>', 'text/html'),
  redirect: answersProbes((exchange) => {
    exchange.head(302, { location: 'http://127.0.0.1:9/', 'content-length': '0' });
    exchange.end();
  }),
};

const CONTEXT_CODE = 'context_length_exceeded';

type Pattern = {
  readonly name: RegExp;
  readonly behaviour: (...numbers: number[]) => Behaviour;
};

const PATTERNS: readonly Pattern[] = [
  /** `usage-1000-200-50`: reports this prompt, cached and completion count. */
  {
    name: /^usage-(\d+)-(\d+)-(\d+)$/,
    behaviour: (prompt = 0, cached = 0, completion = 0) =>
      play({ ...script(), usage: { prompt, cached, completion } }),
  },
  /** `tokens-300`: so many deltas of one token each, and a usage that says so. */
  { name: /^tokens-(\d+)$/, behaviour: (count = 1) => play(tokens(count)) },
  /** `slow-tokens-20-50`: so many tokens, one every so many milliseconds. */
  {
    name: /^slow-tokens-(\d+)-(\d+)$/,
    behaviour: (count = 1, gapMs = 0) => play(tokens(count), gapMs),
  },
  { name: /^slow-first-byte-(\d+)$/, behaviour: (delayMs = 0) => delayed(delayMs, play(script())) },
  {
    name: /^status-(\d{3})$/,
    behaviour: (status = 500) => (isRefusal(status) ? answersProbes(fails(status)) : fails(status)),
  },
  /** `refuses-404`: every request, probes included. */
  { name: /^refuses-(\d{3})$/, behaviour: (status = 400) => fails(status) },
  /** `retry-after-7`: 429 with this header. */
  { name: /^retry-after-(\d+)$/, behaviour: (seconds = 1) => fails(429, String(seconds)) },
  /** `status-503-times-2`: fails so often, then answers. */
  {
    name: /^status-(\d{3})-times-(\d+)$/,
    behaviour:
      (status = 500, times = 1) =>
      (exchange) =>
        exchange.request.earlier < times ? fails(status)(exchange) : play(script())(exchange),
  },
];

/** Statuses by which an upstream refuses one request. */
export function isRefusal(status: number): boolean {
  return status >= 400 && status < 500 && ![401, 402, 403, 408, 429].includes(status);
}

/** An upstream that refuses a request of a caller, and not the gateway's own. */
export function answersProbes(behaviour: Behaviour): Behaviour {
  return (exchange) =>
    exchange.request.text.includes(`"${PROBE_TEXT}"`)
      ? play(SAYS_HELLO)(exchange)
      : behaviour(exchange);
}

/** What the upstream does for a model of this name. */
export function behaviourFor(model: string): Behaviour {
  const known = BEHAVIOURS[model];
  if (known !== undefined) return known;
  for (const { name, behaviour } of PATTERNS) {
    const match = name.exec(model);
    if (match !== null) return behaviour(...match.slice(1).map(Number));
  }
  return play(script());
}

/**
 * Answers with a script: streamed in one write a frame, or whole, as the request asks. Waits so many
 * milliseconds after each frame, or in the middle until something has happened; a whole answer comes
 * after that.
 */
export function play(what: Script, gap: number | Promise<void> = 0): Behaviour {
  return async (exchange) => {
    const { dialect, model, stream } = exchange.request;
    if (!stream) {
      if (typeof gap !== 'number') await gap;
      return sendWhole(exchange, 200, wholeBody(dialect, model, what));
    }
    streamHead(exchange);
    const frames = streamFrames(dialect, model, what);
    const half = Math.ceil(frames.length / 2);
    for (const [index, frame] of frames.entries()) {
      exchange.write(frame);
      if (gap === 0) await breathe();
      else if (typeof gap === 'number') await exchange.sleep(gap);
      else if (index + 1 === half) await gap;
      if (exchange.gone()) return;
    }
    exchange.end();
  };
}

/** Answers with one body of known length. */
export function sendWhole(
  exchange: Exchange,
  status: number,
  body: string,
  type = 'application/json',
  more: Readonly<Record<string, string>> = {},
): void {
  const length = String(Buffer.byteLength(body));
  exchange.head(status, { 'content-type': type, 'content-length': length, ...more });
  exchange.write(body);
  exchange.end();
}

/** Answers 200 with an event stream of exactly these characters, in one write. */
export function sendText(exchange: Exchange, text: string): void {
  streamHead(exchange);
  exchange.write(text);
  exchange.end();
}

/** The status line and the headers of an event stream. */
export function streamHead(exchange: Exchange): void {
  exchange.head(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' });
}

function tokens(count: number): Script {
  return {
    pieces: Array.from({ length: count }, () => ({ text: ' a' })),
    finish: 'stop',
    usage: { prompt: 10, cached: 4, completion: count },
  };
}

function delayed(delayMs: number, behaviour: Behaviour): Behaviour {
  return async (exchange) => {
    await exchange.sleep(delayMs);
    await behaviour(exchange);
  };
}

function fails(status: number, retryAfter?: string): Behaviour {
  const more: Record<string, string> =
    retryAfter === undefined ? {} : { 'retry-after': retryAfter };
  return (exchange) => {
    const body = errorBody(exchange, `The upstream says ${status}.`, { status });
    sendWhole(exchange, status, body, 'application/json', more);
  };
}

/** The canary in the text must never reach a client. */
export const CANARY = 'upstream-canary-7731';

/** What the messages dialect calls an error of this status; any other is an `api_error`. */
const ERROR_TYPES: Readonly<Record<number, string>> = {
  400: 'invalid_request_error',
  401: 'authentication_error',
  402: 'billing_error',
  403: 'permission_error',
  404: 'not_found_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  529: 'overloaded_error',
};

type ErrorKind = { readonly code?: string; readonly status?: number };

function errorBody(exchange: Exchange, message: string, kind: ErrorKind = {}): string {
  const { code = 'scripted_error', status = 500 } = kind;
  const text = `${message} (${CANARY})`;
  if (exchange.request.dialect !== 'messages') {
    return JSON.stringify({ error: { message: text, type: 'scripted', param: null, code } });
  }
  const type = ERROR_TYPES[status] ?? 'api_error';
  return JSON.stringify({ type: 'error', error: { type, message: text } });
}

function errorFrame(exchange: Exchange, kind: ErrorKind = {}): string {
  const name = exchange.request.dialect === 'chat' ? '' : 'event: error\n';
  return `${name}data: ${errorBody(exchange, 'The engine failed.', kind)}\n\n`;
}

/** The text of the tool result that a request ends with, if it does. */
function lastResult({ request }: Exchange): unknown {
  const turns = request.body[request.dialect === 'responses' ? 'input' : 'messages'];
  const last = (turns as Record<string, unknown>[]).at(-1);
  if (request.dialect === 'responses') return last?.['output'];
  if (request.dialect === 'chat') return last?.['role'] === 'tool' ? last['content'] : undefined;
  const blocks = last?.['content'] as Record<string, unknown>[] | undefined;
  return blocks?.find((block) => block['type'] === 'tool_result')?.['content'];
}

function framesOf(exchange: Exchange, what: Script = script()): string[] {
  return streamFrames(exchange.request.dialect, exchange.request.model, what);
}

/**
 * All but the last three frames of each dialect, which end the content, given time to arrive
 * before anything happens to them.
 */
async function sendUntilFinish(exchange: Exchange): Promise<void> {
  streamHead(exchange);
  for (const frame of framesOf(exchange).slice(0, -3)) exchange.write(frame);
  await exchange.sleep(50);
}

async function sendBytewise(exchange: Exchange, text: string): Promise<void> {
  streamHead(exchange);
  for (const byte of Buffer.from(text)) {
    exchange.write(new Uint8Array([byte]));
    await breathe();
    if (exchange.gone()) return;
  }
  exchange.end();
}

async function commentsOnly(exchange: Exchange): Promise<void> {
  streamHead(exchange);
  while (!exchange.gone()) {
    exchange.write(': keep-alive\n\n');
    await exchange.sleep(20);
  }
}

/** A counter in every chunk that grows; the last one is the truth. */
function usageEverywhere(exchange: Exchange): void | Promise<void> {
  const { dialect, model, stream } = exchange.request;
  if (dialect === 'messages' || !stream) return play(script())(exchange);
  const frames = hello.map((piece, index) =>
    chatFrame(model, 'text' in piece ? { content: piece.text } : {}, null, {
      usage: chatUsage({ ...USAGE, completion: index + 1 }),
    }),
  );
  const last = chatFrame(model, {}, 'stop', { usage: chatUsage(USAGE) });
  sendText(exchange, `${frames.join('')}${last}data: [DONE]\n\n`);
}

/** The arguments of a call come before its name. */
function lateToolName(exchange: Exchange): void | Promise<void> {
  const { dialect, model, stream } = exchange.request;
  if (dialect === 'messages' || !stream) return play(script(oneTool, 'tool_calls'))(exchange);
  const deltas = [
    { index: 0, function: { arguments: '{"city":' } },
    { index: 0, id: 'call_1', type: 'function', function: { arguments: '"Par' } },
    { index: 0, function: { name: 'get_weather', arguments: 'is"}' } },
  ];
  const frames = deltas.map((delta) => chatFrame(model, { tool_calls: [delta] }));
  const last = chatFrame(model, {}, 'tool_calls', { usage: chatUsage(USAGE) });
  sendText(exchange, `${frames.join('')}${last}data: [DONE]\n\n`);
}

/** Lets the socket write what it has, so that frames leave one by one. */
function breathe(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
