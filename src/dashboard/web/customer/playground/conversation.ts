// A conversation of the playground with one model: its turns and the answer in progress.

import { signal } from '@preact/signals';
import { t } from '../../text/t.ts';
import { type Answer, NO_ANSWER, type Problem } from './answer.ts';
import { isStream, readAnswer, readBody } from './answer-reader.ts';
import { estimateTokens } from './cost.ts';
import type { Picture } from './picture.ts';
import type { Facts, Format, RequestBody, Turn } from './request.ts';

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
  /** Estimated. */
  readonly inputTokens: number;
  readonly requestId: string | undefined;
  /** The model that was asked. */
  readonly asked: string;
};

/** Limits rendering, because laying out long texts is slow. */
const SHOWN_EVERY_MS = 40;

export function createConversation({ send, refusalOf, now }: ConversationDependencies) {
  const turns = signal<readonly Turn[]>([]);
  const running = signal<Running | undefined>(undefined);
  /** The reason for the missing answer. */
  const problem = signal<Problem | undefined>(undefined);
  let abort = new AbortController();

  const add = (turn: Turn): void => {
    turns.value = [...turns.value, turn];
  };

  /** Sends the request that `body` builds from the turns, and appends the answer. Never rejects. */
  async function run(format: Format, body: RequestBody): Promise<void> {
    const own = new AbortController();
    abort = own;
    const startedAt = now();
    const since = (): number => now() - startedAt;
    const facts: { -readonly [Name in keyof Facts]: Facts[Name] } = {
      requestId: undefined,
      asked: String(body['model']),
      model: undefined,
      firstMs: undefined,
      totalMs: 0,
      end: 'complete',
    };
    let answer = NO_ANSWER;
    const inputTokens = estimateTokens(JSON.stringify(body, withoutData));
    let waiting: ReturnType<typeof setTimeout> | undefined;
    const show = (): void => {
      waiting = undefined;
      if (own.signal.aborted) return;
      const { requestId, asked } = facts;
      running.value = { answer, inputTokens, requestId, asked };
    };
    problem.value = undefined;
    show();
    try {
      const response = await send(format, body, own.signal);
      facts.requestId = response.headers.get('x-request-id') ?? undefined;
      facts.model = response.headers.get('x-svc-model') ?? undefined;
      for await (const data of readBody(response)) {
        answer = readAnswer(answer, data);
        if (isStream(response) && isBegun(answer)) facts.firstMs ??= since();
        waiting ??= setTimeout(show, SHOWN_EVERY_MS);
      }
    } catch (error) {
      if (!own.signal.aborted) answer = { ...answer, problem: refusalOf(error) ?? BROKEN };
    }
    clearTimeout(waiting);
    if (abort !== own) return;
    facts.totalMs = since();
    if (answer.problem !== undefined) facts.end = 'failed';
    if (own.signal.aborted) facts.end = 'stopped';
    end(answer, facts);
  }

  /** A partial answer keeps the content that the conversation can continue with. */
  function end(answer: Answer, facts: Facts): void {
    running.value = undefined;
    const calls = facts.end === 'complete' ? answer.calls : answer.calls.filter(isWhole);
    if (isBegun(answer)) {
      add({ kind: 'assistant', answer: { ...answer, calls }, facts });
    } else if (facts.end === 'stopped') {
      problem.value = { ...STOPPED, request_id: facts.requestId };
    } else {
      problem.value = answer.problem;
    }
  }

  return {
    turns,
    running,
    problem,
    run,
    say: (text: string, pictures: readonly Picture[] = []) =>
      add({ kind: 'user', text, ...(pictures.length === 0 ? {} : { pictures }) }),
    answerCall: (callId: string, text: string) => add({ kind: 'tool', callId, text }),
    stop: () => abort.abort(),
    /** Removes a turn and all turns after it. */
    rewind(index: number): void {
      problem.value = undefined;
      turns.value = turns.value.slice(0, index);
    },
    /** Shows other turns instead. */
    load(stored: readonly Turn[]): void {
      abort.abort();
      abort = new AbortController();
      running.value = undefined;
      problem.value = undefined;
      turns.value = stored;
    },
  };
}

/** The content of images costs other tokens than its characters. */
function withoutData(name: string, value: unknown): unknown {
  return name === 'data' || name === 'url' ? '' : value;
}

function isBegun({ text, reasoning, calls }: Answer): boolean {
  return text !== '' || reasoning !== '' || calls.length > 0;
}

function isWhole({ arguments: json }: Answer['calls'][number]): boolean {
  try {
    JSON.parse(json);
    return true;
  } catch {
    return false;
  }
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
