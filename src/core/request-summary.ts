// The summary of an ended request, for one log line and the metrics. A closed type of counts, ids
// and our own names: it has no field for a key, a prompt, a header, a body, an address, or other
// text from a caller or an upstream.

import type { ClientFormatName } from './admit.ts';
import type { ErrorCode } from './error.ts';
import type { FailureClass } from './failure.ts';
import type { Outcome, Usage } from './generation.ts';
import type { Micro } from './money.ts';
import type { RequestTrace } from './trace.ts';

/** `elsewhere` covers every path, or method of a path, that is not served. */
export type RouteName =
  | 'chat_completions'
  | 'messages'
  | 'count_tokens'
  | 'responses'
  | 'input_tokens'
  | 'models'
  | 'model'
  | 'api_keys'
  | 'account'
  | 'receipt'
  | 'playground_chat_completions'
  | 'playground_messages'
  | 'playground_responses'
  | 'metrics'
  | 'elsewhere';

/** The routes that ask a model for an answer. */
export const GENERATES: ReadonlySet<RouteName> = new Set([
  'chat_completions',
  'messages',
  'responses',
  'playground_chat_completions',
  'playground_messages',
  'playground_responses',
]);

export type RequestSummary = {
  readonly requestId: string;
  readonly route: RouteName;
  /** The format of the error envelope. */
  readonly format: ClientFormatName;
  /** 499 if the client disconnected before there was a response. */
  readonly status: number;
  /** Absent if nothing was refused. */
  readonly code?: ErrorCode | undefined;
  /** Absent until a key was accepted. */
  readonly accountId?: string | undefined;
  readonly keyId?: string | undefined;
  /** A slug of the catalog; absent if the request named no such model. */
  readonly model?: string | undefined;
  readonly stream?: boolean | undefined;
  /** Until the last byte was written, or until the refusal. */
  readonly durationMs: number;
  /** Present for a request that had a grant. */
  readonly answer?: AnswerSummary | undefined;
  /** The request whose answer it got again, for the same `Idempotency-Key`. */
  readonly replayOf?: string | undefined;
  /** Absent without tracing. */
  readonly trace?: RequestTrace | undefined;
};

export type AnswerSummary = {
  readonly modelServed: string;
  /** Absent if no upstream was called. */
  readonly upstream?: string | undefined;
  readonly fallbackUsed: boolean;
  readonly outcome: Outcome;
  readonly usage: Usage;
  /** The estimate of the prompt. */
  readonly promptTokens: number;
  readonly debited: Micro;
  /** The part of the charge that the account could not pay. */
  readonly loss: Micro;
  /** It cost nothing, and is counted beside the books. */
  readonly counted?: true | undefined;
  readonly attempts: readonly AttemptSummary[];
  /** Why the last attempt failed, if that ended the request. */
  readonly failure?: FailureClass | undefined;
};

/** Times are milliseconds since the start of the attempt; absent if that stage was not reached. */
export type AttemptSummary = {
  readonly upstream: string;
  readonly model: string;
  /** The upstream's own name for the model. */
  readonly upstreamModel?: string;
  /** Absent if the upstream was not called: `failure` says why. */
  readonly credential?: string;
  /** Absent if it served the answer. */
  readonly failure?: FailureClass;
  /** The status of a failed answer. */
  readonly status?: number;
  /** Unix milliseconds. */
  readonly startedAt: number;
  readonly endedAt: number;
  readonly firstByteMs?: number;
  readonly firstContentMs?: number;
  /** The cost to the operator, in service tokens; absent if not configured. */
  readonly cost?: string;
  /** The cost that the upstream itself reports, in USD; never charged. */
  readonly reportedCostUsd?: string;
};
