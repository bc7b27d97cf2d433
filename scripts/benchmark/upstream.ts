// The benchmark's upstream: raw sockets, keep-alive, responses built once. It only finds the end of
// a request and copies an answer, so that its cost is negligible. The model name selects the
// answer. Started as a separate process; prints its address.

import type { Socket } from 'bun';
import type { BenchModel } from './catalog.ts';

/** What every answer reports. */
const REPORTED = { prompt: 20, cached: 4, wholeOutput: 50 };

export const SHORT_STREAM = { events: 64, eventsAWrite: 4 };
export const LONG_STREAM = { events: 200, eventsAWrite: 4 };

/** A stream that stays open while memory is measured. */
const SLOW_STREAM = { events: 60, eventsAWrite: 1, gapMs: 250 };

const HELD_MS = 1_000;

const HEAD_END = Buffer.from('\r\n\r\n');
const STREAM_FLAG = Buffer.from('"stream":true');
const LENGTH = /content-length: *(\d+)/i;

type Connection = { pieces: Buffer[]; length: number; expected: number };

type StreamShape = {
  readonly events: number;
  readonly eventsAWrite: number;
  readonly gapMs?: number;
};

const answer = wholeAnswer();
const streams = {
  short: streamOf(SHORT_STREAM),
  long: streamOf(LONG_STREAM),
  slow: streamOf(SLOW_STREAM),
};

if (import.meta.main) {
  const server = Bun.listen<Connection>({
    hostname: '127.0.0.1',
    port: 0,
    socket: {
      open: (socket) => {
        socket.data = { pieces: [], length: 0, expected: 0 };
        socket.setNoDelay(true);
      },
      data: receive,
    },
  });
  process.stdout.write(`listening on http://127.0.0.1:${server.port}\n`);
}

/** A connection has one request at a time, and its head comes in one read. */
function receive(socket: Socket<Connection>, bytes: Buffer): void {
  const connection = socket.data;
  if (connection.length === 0) {
    const headEnd = bytes.indexOf(HEAD_END);
    const length = LENGTH.exec(bytes.toString('latin1', 0, headEnd))?.[1] ?? 0;
    connection.expected = headEnd + HEAD_END.length + Number(length);
  }
  connection.length += bytes.length;
  if (connection.length < connection.expected) {
    connection.pieces.push(Buffer.from(bytes));
    return;
  }
  const { pieces } = connection;
  const request = pieces.length === 0 ? bytes : Buffer.concat([...pieces, bytes]);
  socket.data = { pieces: [], length: 0, expected: 0 };
  reply(socket, request);
}

/** Answers are far below what a socket's buffer holds, so every write is taken whole. */
function reply(socket: Socket<Connection>, request: Buffer): void {
  const asks = (model: BenchModel) => request.includes(`"model":"${model}"`);
  if (request.includes(STREAM_FLAG)) {
    if (asks('slow')) writeSlowly(socket, 0);
    else writeStream(socket, asks('long') ? streams.long : streams.short, 0);
  } else if (asks('held')) {
    setTimeout(() => socket.write(answer), HELD_MS);
  } else socket.write(answer);
}

function writeStream(socket: Socket<Connection>, stream: readonly Buffer[], index: number): void {
  const bytes = stream[index];
  if (bytes === undefined) return;
  socket.write(bytes);
  setImmediate(writeStream, socket, stream, index + 1);
}

function writeSlowly(socket: Socket<Connection>, index: number): void {
  const bytes = streams.slow[index];
  if (bytes === undefined || socket.readyState < 1) return;
  socket.write(bytes);
  setTimeout(writeSlowly, SLOW_STREAM.gapMs, socket, index + 1);
}

function usage(completion: number): Record<string, unknown> {
  return {
    prompt_tokens: REPORTED.prompt,
    completion_tokens: completion,
    total_tokens: REPORTED.prompt + completion,
    prompt_tokens_details: { cached_tokens: REPORTED.cached },
  };
}

function wholeAnswer(): Buffer {
  const content = 'All work and no play makes a dull day. '.repeat(3);
  const message = { role: 'assistant', content };
  const body = JSON.stringify({
    id: 'chatcmpl-0123456789abcdef',
    object: 'chat.completion',
    created: 1_700_000_000,
    model: 'bench',
    choices: [{ index: 0, message, logprobs: null, finish_reason: 'stop' }],
    usage: usage(REPORTED.wholeOutput),
  });
  const head = `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n`;
  return Buffer.from(head + body);
}

/** The stream as the buffers that are written one after the other; each frame is one chunk. */
function streamOf({ events, eventsAWrite }: StreamShape): Buffer[] {
  const frame = (choices: readonly unknown[], more: object = {}) =>
    chunk(
      `data: ${JSON.stringify({
        id: 'chatcmpl-0123456789abcdef',
        object: 'chat.completion.chunk',
        created: 1_700_000_000,
        model: 'bench',
        choices,
        ...more,
      })}\n\n`,
    );
  const piece = (delta: unknown, finish: string | null = null) =>
    frame([{ index: 0, delta, finish_reason: finish }]);
  const frames = [
    piece({ role: 'assistant', content: '' }),
    ...Array.from({ length: events }, (_, index) =>
      piece({ content: index % 2 === 0 ? ' word' : ' and' }),
    ),
    piece({}, 'stop'),
    frame([], { usage: usage(events) }),
    chunk('data: [DONE]\n\n'),
    '0\r\n\r\n',
  ];
  const head =
    'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n';
  const writes: Buffer[] = [];
  for (let index = 0; index < frames.length; index += eventsAWrite) {
    const text = frames.slice(index, index + eventsAWrite).join('');
    writes.push(Buffer.from(index === 0 ? head + text : text));
  }
  return writes;
}

function chunk(text: string): string {
  return `${text.length.toString(16)}\r\n${text}\r\n`;
}
