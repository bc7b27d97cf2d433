// The log's line of one request, and its level. Pure. Each field is named here, so
// that nothing else of a value can get in, and a name that has not the shape of ours is left out.

import { formatTokens } from '../core/money.ts';
import type { AnswerSummary, RequestSummary } from '../core/request-summary.ts';

type Line = Record<string, string | number | boolean>;

type RequestLine = Readonly<Line>;

/**
 * Refusals are logged like answers: they are the caller's business, and maintenance the operator's own.
 * A warning is an answer that a client should have got and did not; an error is a fault of ours.
 */
export function levelOf({ code, answer }: RequestSummary): 'info' | 'warn' | 'error' {
  if (code === 'internal_error') return 'error';
  const failed = answer?.outcome === 'upstream_failed' || answer?.outcome === 'gateway_failed';
  return failed || code === 'provider_unavailable' ? 'warn' : 'info';
}

export function requestLine(summary: RequestSummary): RequestLine {
  const { code, accountId, keyId, model, stream, answer } = summary;
  const line: Line = {
    requestId: named(summary.requestId),
    route: summary.route,
    format: summary.format,
    status: summary.status,
  };
  if (code !== undefined) line['code'] = code;
  if (accountId !== undefined) line['accountId'] = named(accountId);
  if (keyId !== undefined) line['keyId'] = named(keyId);
  if (model !== undefined) line['model'] = named(model);
  if (stream !== undefined) line['stream'] = stream;
  line['durationMs'] = rounded(summary.durationMs);
  if (answer !== undefined) addAnswer(line, answer);
  return line;
}

/** Times are of the last attempt, from its start. */
function addAnswer(line: Line, answer: AnswerSummary): void {
  const { upstream, usage, attempts, failure } = answer;
  const asked = attempts.filter(({ credential }) => credential !== undefined);
  const { firstByteMs, firstContentMs } = asked.at(-1) ?? {};
  line['outcome'] = answer.outcome;
  line['modelServed'] = named(answer.modelServed);
  if (upstream !== undefined) line['upstream'] = named(upstream);
  line['fallbackUsed'] = answer.fallbackUsed;
  line['attempts'] = asked.length;
  if (asked.length < attempts.length) line['skipped'] = attempts.length - asked.length;
  if (failure !== undefined) line['failure'] = failure;
  if (firstByteMs !== undefined) line['firstByteMs'] = rounded(firstByteMs);
  if (firstContentMs !== undefined) line['firstContentMs'] = rounded(firstContentMs);
  line['estimatedInputTokens'] = answer.promptTokens;
  line['inputTokens'] = usage.inputTokens;
  line['cachedInputTokens'] = usage.cachedInputTokens;
  line['cacheWriteTokens'] = usage.cacheWriteTokens;
  line['outputTokens'] = usage.outputTokens;
  line['reasoningTokens'] = usage.reasoningTokens;
  line['usageBasis'] = usage.basis;
  if (usage.doubt !== undefined) line['usageDoubt'] = usage.doubt;
  line['tokensDebited'] = formatTokens(answer.debited);
  if (answer.loss > 0n) line['tokensLost'] = formatTokens(answer.loss);
}

/** An id of ours, or a slug of the catalog. A key has neither shape, nor has anything with a space. */
const NAME = /^(?:[a-z]{2,5}_[A-Za-z0-9]{1,40}|[a-z0-9][a-z0-9._-]{0,63})$/;

function named(text: string): string {
  return NAME.test(text) ? text : '?';
}

function rounded(ms: number): number {
  return Math.round(ms * 100) / 100;
}
