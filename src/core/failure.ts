// The ways in which an upstream can fail, as values. The class decides what happens next. `detail`
// is our own text; `said` is the upstream's, for operators only.

import { GatewayError } from './error.ts';
import type { GenerationEvent } from './generation.ts';
import type { LimitView } from './plan.ts';

/**
 * The consequences of a failure class. `failover.ts` chooses among the allowed steps, and
 * `upstream/health.ts` applies the fault to the upstream's health.
 */
type FailureRow = {
  /**
   * Whether the same candidate may be retried.
   *
   * never        the result would be the same
   * connection   immediately after a broken connection, since a kept-alive one may close just as it
   *              is used; without a connection, as `jitter`
   * credential   immediately, with another of its credentials
   * delay        after the delay that it requests, if that is short
   * jitter       after a random pause, if there is no other candidate
   */
  readonly again: 'never' | 'connection' | 'credential' | 'delay' | 'jitter';
  /** Whether another candidate could answer. A caller's mistake fails everywhere. */
  readonly next: boolean;
  /** What the failure counts against: the upstream, its credential, or neither. */
  readonly fault: 'upstream' | 'credential' | 'neither';
};

/**
 * The classes:
 *
 * unreachable     no connection, or it broke before an answer
 * timeout         one of our timers expired, or the upstream's own: 408
 * rate_limited    the upstream limits our requests: 429
 * overloaded      it has no capacity for any client: 503, 529, `insufficient_system_resource`
 * no_capacity     it was not called: breaker open, credentials in cooldown, or queue full
 * credential      it refuses *our* key or balance: 401, 402, 403
 * server_error    5xx and every other status, or an error object inside a 200
 * mismatch        it disagrees with our catalog: 404, 405, 410, a redirect, an unknown model, or
 *                 a field that we added and it rejects
 * bad_request     it refuses the caller's request: 400, 422
 * content_policy  its filter refuses the content of the caller's request
 * too_large       the request is larger than this place allows: 413
 * context_length  a bad request because of the prompt's size
 * unsupported     the request needs a feature that this upstream's profile lacks
 * malformed       an unreadable answer, or one that exceeds a limit of the decoder
 * cut             a stream without a finish reason, or a truncated body
 * gateway         not the upstream's fault: the gateway could not continue
 *
 * Three rows need an explanation:
 *
 * `rate_limited` counts against the credential if there are several, because limits belong to keys.
 *
 * `mismatch` counts against neither, although the catalog may be wrong for every caller: some
 * upstreams answer 404 to a request with a feature that they lack. If it counted, one customer's
 * requests could block the model for all others. A probe decides instead (`core/acceptance.ts`).
 *
 * `malformed` is not retried: a server that sends a web page as its answer will send it again.
 */
export const FAILURES = {
  unreachable: { again: 'connection', next: true, fault: 'upstream' },
  timeout: { again: 'jitter', next: true, fault: 'upstream' },
  rate_limited: { again: 'delay', next: true, fault: 'upstream' },
  overloaded: { again: 'jitter', next: true, fault: 'upstream' },
  no_capacity: { again: 'never', next: true, fault: 'neither' },
  credential: { again: 'credential', next: true, fault: 'credential' },
  server_error: { again: 'jitter', next: true, fault: 'upstream' },
  mismatch: { again: 'never', next: true, fault: 'neither' },
  bad_request: { again: 'never', next: false, fault: 'neither' },
  content_policy: { again: 'never', next: false, fault: 'neither' },
  too_large: { again: 'never', next: true, fault: 'neither' },
  context_length: { again: 'never', next: false, fault: 'neither' },
  unsupported: { again: 'never', next: true, fault: 'neither' },
  malformed: { again: 'never', next: true, fault: 'upstream' },
  cut: { again: 'jitter', next: true, fault: 'upstream' },
  gateway: { again: 'never', next: false, fault: 'neither' },
} as const satisfies Readonly<Record<string, FailureRow>>;

export type FailureClass = keyof typeof FAILURES;

/**
 * The stage at which an attempt failed; for a `timeout`, which timer expired.
 *
 * connect        there was no connection yet
 * first_byte     the request was sent, and no byte of the body had arrived
 * first_content  bytes had arrived, but no model output
 * stream         content had begun; as a timeout, the gap between two events was too long
 * throughput     content had begun but arrived too slowly (timeouts only)
 * total          the attempt as a whole took too long (timeouts only)
 */
export type AttemptPhase =
  | 'connect'
  | 'first_byte'
  | 'first_content'
  | 'stream'
  | 'throughput'
  | 'total';

