// The conversation of the playground: its turns, and the answer that is being written. It lives in the
// memory of the page alone; nothing of it is stored anywhere.

import { signal } from '@preact/signals';
import { type Answer, NO_ANSWER, type Problem } from './answer.ts';
import { readChat } from './chat-answer.ts';
import { estimateTokens } from './cost.ts';
import { createEventReader } from './event-reader.ts';
import { readMessages } from './messages-answer.ts';
import type { Facts, Format, RequestBody, Turn } from './request.ts';

export type ConversationDependencies = {
  /** Resolves to an answer with status 200, and rejects where it is refused. */
  readonly send: (format: Format, body: RequestBody, signal: AbortSignal) => Promise<Response>;
  /** What a refusal says; undefined for what is none, such as a connection that broke. */
  readonly refusalOf: (error: unknown) => Problem | undefined;
  /** Milliseconds. */
  readonly now: () => number;
};

/** An answer that is under way. */
export type Running = {
  readonly answer: Answer;
  /** Estimated. */
  readonly inputTokens: number;
  readonly requestId: string | undefined;
};

/** Long texts cost time to lay out, and nobody reads more often than this. */
const SHOWN_EVERY_MS = 40;

const READERS = { chat: readChat, messages: readMessages } as const;

export function createConversation({ send, refusalOf, now }: ConversationDependencies) {
  const turns = signal<readonly Turn[]>([]);
  const running = signal<Running | undefined>(undefined);
  /** Why there is no answer. */
  const problem = signal<Problem | undefined>(undefined);
  let abort = new AbortController();

  const add = (turn: Turn): void => {
    turns.value = [...turns.value, turn];
  };

  /** Sends what `body` makes of the turns, and adds the answer to them. Never rejects. */
  async function run(format: Format, body: RequestBody): Promise<void> {
    const own = new AbortController();
    abort = own;
    const startedAt = now();
    const since = (): number => now() - startedAt;
    const facts: { -readonly [Name in keyof Facts]: Facts[Name] } = {
      requestId: undefined,
      model: undefined,
      firstMs: undefined,
      totalMs: 0,
      end: 'complete',
    };
    let answer = NO_ANSWER;
    const inputTokens = estimateTokens(JSON.stringify(body));
    let waiting: ReturnType<typeof setTimeout> | undefined;
    const show = (): void => {
      waiting = undefined;
      if (!own.signal.aborted) running.value = { answer, inputTokens, requestId: facts.requestId };
    };
    problem.value = undefined;
    show();
    try {
      const response = await send(format, body, own.signal);
      facts.requestId = response.headers.get('x-request-id') ?? undefined;
      facts.model = response.headers.get('x-svc-model') ?? undefined;
      for await (const data of readBody(response)) {
        answer = data.reduce(READERS[format], answer);
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

  /** What broke off keeps what can be gone on with. */
  function end(answer: Answer, facts: Facts): void {
    running.value = undefined;
    const calls = facts.end === 'complete' ? answer.calls : answer.calls.filter(isWhole);
    if (isBegun(answer)) {
      add({ kind: 'assistant', answer: { ...answer, calls }, facts });
    } else if (facts.end === 'stopped') {
      problem.value = { ...STOPPED, requestId: facts.requestId };
    } else {
      problem.value = answer.problem;
    }
  }

  return {
    turns,
    running,
    problem,
    run,
    say: (text: string) => add({ kind: 'user', text }),
    answerCall: (callId: string, text: string) => add({ kind: 'tool', callId, text }),
    stop: () => abort.abort(),
    /** Takes a turn and all that follow it away. */
    rewind(index: number): void {
      problem.value = undefined;
      turns.value = turns.value.slice(0, index);
    },
    clear(): void {
      abort.abort();
      abort = new AbortController();
      running.value = undefined;
      problem.value = undefined;
      turns.value = [];
    },
  };
}

function isStream({ headers }: Response): boolean {
  return headers.get('content-type')?.startsWith('text/event-stream') === true;
}

/** The records of a stream as they come, or the one of a whole answer. */
async function* readBody(response: Response): AsyncGenerator<readonly string[]> {
  if (!isStream(response) || response.body === null) {
    yield [await response.text()];
    return;
  }
  const reader = response.body.getReader();
  const records = createEventReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    yield records.feed(value);
  }
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

const STOPPED: Omit<Problem, 'requestId'> = {
  message: 'Stopped before anything of the answer came.',
  code: 'stopped',
  param: undefined,
};

const BROKEN: Problem = {
  message: 'The connection broke before the answer was complete. Try again.',
  code: 'connection_broken',
  param: undefined,
  requestId: undefined,
};
