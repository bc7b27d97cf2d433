// What can go wrong at an upstream, as values. One class decides what happens next; the words of
// the upstream itself go no further than this type's `detail`, which is ours and holds none.

import { GatewayError } from './error.ts';
import type { GenerationEvent } from './generation.ts';
import type { LimitView } from './plan.ts';

/**
 * unreachable     no connection, or it broke before an answer
 * timeout         one of our timers ran out, or the upstream's own: 408
 * rate_limited    we ask too much of it, it says: 429
 * overloaded      it has no room for anybody: 503, 529, `insufficient_system_resource`
 * no_capacity     it was not asked: it is left alone for a while, or too many wait for it already
 * credential      it refuses *our* key or wallet: 401, 402, 403
 * server_error    5xx and every other status, or an error object inside a 200
 * mismatch        it and our catalog do not agree: 404, 405, 410, a redirect, a model that it does not
 *                 know, or something in the request that we put there and it does not take
 * bad_request     it refuses what the caller asked: 400, 413, 422
 * context_length  a bad request that is about the size of the prompt
 * unsupported     the request has something that this upstream's profile says it cannot take
 * malformed       an answer that cannot be read, or that breaks a limit of the decoder
 * cut             a stream that ended without a finish reason, or a body that broke off
 * gateway         no fault of the upstream: the gateway itself could not go on
 */
export type FailureClass =
  | 'unreachable'
  | 'timeout'
  | 'rate_limited'
  | 'overloaded'
  | 'no_capacity'
  | 'credential'
  | 'server_error'
  | 'mismatch'
  | 'bad_request'
  | 'context_length'
  | 'unsupported'
  | 'malformed'
  | 'cut'
  | 'gateway';

/**
 * What a class of failure means for everybody. Which of the steps that it allows is taken is decided
 * in `failover.ts`, and what its fault does to the upstream's standing in `upstream/health.ts`.
 */
type FailureRow = {
  /**
   * Whether the same candidate may be asked once more.
   *
   * never        it would say the same
   * connection   at once, where there was a connection: a kept one that is closed just as it is used
   *              says nothing; where there was none, as `jitter`
   * credential   at once, with another one of its credentials
   * delay        after the time that it asks for, where that is short
   * jitter       after a random pause, where there is no other candidate
   */
  readonly again: 'never' | 'connection' | 'credential' | 'delay' | 'jitter';
  /** Whether another candidate could answer. A caller's mistake stays one. */
  readonly next: boolean;
  /** Against what it counts: how the upstream does, its credential, or neither. */
  readonly fault: 'upstream' | 'credential' | 'nobody';
};

/**
 * The table of the classes. Three rows need a word:
 *
 * `rate_limited` counts against the credential where there are several, for limits belong to keys.
 *
 * `mismatch` counts against nobody, although the catalog may be wrong for everybody: some upstreams
 * answer 404 to a request with a feature that they lack. Were it counted, one customer's requests
 * could take the model from all others.
 *
 * `malformed` is not asked for again: what sends a web page in the place of an answer sends it twice.
 */
export const FAILURES: Readonly<Record<FailureClass, FailureRow>> = {
  unreachable: { again: 'connection', next: true, fault: 'upstream' },
  timeout: { again: 'jitter', next: true, fault: 'upstream' },
  rate_limited: { again: 'delay', next: true, fault: 'upstream' },
  overloaded: { again: 'jitter', next: true, fault: 'upstream' },
  no_capacity: { again: 'never', next: true, fault: 'nobody' },
  credential: { again: 'credential', next: true, fault: 'credential' },
  server_error: { again: 'jitter', next: true, fault: 'upstream' },
  mismatch: { again: 'never', next: true, fault: 'nobody' },
  bad_request: { again: 'never', next: false, fault: 'nobody' },
  context_length: { again: 'never', next: false, fault: 'nobody' },
  unsupported: { again: 'never', next: true, fault: 'nobody' },
  malformed: { again: 'never', next: true, fault: 'upstream' },
  cut: { again: 'jitter', next: true, fault: 'upstream' },
  gateway: { again: 'never', next: false, fault: 'nobody' },
};

