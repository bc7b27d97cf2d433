// The metrics of requests, answers and attempts. They are updated on the path of every request, so
// each series is looked up once and then added to.

import type { AnswerSummary, AttemptSummary, RequestSummary } from '../core/request-summary.ts';
import { createCounter, createHistogram, createTable, type Register } from './series.ts';

const SECOND_MS = 1_000;
const MICRO = 1_000_000;

const ANSWER_SECONDS = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 40, 60, 120, 300, 600];
const FIRST_SECONDS = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 40];
const ESTIMATE_RATIO = [0.5, 0.7, 0.8, 0.9, 0.95, 1, 1.05, 1.1, 1.2, 1.3, 1.5, 2, 4];

/** Every answered request, refused ones included. */
export function createRequestCounter(
  register: Register,
): (summary: RequestSummary, model: string) => void {
  const requests = createCounter(register, {
    name: 'tollgate_requests_total',
    help: 'Answered requests, by route, model asked for, class of the status, and code of the refusal.',
    labels: ['route', 'format', 'model', 'status', 'code'],
  });
  const requestsOf = createTable((route) =>
    createTable((format) =>
      createTable((model) =>
        createTable((status) =>
          createTable((code) => requests({ route, format, model, status, code })),
        ),
      ),
    ),
  );
  return ({ route, format, status, code }, model) => {
    requestsOf(route)(format)(model)(statusClass(status))(code ?? 'none').value += 1;
  };
}

/** What a request with an `Idempotency-Key` was refused for, as a repeat. */
const REPEATS_REFUSED: ReadonlyMap<string, string> = new Map([
  ['idempotency_key_reused', 'reused'],
  ['idempotent_request_running', 'running'],
  ['idempotent_answer_lost', 'lost'],
]);

/** Requests that repeat an earlier one with the same `Idempotency-Key`. */
export function createRepeatCounter(register: Register): (summary: RequestSummary) => void {
  const repeats = createCounter(register, {
    name: 'tollgate_repeats_total',
    help: 'Repeats with an Idempotency-Key: replayed, reused, running, lost.',
    labels: ['result'],
  });
  const repeatsOf = createTable((result) => repeats({ result }));
  return ({ replayOf, code }) => {
    const result = replayOf === undefined ? code && REPEATS_REFUSED.get(code) : 'replayed';
    if (result !== undefined) repeatsOf(result).value += 1;
  };
}

function statusClass(status: number): string {
  if (status < 300) return '2xx';
  return status < 500 ? '4xx' : '5xx';
}

/** Requests that had a grant: outcome, usage and cost. */
export function createAnswerMetrics(
  register: Register,
): (summary: RequestSummary, answer: AnswerSummary, model: string) => void {
  const outcomes = createCounter(register, {
    name: 'tollgate_answers_total',
    help: 'Requests that were let in, by model asked for, format, mode, outcome, and whether a fallback served.',
    labels: ['model', 'format', 'mode', 'outcome', 'fallback'],
  });
  const seconds = createHistogram(register, {
    name: 'tollgate_answer_seconds',
    help: 'From the request to the end of its answer, by model asked for.',
    labels: ['model', 'mode'],
    buckets: ANSWER_SECONDS,
  });
  const tokens = createCounter(register, {
    name: 'tollgate_tokens_total',
    help: 'Model tokens by serving model. input includes cached_input and cache_write; output includes reasoning.',
    labels: ['model', 'kind'],
  });
  const debited = createCounter(register, {
    name: 'tollgate_debited_service_tokens_total',
    help: 'Service tokens taken from accounts, by serving model. For graphs: the exact books are in the database.',
    labels: ['model'],
  });
  const lost = createCounter(register, {
    name: 'tollgate_lost_service_tokens_total',
    help: 'Service tokens of charges that an account could not pay: the gateway has lost them.',
    labels: ['model'],
  });
  const estimateRatio = createHistogram(register, {
    name: 'tollgate_estimate_ratio',
    help: 'Prompt tokens that the upstream reported, divided by the estimate of the gateway.',
    labels: ['model'],
    buckets: ESTIMATE_RATIO,
  });
  const doubts = createCounter(register, {
    name: 'tollgate_doubted_usage_total',
    help: 'Reports of an upstream about its usage that cannot be right, by serving model.',
    labels: ['model', 'doubt'],
  });
  const askedFor = createTable((model) => ({
    outcomes: createTable((format) =>
      createTable((mode) =>
        createTable((outcome) =>
          createTable((fallback) => outcomes({ model, format, mode, outcome, fallback })),
        ),
      ),
    ),
    seconds: createTable((mode) => seconds({ model, mode })),
  }));
  const servedBy = createTable((model) => ({
    input: tokens({ model, kind: 'input' }),
    cachedInput: tokens({ model, kind: 'cached_input' }),
    cacheWrite: tokens({ model, kind: 'cache_write' }),
    output: tokens({ model, kind: 'output' }),
    reasoning: tokens({ model, kind: 'reasoning' }),
    debited: debited({ model }),
    lost: lost({ model }),
    estimateRatio: estimateRatio({ model }),
    doubts: createTable((doubt) => doubts({ model, doubt })),
  }));

  return (summary, answer, model) => {
    const mode = summary.stream === true ? 'stream' : 'whole';
    const asked = askedFor(model);
    const fallback = answer.fallbackUsed ? 'yes' : 'no';
    asked.outcomes(summary.format)(mode)(answer.outcome)(fallback).value += 1;
    asked.seconds(mode)(summary.durationMs / SECOND_MS);
    const { usage, debited, loss, promptTokens } = answer;
    const served = servedBy(answer.modelServed);
    served.input.value += usage.inputTokens;
    served.cachedInput.value += usage.cachedInputTokens;
    served.cacheWrite.value += usage.cacheWriteTokens;
    served.output.value += usage.outputTokens;
    served.reasoning.value += usage.reasoningTokens;
    served.debited.value += Number(debited) / MICRO;
    served.lost.value += Number(loss) / MICRO;
    if (usage.doubt !== undefined) served.doubts(usage.doubt).value += 1;
    const hasReport = usage.basis === 'reported' && usage.inputTokens > 0 && promptTokens > 0;
    if (hasReport) served.estimateRatio(usage.inputTokens / promptTokens);
  };
}