/**
 * What an upstream said of a failure, for operators only. The attempt removes what the caller wrote
 * and what authenticates us before any other code sees it (`wire/upstream/hide-words.ts`).
 */
export type UpstreamSaid = {
  /** The error's code, or its type if it has no code. */
  readonly code?: string | undefined;
  /** The parameter of the request that the error names. */
  readonly param?: string | undefined;
  readonly message?: string | undefined;
};

export type UpstreamFailure = {
  readonly class: FailureClass;
  readonly phase?: AttemptPhase;
  /** For the operator's log and `explain`: our own text and numbers, never the upstream's text. */
  readonly detail: string;
  readonly status?: number;
  /** What the upstream said; no client sees it. Once the attempt has ended, without secrets. */
  readonly said?: UpstreamSaid;
  /**
   * It refuses earlier thinking that we gave back, of another model or bound to another
   * conversation: the attempt asks once more without it.
   */
  readonly refusesThinking?: true;
  /** The parameter that the gateway chose and the upstream refuses: a name of ours. */
  readonly chosen?: string;
  /** The delay that the upstream requests. */
  readonly retryAfterMs?: number;
  /** The broken connection had served an earlier request: it may just have been idle too long. */
  readonly onKeptConnection?: true;
};

/** What an upstream said to one attempt of a request. */
export type HeardWords = {
  readonly upstream: string;
  /** The slug of the model. */
  readonly model: string;
  readonly failure: FailureClass;
  readonly status?: number | undefined;
  /** From `saidWords`. */
  readonly words: string;
  readonly requestId: string;
  /** Unix milliseconds. */
  readonly at: number;
};

/** One line: status, code, parameter and message. Empty if there is none of them. */
export function saidWords({ said = {}, status }: Pick<UpstreamFailure, 'said' | 'status'>): string {
  const { code, param, message } = said;
  const head = [status, code, param && `(${param})`].filter((word) => word !== undefined).join(' ');
  return [head, message].filter(Boolean).join(': ');
}

/** Distinguishes a failure from other values; no other type here has a `class`. */
export function isFailure(value: object): value is UpstreamFailure {
  return 'class' in value;
}

type FailureFacts = {
  readonly limits?: LimitView;
  /** The shortest delay after which one of the candidates may be available. */
  readonly retryAfterMs?: number;
  /** The amount charged despite the failure, as printed on the receipt. */
  readonly tokensDebited?: string;
};

/** The error for a caller when no attempt is left. */
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
    case 'content_policy':
      return new GatewayError('invalid_request', {
        message:
          'content_policy: a content filter of the model refused this request. Change its content; sent again unchanged, it fails again.',
        ...shown,
      });
    case 'too_large':
      return new GatewayError('payload_too_large', {
        message:
          'This request is larger than the model accepts at the moment. Send less, for example fewer messages or smaller images.',
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

/** Other nodes end the requests of an evicted node and charge what is known of them. */
function chargedAllTheSame(tokensDebited: string): string {
  return `The model is not available at the moment. ${tokensDebited} service tokens were charged for what it had been asked, because this server was cut off from its books for too long. Retry with back-off.`;
}

/** A credential's cooldown may be longer, but an alerted operator may fix it sooner. */
const RETRY_AFTER_MAX_SECONDS = 60;

function toSeconds(retryAfterMs: number | undefined) {
  if (retryAfterMs === undefined) return {};
  return { retryAfterSeconds: Math.min(Math.ceil(retryAfterMs / 1_000), RETRY_AFTER_MAX_SECONDS) };
}

/** The error for a caller when content has already been sent. */
export function interruptedError(): GatewayError {
  return new GatewayError('provider_unavailable', {
    message:
      'The model stopped before its answer was complete. What had been delivered is charged. Retry the request.',
  });
}

/**
 * Treats "insufficient resources" as a failed attempt if the client sees no content, or if its
 * format has no finish reason for it. Where it does not see reasoning, that is no content.
 */
export function exhaustion(
  events: readonly GenerationEvent[],
  tellsExhaustion: boolean,
  showsReasoning = true,
): UpstreamFailure | undefined {
  const finish = events.at(-1);
  if (finish?.kind !== 'finish' || finish.reason !== 'insufficient_system_resource') return;
  const isSeen = (event: GenerationEvent): boolean =>
    isContent(event) && (showsReasoning || event.kind !== 'reasoning-delta');
  if (tellsExhaustion && events.some(isSeen)) return;
  return { class: 'overloaded', detail: 'the upstream had no capacity to finish' };
}

function isContent(event: GenerationEvent): boolean {
  return event.kind !== 'usage' && event.kind !== 'finish' && event.kind !== 'annotation';
}
