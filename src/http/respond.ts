// Builds every response of the /v1 surface, finished and with its own headers. The framework adds
// nothing: a header is always present or has its rule in this file.

import { GatewayError } from '../core/error.ts';
import type { LimitView } from '../core/plan.ts';
import type { Generated } from '../generate/pipeline-types.ts';
import type { ClientFormat } from '../wire/format.ts';

type HeaderMap = Record<string, string>;

const EVENT_STREAM = 'text/event-stream; charset=utf-8';

function baseHeaders(requestId: string, contentType: string): HeaderMap {
  return { 'content-type': contentType, 'x-request-id': requestId, 'request-id': requestId };
}

function addLimits(headers: HeaderMap, limits: LimitView): void {
  headers['x-ratelimit-limit-requests'] = String(limits.limitRequests);
  headers['x-ratelimit-remaining-requests'] = String(limits.remainingRequests);
  headers['x-ratelimit-limit-tokens'] = String(limits.limitTokens);
  headers['x-ratelimit-remaining-tokens'] = String(limits.remainingTokens);
  headers['x-ratelimit-reset-requests'] = `${limits.resetRequestsSeconds}s`;
}

export function respondJson(requestId: string, value: unknown): Response {
  return new Response(JSON.stringify(value), {
    headers: baseHeaders(requestId, 'application/json'),
  });
}

/** A whole answer or a stream, with its headers. */
export function respondGenerated(requestId: string, generated: Generated): Response {
  if (generated.kind === 'repeated') return generated.response;
  if (generated.kind === 'cancelled') return new Response(null, { status: 499 });
  const whole = generated.kind === 'whole';
  const headers = baseHeaders(requestId, whole ? 'application/json' : EVENT_STREAM);
  if (generated.modelServed !== undefined) headers['x-svc-model'] = generated.modelServed;
  addLimits(headers, generated.limits);
  if (whole) {
    headers['x-svc-tokens-debited'] = generated.receipt.tokensDebited;
    headers['x-svc-balance'] = generated.receipt.balanceTokens;
  } else {
    headers['cache-control'] = 'no-cache';
    // nginx buffers streams unless a header disables it.
    headers['x-accel-buffering'] = 'no';
  }
  return new Response(generated.body, { headers });
}

/** The headers of an answer that a repeat gets again, with the limits as they are now. */
export function replayedHeaders(
  kept: readonly (readonly [name: string, value: string])[],
  limits: LimitView,
): HeaderMap {
  const headers: HeaderMap = { ...Object.fromEntries(kept), 'x-svc-replayed': 'true' };
  addLimits(headers, limits);
  return headers;
}

/** An unexpected error becomes internal: `onInternal` logs it, and the caller gets no details. */
export function refusalOf(thrown: unknown, onInternal: (error: unknown) => void): GatewayError {
  if (thrown instanceof GatewayError) return thrown;
  onInternal(thrown);
  return new GatewayError('internal_error');
}

/**
 * The error in the caller's envelope. The connection stays open over an unread body, whose rest the
 * runtime discards; `beforeClosing` is for those that end.
 */
export function respondError(
  error: GatewayError,
  requestId: string,
  format: ClientFormat,
  allow?: string,
): Response {
  const headers = baseHeaders(requestId, 'application/json');
  if (error.retryAfterSeconds !== undefined) {
    headers['retry-after'] = String(error.retryAfterSeconds);
  }
  if (error.closesConnection) headers['connection'] = 'close';
  if (error.forbidsRetry) headers['x-should-retry'] = 'false';
  if (error.limits !== undefined) addLimits(headers, error.limits);
  if (allow !== undefined) headers['allow'] = allow;
  return new Response(format.error(error, requestId), { status: error.status, headers });
}