/**
 * Where an attempt was when it failed; for a `timeout`, which of its timers ran out.
 *
 * connect        there was no connection yet
 * first_byte     the request was sent, and nothing of an answer's body had come
 * first_content  something had come, but nothing of the model's
 * stream         content had begun; as a timeout, the gap between two events was too long
 * throughput     content had begun, and came too slowly (timeouts alone)
 * total          the attempt as a whole took too long (timeouts alone)
 */
export type AttemptPhase =
  | 'connect'
  | 'first_byte'
  | 'first_content'
  | 'stream'
  | 'throughput'
  | 'total';

export type UpstreamFailure = {
  readonly class: FailureClass;
  readonly phase?: AttemptPhase;
  /** For the operator's log and `explain`: our own words and numbers, never the upstream's text. */
  readonly detail: string;
  readonly status?: number;
  /** How long the upstream wants to be left alone. */
  readonly retryAfterMs?: number;
  /** The connection that broke had served an earlier request: it may just have been idle too long. */
  readonly onKeptConnection?: true;
};

/** Tells a failure from whatever else stands in its place; nothing else of ours has a class. */
export function isFailure(value: object): value is UpstreamFailure {
  return 'class' in value;
}

type FailureFacts = {
  readonly limits?: LimitView;
  /** How long everybody who could answer is left alone. */
  readonly retryAfterMs?: number;
  /** What was charged all the same, as the receipt has it. */
  readonly tokensDebited?: string;
};

/** What the caller is told when no attempt is left. */
export function failureError(
  failure: UpstreamFailure,
  { limits, retryAfterMs, tokensDebited = '0' }: FailureFacts = {},
): GatewayError {
  const shown = limits === undefined ? {} : { limits };
  switch (failure.class) {
    case 'context_length':
      return new GatewayError('context_length_exceeded', {
        message:
          "prompt is too long: by its tokenizer it is longer than the model's context length. Shorten the messages until they fit the maximum context length.",
        param: 'messages',
        ...shown,
      });
    case 'bad_request':
      return new GatewayError('invalid_request', {
        message:
          'The model refused this request as invalid. Check message order, images, tool schemas, tool results and the response format.',
        ...shown,
      });
    case 'unsupported':
      return new GatewayError('invalid_request', {
        message:
          'The model does not take images in this form. Send PNG, JPEG, GIF or WebP as base64 data, or leave them out.',
        param: 'messages',
        ...shown,
      });
    default:
      return new GatewayError('provider_unavailable', {
        ...(tokensDebited === '0' ? {} : { message: chargedAllTheSame(tokensDebited) }),
        ...shown,
        ...toSeconds(retryAfterMs),
      });
  }
}

/** Others end the requests of a server that they hold for dead, at what is known of them. */
function chargedAllTheSame(tokensDebited: string): string {
  return `The model is not available at the moment. ${tokensDebited} service tokens were charged for what it had been asked, because this server was cut off from its books for too long. Retry with back-off.`;
}

/** A credential may rest for longer, but an operator who is told of it will not wait for that. */
const RETRY_AFTER_MAX_SECONDS = 60;

function toSeconds(retryAfterMs: number | undefined) {
  if (retryAfterMs === undefined) return {};
  return { retryAfterSeconds: Math.min(Math.ceil(retryAfterMs / 1_000), RETRY_AFTER_MAX_SECONDS) };
}

/** What the caller is told when content had already been sent. */
export function interruptedError(): GatewayError {
  return new GatewayError('provider_unavailable', {
    message:
      'The model stopped before its answer was complete. What had been delivered is charged. Retry the request.',
  });
}

/**
 * "Insufficient resources" is a failed attempt where there is no content, and in a format that has
 * no reason of its own for it.
 */
export function exhaustion(
  events: readonly GenerationEvent[],
  tellsExhaustion: boolean,
): UpstreamFailure | undefined {
  const finish = events.at(-1);
  if (finish?.kind !== 'finish' || finish.reason !== 'insufficient_system_resource') return;
  if (tellsExhaustion && events.some(isContent)) return;
  return { class: 'overloaded', detail: 'the upstream had no capacity to finish' };
}

function isContent(event: GenerationEvent): boolean {
  return event.kind !== 'usage' && event.kind !== 'finish';
}
