// A conversation of the playground with one model: its turns and the answer in progress.

import { signal } from '@preact/signals';
import { t } from '../../text/t.ts';
import { type Answer, argumentsOf, NO_ANSWER, type Problem } from './answer.ts';
import { isStream, readAnswer, readBody } from './answer-reader.ts';
import type { Facts, RequestBody, Turn } from './request.ts';
import type { Format } from './settings.ts';

export type ConversationDependencies = {
  /** Resolves to a response with status 200; rejects if the request is refused. */
  readonly send: (format: Format, body: RequestBody, signal: AbortSignal) => Promise<Response>;
  /** The message of a refusal; undefined for other errors, such as a broken connection. */
  readonly refusalOf: (error: unknown) => Problem | undefined;
  /** Milliseconds. */
  readonly now: () => number;
};

/** An answer in progress. */
export type Running = {
  readonly answer: Answer;
  readonly requestId: string | undefined;
  /** The model that was asked. */
  readonly asked: string;
};

/** Limits rendering, because laying out long texts is slow. */
const SHOWN_EVERY_MS = 40;

export type Conversation = ReturnType<typeof createConversation>;

export function createConversation({ send, refusalOf, now }: ConversationDependencies) {
  const turns = signal<readonly Turn[]>([]);
  const running = signal<Running | undefined>(undefined);
  /** The reason for the missing answer. */
  const problem = signal<Problem | undefined>(undefined);
  let abort = new AbortController();

  /** Shows other turns instead. */
  function load(others: readonly Turn[]): void {
    abort.abort();
    abort = new AbortController();
    running.value = undefined;
    problem.value = undefined;
    turns.value = others;
  }

  /** Shows `sent` and adds the answer to `body`, which was built from them. Never rejects. */
  async function run(sent: readonly Turn[], format: Format, body: RequestBody): Promise<void> {
    load(sent);
    const own = abort;
    const startedAt = now();
    const asked = String(body['model']);
    let answer = NO_ANSWER;
    let headers = new Headers();
    let firstMs: number | undefined;
    let waiting: ReturnType<typeof setTimeout> | undefined;
    const requestId = (): string | undefined => headers.get('x-request-id') ?? undefined;
    const show = (): void => {
      waiting = undefined;
      if (!own.signal.aborted) running.value = { answer, requestId: requestId(), asked };
    };
    show();
    try {
      const response = await send(format, body, own.signal);
      headers = response.headers;
      for await (const data of readBody(response)) {
        answer = readAnswer(answer, data);
        if (isStream(response) && isBegun(answer)) firstMs ??= now() - startedAt;
        waiting ??= setTimeout(show, SHOWN_EVERY_MS);
      }
    } catch (error) {
      if (!own.signal.aborted) answer = { ...answer, problem: refusalOf(error) ?? BROKEN };
    }
    clearTimeout(waiting);
    // Other turns are shown.
    if (abort !== own) return;
    running.value = undefined;
    const failed = answer.problem === undefined ? 'complete' : 'failed';
    const end = own.signal.aborted ? 'stopped' : failed;
    if (!isBegun(answer)) {
      problem.value = end === 'stopped' ? { ...STOPPED, request_id: requestId() } : answer.problem;
      return;
    }
    const facts: Facts = {
      requestId: requestId(),
      asked,
      model: headers.get('x-svc-model') ?? undefined,
      firstMs,
      totalMs: now() - startedAt,
      end,
    };
    // The conversation continues with the calls that are whole.
    const calls =
      end === 'complete'
        ? answer.calls
        : answer.calls.filter((call) => argumentsOf(call) !== undefined);
    turns.value = [...sent, { kind: 'assistant', answer: { ...answer, calls }, facts }];
  }

  return { turns, running, problem, load, run, stop: () => abort.abort() };
}

function isBegun({ text, reasoning, calls }: Answer): boolean {
  return text !== '' || reasoning !== '' || calls.length > 0;
}

export const STOPPED: Omit<Problem, 'request_id'> = {
  message: t('Stopped before the answer began.'),
  code: 'stopped',
  param: undefined,
};

const BROKEN: Problem = {
  message: t('The connection broke before the answer was complete. Try again.'),
  code: 'connection_broken',
  param: undefined,
  request_id: undefined,
};
