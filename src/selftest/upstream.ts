// The scripted upstream and the bare forwarder of the self-test: processes of their own, because a
// gateway is compared with a process that does nothing but forward.

import { exitWithInput } from '../server/runtime.ts';
import { RECORDINGS } from './recordings.ts';

/** Models beside those that play a recording. */
export const SLOW_MODEL = 'slow';
export const FAST_MODEL = 'fast';

/** Tokens of an answer of the slow model, and the time between two. */
const SLOW = { tokens: 25, gapMs: 15 };
/** A stream of a recording comes in pieces of this many characters, also inside of an event. */
const PIECE_CHARACTERS = 37;

const USAGE = { prompt_tokens: 10, completion_tokens: SLOW.tokens, total_tokens: 10 + SLOW.tokens };

export type Part = 'upstream' | 'forwarder';

/** Serves until the process is ended. `target` is where a forwarder sends. */
export async function servePart(
  part: Part,
  target: string,
  onListening: (url: string) => void,
): Promise<never> {
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    idleTimeout: 0,
    fetch: part === 'upstream' ? answer : (request) => forward(request, target),
  });
  onListening(server.url.origin);
  return exitWithInput();
}

async function forward(request: Request, target: string): Promise<Response> {
  const answered = await fetch(target, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: await request.text(),
  });
  const type = answered.headers.get('content-type') ?? 'application/json';
  return new Response(answered.body, {
    status: answered.status,
    headers: { 'content-type': type },
  });
}

async function answer(request: Request): Promise<Response> {
  const body = (await request.json()) as { readonly model: string; readonly stream?: boolean };
  const recording = RECORDINGS.find(({ name }) => name === body.model);
  if (recording !== undefined) return events(pieces(recording.bytes));
  if (body.stream !== true) return Response.json(wholeAnswer(body.model));
  return events(body.model === SLOW_MODEL ? slowly() : [frames(SLOW.tokens).join('')]);
}

function events(parts: Iterable<string> | AsyncIterable<string>): Response {
  const encoder = new TextEncoder();
  const body = new ReadableStream({
    async start(controller) {
      try {
        for await (const part of parts) controller.enqueue(encoder.encode(part));
        controller.close();
      } catch {
        // The gateway was killed, and its connection is gone.
      }
    },
  });
  return new Response(body, { headers: { 'content-type': 'text/event-stream' } });
}

async function* pieces(bytes: string): AsyncGenerator<string> {
  // By code point, so that no piece ends inside of a character.
  const characters = [...bytes];
  for (let at = 0; at < characters.length; at += PIECE_CHARACTERS) {
    yield characters.slice(at, at + PIECE_CHARACTERS).join('');
    await Bun.sleep(0);
  }
}

async function* slowly(): AsyncGenerator<string> {
  for (const frame of frames(SLOW.tokens)) {
    yield frame;
    await Bun.sleep(SLOW.gapMs);
  }
}

function frames(tokens: number): string[] {
  const frame = (choices: readonly unknown[], more: object = {}): string =>
    `data: ${JSON.stringify({ id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model: 'up', choices, ...more })}\n\n`;
  const delta = (content: object, finish: string | null = null): string =>
    frame([{ index: 0, delta: content, finish_reason: finish }]);
  return [
    delta({ role: 'assistant', content: '' }),
    ...Array.from({ length: tokens }, () => delta({ content: ' apple' })),
    delta({}, 'stop'),
    frame([], { usage: USAGE }),
    'data: [DONE]\n\n',
  ];
}

function wholeAnswer(model: string): object {
  const message = { role: 'assistant', content: ' apple'.repeat(SLOW.tokens) };
  return {
    id: 'chatcmpl-1',
    object: 'chat.completion',
    created: 1,
    model,
    choices: [{ index: 0, message, finish_reason: 'stop' }],
    usage: USAGE,
  };
}
