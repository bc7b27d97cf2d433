// How a request failed, in one word that the books store for each failed request: the class of the
// failure, and how much of the answer the client had by then. Status, error code and message
// follow from it, so they are the ones that the client received.

import { ERRORS, type ErrorCode } from './error.ts';
import {
  type FailureClass,
  failureError,
  interruptedError,
  type UpstreamFailure,
} from './failure.ts';

/**
 * A class of upstream failure, or one of our own:
 *
 * internal   an unexpected error of this software
 * recovered  the server that ran the request ended before it did
 */
type FailureCause = FailureClass | 'internal' | 'recovered';

/**
 * refused      the client received an error status
 * announced    the client had the headers of a stream, and received the error as its only event
 * interrupted  the client had received content
 */
type FailureStage = 'refused' | 'announced' | 'interrupted';

export type RequestFailure = FailureCause | `${FailureCause}:${Exclude<FailureStage, 'refused'>}`;

/** The books store positions in this list: append new ones at the end. */
const CAUSES: readonly FailureCause[] = [
  'unreachable',
  'timeout',
  'rate_limited',
  'overloaded',
  'no_capacity',
  'credential',
  'server_error',
  'mismatch',
  'bad_request',
  'context_length',
  'unsupported',
  'malformed',
  'cut',
  'gateway',
  'internal',
  'recovered',
  'content_policy',
  'too_large',
];

export const REQUEST_FAILURES: readonly RequestFailure[] = CAUSES.flatMap((cause) => [
  cause,
  `${cause}:announced` as const,
  `${cause}:interrupted` as const,
]);

export function requestFailure(cause: FailureCause, stage: FailureStage): RequestFailure {
  return stage === 'refused' ? cause : `${cause}:${stage}`;
}

/**
 * What customers learn about a failure; upstreams and their failures stay internal.
 *
 * model_rejected     the model refuses the request itself
 * content_refused    a content filter of the model refuses it
 * request_too_large  it is larger than the model accepts
 * prompt_too_long    the prompt exceeds the model's context by its own tokenizer
 * image_unsupported  the model does not accept images in this form
 * model_unavailable  no upstream could answer
 * interrupted        the answer broke off
 * service_stopped    the server was stopping
 * service_lost       the server ended before the request did
 * internal_error     an unexpected error of this software
 */
export type FailureReason =
  | 'model_rejected'
  | 'content_refused'
  | 'request_too_large'
  | 'prompt_too_long'
  | 'image_unsupported'
  | 'model_unavailable'
  | 'interrupted'
  | 'service_stopped'
  | 'service_lost'
  | 'internal_error';

type ReceivedFailure = {
  readonly reason: FailureReason;
  /** As the client received it; null if its connection broke. */
  readonly status: number | null;
  readonly code: ErrorCode | null;
  readonly message: string;
};

/** What the client of a failed request received. */
export function receivedFailure(failure: RequestFailure): ReceivedFailure {
  const [cause, stage = 'refused'] = failure.split(':') as [FailureCause, FailureStage?];
  if (cause === 'recovered') {
    const message = 'The server that ran this request stopped, and the connection broke.';
    return { reason: 'service_lost', status: null, code: null, message };
  }
  const { code, message, status } = errorOf(cause, stage);
  return {
    reason: reasonOf(cause, stage),
    status: stage === 'refused' ? status : 200,
    code,
    message,
  };
}

function errorOf(cause: Exclude<FailureCause, 'recovered'>, stage: FailureStage) {
  if (cause === 'internal') {
    const { status, text } = ERRORS.internal_error;
    return { code: 'internal_error' as const, message: text, status };
  }
  if (stage === 'interrupted') return interruptedError();
  const failed: UpstreamFailure = { class: cause, detail: '' };
  return failureError(failed);
}

function reasonOf(cause: Exclude<FailureCause, 'recovered'>, stage: FailureStage): FailureReason {
  if (cause === 'internal') return 'internal_error';
  if (cause === 'gateway') return 'service_stopped';
  if (stage === 'interrupted') return 'interrupted';
  if (cause === 'bad_request') return 'model_rejected';
  if (cause === 'content_policy') return 'content_refused';
  if (cause === 'too_large') return 'request_too_large';
  if (cause === 'context_length') return 'prompt_too_long';
  if (cause === 'unsupported') return 'image_unsupported';
  return 'model_unavailable';
}

/** Every failure whose client received one of these statuses or codes. */
export function failuresWith(
  isMeant: (received: Pick<ReceivedFailure, 'status' | 'code'>) => boolean,
): readonly RequestFailure[] {
  return REQUEST_FAILURES.filter((failure) => isMeant(receivedFailure(failure)));
}
