// Formats the log line of one request, and its level. Pure. Every field is named here, so that no
// other data can get in; a name that does not match our pattern is left out. The text is built
// directly: names are checked and the rest are our own words and numbers, so nothing needs
// escaping.

import { formatTokens } from '../core/money.ts';
import type { AnswerSummary, RequestSummary } from '../core/request-summary.ts';

type Level = 'info' | 'warn' | 'error';

/**
 * Refusals are logged as info: they are the caller's concern, and maintenance is the operator's own
 * choice. A warning is an answer that the client should have received; an error is our fault.
 */
export function levelOf({ code, answer }: RequestSummary): Level {
  if (code === 'internal_error') return 'error';
  const failed = answer?.outcome === 'upstream_failed' || answer?.outcome === 'gateway_failed';
  return failed || code === 'provider_unavailable' ? 'warn' : 'info';
}

/** One JSON object and a line break. `time` is the end of the request, as in ISO 8601. */
export function requestLine(summary: RequestSummary, time: string): string {
  const { requestId, route, format, status, code, accountId, keyId, model, stream } = summary;
  let line = `{"level":"${levelOf(summary)}","time":"${time}","requestId":"${named(requestId)}","route":"${route}","format":"${format}","status":${status}`;
  if (summary.trace !== undefined) line += `,"traceId":"${summary.trace.traceId}"`;
  if (code !== undefined) line += `,"code":"${code}"`;
  if (accountId !== undefined) line += `,"accountId":"${named(accountId)}"`;
  if (keyId !== undefined) line += `,"keyId":"${named(keyId)}"`;
  if (model !== undefined) line += `,"model":"${named(model)}"`;
  if (stream !== undefined) line += `,"stream":${stream}`;
  line += `,"durationMs":${rounded(summary.durationMs)}`;
  if (summary.replayOf !== undefined) line += `,"replayOf":"${named(summary.replayOf)}"`;
  if (summary.answer !== undefined) line += answerFields(summary.answer);
  return `${line},"msg":"request"}\n`;
}

/** Times are those of the last attempt, from its start. */
function answerFields(answer: AnswerSummary): string {
  const { upstream, usage, attempts, failure, loss, promptTokens } = answer;
  let asked = 0;
  let firstByteMs: number | undefined;
  let firstContentMs: number | undefined;
  for (const attempt of attempts) {
    if (attempt.credential === undefined) continue;
    asked += 1;
    ({ firstByteMs, firstContentMs } = attempt);
  }
  let fields = `,"outcome":"${answer.outcome}","modelServed":"${named(answer.modelServed)}"`;
  if (upstream !== undefined) fields += `,"upstream":"${named(upstream)}"`;
  fields += `,"fallbackUsed":${answer.fallbackUsed},"attempts":${asked}`;
  if (asked < attempts.length) fields += `,"skipped":${attempts.length - asked}`;
  if (failure !== undefined) fields += `,"failure":"${failure}"`;
  if (firstByteMs !== undefined) fields += `,"firstByteMs":${rounded(firstByteMs)}`;
  if (firstContentMs !== undefined) fields += `,"firstContentMs":${rounded(firstContentMs)}`;
  fields += `,"estimatedInputTokens":${promptTokens},"inputTokens":${usage.inputTokens},"cachedInputTokens":${usage.cachedInputTokens},"cacheWriteTokens":${usage.cacheWriteTokens},"outputTokens":${usage.outputTokens},"reasoningTokens":${usage.reasoningTokens},"usageBasis":"${usage.basis}"`;
  if (usage.doubt !== undefined) fields += `,"usageDoubt":"${usage.doubt}"`;
  fields += `,"tokensDebited":"${formatTokens(answer.debited)}"`;
  return loss > 0n ? `${fields},"tokensLost":"${formatTokens(loss)}"` : fields;
}

/** An id of ours, or a slug of the catalog. Neither a key nor any text with a space matches. */
const NAME = /^(?:[a-z]{2,5}_[A-Za-z0-9]{1,40}|[a-z0-9][a-z0-9._-]{0,63})$/;

function named(text: string): string {
  return NAME.test(text) ? text : '?';
}

function rounded(ms: number): number {
  return Math.round(ms * 100) / 100;
}
