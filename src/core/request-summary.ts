// What is told of a request when it is over: one line in the log, and the metrics. A closed type of
// counts, ids and names of ours: it has no place for a key, a prompt, a header, a body, an address,
// or anything else that a caller or an upstream has written.

import type { ClientFormatName } from './admit.ts';
import type { ErrorCode } from './error.ts';
import type { FailureClass } from './failure.ts';
import type { Outcome, Usage } from './generation.ts';
import type { Micro } from './money.ts';

/** `elsewhere` is every path that nothing is served at, or not with this method. */
export type RouteName =
  | 'chat_completions'
  | 'messages'
  | 'count_tokens'
  | 'models'
  | 'model'
  | 'api_keys'
  | 'account'
  | 'playground_chat_completions'
  | 'playground_messages'
  | 'metrics'
  | 'elsewhere';

export type RequestSummary = {
  readonly requestId: string;
  readonly route: RouteName;
  /** Whose envelope an error has. */
  readonly format: ClientFormatName;
  /** 499 where the client had left before there was an answer. */
  readonly status: number;
  /** Absent where nothing was refused. */
  readonly code?: ErrorCode | undefined;
  /** Absent until a key was accepted. */
  readonly accountId?: string | undefined;
  readonly keyId?: string | undefined;
  /** A slug of the catalog; absent where no such model was asked for. */
  readonly model?: string | undefined;
  readonly stream?: boolean | undefined;
  /** Until the last byte was given away, or until the refusal. */
  readonly durationMs: number;
  /** Of a request that had a grant. */
  readonly answer?: AnswerSummary | undefined;
};

export type AnswerSummary = {
  readonly modelServed: string;
  /** Absent where nobody was asked. */
  readonly upstream?: string | undefined;
  readonly fallbackUsed: boolean;
  readonly outcome: Outcome;
  readonly usage: Usage;
  /** The estimate of the prompt. */
  readonly promptTokens: number;
  readonly debited: Micro;
  /** What the charge exceeded the account's money by. */
  readonly loss: Micro;
  readonly attempts: readonly AttemptSummary[];
  /** Why the last attempt failed, where that ended the request. */
  readonly failure?: FailureClass | undefined;
};

/** Times are in milliseconds from the start of the attempt; absent where it did not come so far. */
export type AttemptSummary = {
  readonly upstream: string;
  readonly model: string;
  /** Absent where the upstream was not asked: `failure` says why. */
  readonly credential?: string;
  /** Absent where it served. */
  readonly failure?: FailureClass;
  /** Unix milliseconds. */
  readonly startedAt: number;
  readonly endedAt: number;
  readonly firstByteMs?: number;
  readonly firstContentMs?: number;
  /** What it costs the operator, in service tokens; absent where nobody said. */
  readonly cost?: string;
};