/** Attempts at upstreams; a request with failovers has several. */
export function createAttemptMetrics(register: Register): (attempt: AttemptSummary) => void {
  const labels = ['upstream', 'model'] as const;
  const attempts = createCounter(register, {
    name: 'tollgate_upstream_attempts_total',
    help: 'Attempts by upstream and serving model; result is served, or the class of the failure.',
    labels: [...labels, 'result'],
  });
  const skipped = createCounter(register, {
    name: 'tollgate_upstream_skipped_total',
    help: 'Times that an upstream was skipped, by the class of the reason.',
    labels: [...labels, 'reason'],
  });
  const cost = createCounter(register, {
    name: 'tollgate_upstream_cost_service_tokens_total',
    help: 'What upstreams charge the operator, in service tokens, where the catalog has their cost.',
    labels,
  });
  const firstByte = createHistogram(register, {
    name: 'tollgate_upstream_first_byte_seconds',
    help: 'From the start of an attempt to the first byte of its answer.',
    labels,
    buckets: FIRST_SECONDS,
  });
  const firstContent = createHistogram(register, {
    name: 'tollgate_upstream_first_content_seconds',
    help: 'From the start of an attempt to the first content of its answer.',
    labels,
    buckets: FIRST_SECONDS,
  });
  const total = createHistogram(register, {
    name: 'tollgate_upstream_attempt_seconds',
    help: 'From the start of an attempt to its end, failed ones included.',
    labels,
    buckets: ANSWER_SECONDS,
  });
  const seriesOf = createTable((upstream) =>
    createTable((model) => ({
      results: createTable((result) => attempts({ upstream, model, result })),
      skipped: createTable((reason) => skipped({ upstream, model, reason })),
      cost: cost({ upstream, model }),
      firstByte: firstByte({ upstream, model }),
      firstContent: firstContent({ upstream, model }),
      total: total({ upstream, model }),
    })),
  );
  return (attempt) => {
    const series = seriesOf(attempt.upstream)(attempt.model);
    const { credential, failure = 'served', firstByteMs, firstContentMs } = attempt;
    if (credential === undefined) {
      series.skipped(failure).value += 1;
      return;
    }
    series.results(failure).value += 1;
    if (firstByteMs !== undefined) series.firstByte(firstByteMs / SECOND_MS);
    if (firstContentMs !== undefined) series.firstContent(firstContentMs / SECOND_MS);
    // The wall clock may have been set back in between.
    series.total(Math.max(0, attempt.endedAt - attempt.startedAt) / SECOND_MS);
    if (attempt.cost !== undefined) series.cost.value += Number(attempt.cost);
  };
}
