// The log's line of one request, and the level it is told at. Pure. Each field is named here, so
// that nothing else of a value can get in, and a name that has not the shape of ours is left out.

import { formatTokens } from '../core/money.ts';
import type { AnswerSummary, RequestSummary } from '../core/request-summary.ts';

export type RequestLine = Readonly<Record<string, string | number | boolean>>;

/**
 * Refusals are told like answers: they are the caller's business, and maintenance the operator's own.
 * A warning is an answer that somebody should have got and did not; an error is a fault of ours.
 */
export function levelOf({ code, answer }: RequestSummary): 'info' | 'warn' | 'error' {
  if (code === 'internal_error') return 'error';
  const failed = answer?.outcome === 'upstream_failed' || answer?.outcome === 'gateway_failed';
  return failed || code === 'provider_unavailable' ? 'warn' : 'info';
}

export function requestLine(summary: RequestSummary): RequestLine {
  const { requestId, route, format, status, code, accountId, keyId, model, stream } = summary;
  const { durationMs, answer } = summary;
  return {
    requestId: named(requestId),
    route,
    format,
    status,
    ...(code === undefined ? {} : { code }),
    ...(accountId === undefined ? {} : { accountId: named(accountId) }),
    ...(keyId === undefined ? {} : { keyId: named(keyId) }),
    ...(model === undefined ? {} : { model: named(model) }),
    ...(stream === undefined ? {} : { stream }),
    durationMs: rounded(durationMs),
    ...(answer === undefined ? {} : answerFields(answer)),
  };
}

/** Times are of the last attempt, from its start. */
function answerFields(answer: AnswerSummary): RequestLine {
  const { modelServed, upstream, outcome, usage, debited, loss, attempts, failure } = answer;
  const asked = attempts.filter(({ credential }) => credential !== undefined);
  const { firstByteMs, firstContentMs } = asked.at(-1) ?? {};
  return {
    outcome,
    modelServed: named(modelServed),
    ...(upstream === undefined ? {} : { upstream: named(upstream) }),
    fallbackUsed: answer.fallbackUsed,
    attempts: asked.length,
    ...(asked.length === attempts.length ? {} : { skipped: attempts.length - asked.length }),
    ...(failure === undefined ? {} : { failure }),
    ...(firstByteMs === undefined ? {} : { firstByteMs: rounded(firstByteMs) }),
    ...(firstContentMs === undefined ? {} : { firstContentMs: rounded(firstContentMs) }),
    estimatedInputTokens: answer.promptTokens,
    inputTokens: usage.inputTokens,
    cachedInputTokens: usage.cachedInputTokens,
    cacheWriteTokens: usage.cacheWriteTokens,
    outputTokens: usage.outputTokens,
    reasoningTokens: usage.reasoningTokens,
    usageBasis: usage.basis,
    ...(usage.doubt === undefined ? {} : { usageDoubt: usage.doubt }),
    tokensDebited: formatTokens(debited),
    ...(loss === 0n ? {} : { tokensLost: formatTokens(loss) }),
  };
}

/** An id of ours, or a slug of the catalog. A key has neither shape, nor has anything with a space. */
const NAME = /^(?:[a-z]{2,5}_[A-Za-z0-9]{1,40}|[a-z0-9][a-z0-9._-]{0,63})$/;

function named(text: string): string {
  return NAME.test(text) ? text : '?';
}

function rounded(ms: number): number {
  return Math.round(ms * 100) / 100;
}
