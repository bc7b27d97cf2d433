// The benchmark's upstream: raw sockets, keep-alive, bytes made once. Its only work is to find the
// end of a request and to copy an answer, so that it costs next to nothing beside what is measured.
// Started by scripts/benchmark/run.ts as a process of its own; prints its address.

import type { Socket } from 'bun';

/** What every answer reports. scripts/benchmark/run.ts checks the gateway's debits against it. */
export const REPORTED = { prompt: 20, cached: 4, wholeOutput: 50, streamOutput: 64 } as const;

/** Frames of a stream that leave in one write; a model rarely gives more than a few at once. */
const FRAMES_A_WRITE = 8;

const HEAD_END = Buffer.from('\r\n\r\n');
const STREAM_FLAG = Buffer.from('"stream":true');
const LENGTH = /content-length: *(\d+)/i;

type Connection = { buffered: Buffer };

const whole = wholeAnswer();
const stream = streamWrites();

if (import.meta.main) {
  const server = Bun.listen<Connection>({
    hostname: '127.0.0.1',
    port: 0,
    socket: {
      open: (socket) => {
        socket.data = { buffered: Buffer.alloc(0) };
        socket.setNoDelay(true);
      },
      data: (socket, bytes) => {
        const connection = socket.data;
        connection.buffered =
          connection.buffered.length === 0 ? bytes : Buffer.concat([connection.buffered, bytes]);
        answerAll(socket);
      },
    },
  });
  process.stdout.write(`listening on http://127.0.0.1:${server.port}\n`);
}

/** Answers are far below what a socket's buffer holds, so every write is taken whole. */
function answerAll(socket: Socket<Connection>): void {
  while (true) {
    const { buffered } = socket.data;
    const headEnd = buffered.indexOf(HEAD_END);
    if (headEnd === -1) return;
    const match = LENGTH.exec(buffered.toString('latin1', 0, headEnd));
    const end = headEnd + HEAD_END.length + Number(match?.[1] ?? 0);
    if (buffered.length < end) return;
    const streams = buffered.subarray(headEnd, end).includes(STREAM_FLAG);
    socket.data.buffered = buffered.subarray(end);
    if (streams) writeStream(socket, 0);
    else socket.write(whole);
  }
}

function writeStream(socket: Socket<Connection>, index: number): void {
  const bytes = stream[index];
  if (bytes === undefined) return;
  socket.write(bytes);
  setImmediate(writeStream, socket, index + 1);
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
  const body = JSON.stringify({
    id: 'chatcmpl-0123456789abcdef',
    object: 'chat.completion',
    created: 1_700_000_000,
    model: 'bench',
    choices: [
      {
        index: 0,
        message: {
          role: 'assistant',
          content: 'All work and no play makes a dull day. '.repeat(3),
        },
        logprobs: null,
        finish_reason: 'stop',
      },
    ],
    usage: usage(REPORTED.wholeOutput),
  });
  const head = `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n`;
  return Buffer.from(head + body);
}

/** The stream as the buffers that are written one after the other; each frame is one chunk. */
function streamWrites(): Buffer[] {
  const frame = (delta: unknown, finish: string | null, more: object = {}) =>
    chunk({
      id: 'chatcmpl-0123456789abcdef',
      object: 'chat.completion.chunk',
      created: 1_700_000_000,
      model: 'bench',
      choices: finish === 'usage' ? [] : [{ index: 0, delta, finish_reason: finish }],
      ...more,
    });
  const frames = [frame({ role: 'assistant', content: '' }, null)];
  for (let index = 0; index < REPORTED.streamOutput; index += 1) {
    frames.push(frame({ content: index % 2 === 0 ? ' word' : ' and' }, null));
  }
  frames.push(
    frame({}, 'stop'),
    frame({}, 'usage', { usage: usage(REPORTED.streamOutput) }),
    rawChunk('data: [DONE]\n\n'),
    '0\r\n\r\n',
  );
  const head =
    'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n';
  const writes: Buffer[] = [];
  for (let index = 0; index < frames.length; index += FRAMES_A_WRITE) {
    const text = frames.slice(index, index + FRAMES_A_WRITE).join('');
    writes.push(Buffer.from(index === 0 ? head + text : text));
  }
  return writes;
}

function chunk(value: unknown): string {
  return rawChunk(`data: ${JSON.stringify(value)}\n\n`);
}

function rawChunk(text: string): string {
  return `${text.length.toString(16)}\r\n${text}\r\n`;
}
