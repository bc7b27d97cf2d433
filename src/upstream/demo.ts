// The demo upstream inside the binary: two models that let a fresh install answer before any vendor
// is configured. It produces real chat-completions bytes, which pass the same decoder, pump and
// ledger as any other upstream's. It makes no connection and stores nothing.

import { parseJson } from '../core/json.ts';
import {
  type DemoAnswer,
  type DemoRequest,
  readDemoRequest,
  writeDemoAnswer,
} from './demo-answer.ts';

/** The pause between two pieces of a stream. */
const DELAY_MS = 20;

/** Answers the JSON text of a chat-completions request, whole or as a stream. */
export function answerDemo(body: string, delayMs = DELAY_MS): Response {
  const request = readDemoRequest(parseJson(body));
  if (request === undefined) return refuse();
  const answer = writeDemoAnswer(request);
  const head = {
    id: `chatcmpl-demo-${Bun.hash(body).toString(36)}`,
    created: Math.floor(Date.now() / 1_000),
    model: request.model,
  };
  if (!request.stream) return Response.json(wholeAnswer(head, answer));
  return new Response(streamPieces(streamAnswer(head, request, answer), delayMs), {
    headers: { 'content-type': 'text/event-stream' },
  });
}

type Head = { readonly id: string; readonly created: number; readonly model: string };

function refuse(): Response {
  const message = 'The body is not a chat-completions request.';
  return Response.json({ error: { message, type: 'invalid_request_error' } }, { status: 400 });
}

function wholeAnswer(head: Head, answer: DemoAnswer): object {
  const { reasoning, text, call, finish } = answer;
  const message = {
    role: 'assistant',
    content: text === '' && call !== undefined ? null : text,
    reasoning_content: reasoning === '' ? undefined : reasoning,
    tool_calls: call === undefined ? undefined : [toolPiece(call)],
  };
  return {
    ...head,
    object: 'chat.completion',
    choices: [{ index: 0, message, logprobs: null, finish_reason: finish }],
    usage: writeUsage(answer),
  };
}

/** The frames of a stream, one word each. */
function streamAnswer(head: Head, request: DemoRequest, answer: DemoAnswer): string[] {
  const frame = (rest: object): string =>
    `data: ${JSON.stringify({ ...head, object: 'chat.completion.chunk', ...rest })}\n\n`;
  const chunk = (delta: object, finish: string | null = null): string =>
    frame({ choices: [{ index: 0, delta, logprobs: null, finish_reason: finish }] });
  const { call } = answer;
  return [
    chunk({ role: 'assistant', content: '' }),
    ...words(answer.reasoning).map((word) => chunk({ reasoning_content: word })),
    ...words(answer.text).map((word) => chunk({ content: word })),
    ...(call === undefined
      ? []
      : [
          chunk({ tool_calls: [{ index: 0, ...toolPiece({ ...call, arguments: '' }) }] }),
          ...words(call.arguments).map((word) =>
            chunk({ tool_calls: [{ index: 0, function: { arguments: word } }] }),
          ),
        ]),
    chunk({}, answer.finish),
    ...(request.includeUsage ? [frame({ choices: [], usage: writeUsage(answer) })] : []),
    'data: [DONE]\n\n',
  ];
}

function toolPiece({ id, name, arguments: written }: NonNullable<DemoAnswer['call']>): object {
  return { id, type: 'function', function: { name, arguments: written } };
}

function words(text: string): string[] {
  return text.match(/\s*\S+|\s+$/g) ?? [];
}

function writeUsage(answer: DemoAnswer): object {
  return {
    prompt_tokens: answer.promptTokens,
    completion_tokens: answer.completionTokens,
    total_tokens: answer.promptTokens + answer.completionTokens,
    completion_tokens_details: { reasoning_tokens: answer.reasoningTokens },
  };
}

/** One piece per pull, so backpressure works; cancelling the reader stops the timer. */
function streamPieces(pieces: readonly string[], delayMs: number): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  let next = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      if (next > 0 && delayMs > 0) {
        await new Promise<void>((resolve) => {
          timer = setTimeout(resolve, delayMs);
        });
      }
      const piece = pieces[next];
      next += 1;
      if (piece === undefined) controller.close();
      else controller.enqueue(encoder.encode(piece));
    },
    cancel() {
      clearTimeout(timer);
    },
  });
}
