// What can go wrong at an upstream, as values. One class decides what happens next; the words of
// the upstream itself go no further than this type's `detail`, which is ours and holds none.

import { GatewayError } from './error.ts';
import type { GenerationEvent } from './generation.ts';
import type { LimitView } from './plan.ts';

/**
 * unreachable     no connection, or it broke before an answer
 * timeout         no first byte, a silent stream, or the total time is over
 * overloaded      the upstream's capacity: 429, 503, 529, `insufficient_system_resource`
 * credential      the upstream refuses *our* key or wallet: 401, 402, 403
 * server_error    any other status, an error object inside a 200, or a 404: our catalog is wrong then
 * bad_request     the upstream refuses the request itself: 400, 413, 422
 * context_length  a bad request that is about the size of the prompt
 * unsupported     the request has something that this upstream's profile says it cannot take
 * malformed       an answer that cannot be read, or that breaks a limit of the decoder
 * cut             a stream that ended without a finish reason, or a body that broke off
 * gateway         no fault of the upstream: the gateway itself could not go on
 */
export type FailureClass =
  | 'unreachable'
  | 'timeout'
  | 'overloaded'
  | 'credential'
  | 'server_error'
  | 'bad_request'
  | 'context_length'
  | 'unsupported'
  | 'malformed'
  | 'cut'
  | 'gateway';

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
};

/** Tells a failure from whatever else stands in its place; nothing else of ours has a class. */
export function isFailure(value: object): value is UpstreamFailure {
  return 'class' in value;
}

/** Whether another upstream could answer where this one failed. A caller's mistake stays one. */
export function mayTryNext({ class: kind }: UpstreamFailure): boolean {
  return kind !== 'bad_request' && kind !== 'context_length' && kind !== 'gateway';
}

/** What the caller is told when no attempt is left. */
export function failureError(failure: UpstreamFailure, limits?: LimitView): GatewayError {
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
          'The model refused this request as invalid. Check message order, images, tool schemas and tool results.',
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
      return new GatewayError('provider_unavailable', shown);
  }
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
