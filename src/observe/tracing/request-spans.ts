// The spans of an ended request: one for the request, and one for each attempt at an upstream. Built
// from its summary, which has no field for a prompt, an answer, a key, a header or an address. Names
// follow the semantic conventions for HTTP and for generative AI:
// https://github.com/open-telemetry/semantic-conventions-genai. Pure.

import { formatTokens } from '../../core/money.ts';
import {
  type AnswerSummary,
  type AttemptSummary,
  GENERATES,
  type RequestSummary,
  type RouteName,
} from '../../core/request-summary.ts';
import type { RequestTrace } from '../../core/trace.ts';
import {
  type AttributeValue,
  attributes,
  CLIENT,
  nanos,
  SERVER,
  type SpanEvent,
  type TraceSpan,
} from './span.ts';

/** `http.route` and the method. */
const ROUTES: Readonly<Record<RouteName, readonly [method: string, path: string] | undefined>> = {
  chat_completions: ['POST', '/v1/chat/completions'],
  messages: ['POST', '/v1/messages'],
  count_tokens: ['POST', '/v1/messages/count_tokens'],
  responses: ['POST', '/v1/responses'],
  input_tokens: ['POST', '/v1/responses/input_tokens'],
  models: ['GET', '/v1/models'],
  model: ['GET', '/v1/models/:model'],
  api_keys: ['GET', '/v1/api-keys'],
  account: ['GET', '/v1/account'],
  receipt: ['GET', '/v1/receipts/:request_id'],
  metrics: ['GET', '/metrics'],
  playground_chat_completions: undefined,
  playground_messages: undefined,
  playground_responses: undefined,
  elsewhere: undefined,
};

const OPERATION = 'chat';

const SAMPLED = 0x01;
const KNOWS_PARENT = 0x100;
const REMOTE_PARENT = 0x200;

const SECOND_MS = 1_000;
const FAILED_STATUS = 500;

export function requestSpans(summary: RequestSummary, trace: RequestTrace): TraceSpan[] {
  const { answer } = summary;
  const called = (answer?.attempts ?? []).filter(({ credential }) => credential !== undefined);
  const spans = [requestSpan(summary, trace)];
  called.forEach((attempt, index) => {
    const spanId = trace.attemptSpanIds[index];
    if (spanId !== undefined) spans.push(attemptSpan(attempt, spanId, trace));
  });
  return spans;
}

function requestSpan(summary: RequestSummary, trace: RequestTrace): TraceSpan {
  const { route, status, code, answer, durationMs } = summary;
  const [method, path] = ROUTES[route] ?? [];
  const error = code ?? answer?.failure;
  const isFailed = status >= FAILED_STATUS || answer?.failure !== undefined;
  const firstTokenMs = firstTokenOf(summary, trace);
  return {
    traceId: trace.traceId,
    spanId: trace.spanId,
    ...(trace.parentSpanId === undefined ? {} : { parentSpanId: trace.parentSpanId }),
    flags: SAMPLED + KNOWS_PARENT + (trace.parentSpanId === undefined ? 0 : REMOTE_PARENT),
    name: method === undefined ? route : `${method} ${path}`,
    kind: SERVER,
    startTimeUnixNano: nanos(trace.startedAt),
    // The trace begins just before the duration does, so its last mark may be the later one.
    endTimeUnixNano: nanos(trace.startedAt + Math.max(durationMs, trace.marks.settle ?? 0)),
    attributes: attributes({
      'http.request.method': method,
      'http.route': path,
      'http.response.status_code': status,
      'error.type': error,
      'gen_ai.operation.name': GENERATES.has(route) ? OPERATION : undefined,
      'gen_ai.request.model': summary.model,
      'gen_ai.request.stream': summary.stream,
      'gen_ai.response.time_to_first_chunk': seconds(firstTokenMs),
      'tollgate.request.id': summary.requestId,
      'tollgate.account.id': summary.accountId,
      'tollgate.key.id': summary.keyId,
      'tollgate.route': route,
      'tollgate.format': summary.format,
      'tollgate.replay_of': summary.replayOf,
      ...(answer === undefined ? {} : answerAttributes(answer)),
    }),
    events: requestEvents(answer, trace, firstTokenMs),
    status: { code: isFailed ? 2 : 0 },
  };
}

/** Upstream and model are absent if no upstream was called. */
function answerAttributes(answer: AnswerSummary): Record<string, AttributeValue> {
  const { usage, upstream, loss } = answer;
  const isServed = upstream !== undefined && answer.failure === undefined;
  return {
    'gen_ai.provider.name': upstream,
    'gen_ai.response.model': isServed ? answer.modelServed : undefined,
    'gen_ai.usage.input_tokens': usage.inputTokens,
    'gen_ai.usage.cache_read.input_tokens': usage.cachedInputTokens,
    'gen_ai.usage.cache_creation.input_tokens': usage.cacheWriteTokens,
    'gen_ai.usage.output_tokens': usage.outputTokens,
    'gen_ai.usage.reasoning.output_tokens': usage.reasoningTokens,
    'tollgate.outcome': answer.outcome,
    'tollgate.fallback_used': answer.fallbackUsed,
    'tollgate.usage.basis': usage.basis,
    'tollgate.estimated_input_tokens': answer.promptTokens,
    'tollgate.debited_service_tokens': formatTokens(answer.debited),
    'tollgate.lost_service_tokens': loss > 0n ? formatTokens(loss) : undefined,
  };
}

/**
 * Milliseconds from the start until the first content could be sent to the client of a stream: it
 * waits for the upstream and for the hold.
 */
function firstTokenOf({ stream, answer }: RequestSummary, trace: RequestTrace): number | undefined {
  if (stream !== true) return undefined;
  const serving = answer?.attempts.findLast(({ firstContentMs }) => firstContentMs !== undefined);
  if (serving?.firstContentMs === undefined) return undefined;
  const { hold = 0, held = hold } = trace.marks;
  return Math.max(serving.startedAt - trace.startedAt + serving.firstContentMs, held);
}

function requestEvents(
  answer: AnswerSummary | undefined,
  trace: RequestTrace,
  firstTokenMs: number | undefined,
): SpanEvent[] {
  const { hold, held, settle } = trace.marks;
  const events: SpanEvent[] = [];
  const add = (name: string, ms: number | undefined, values = {}): void => {
    if (ms === undefined) return;
    const timeUnixNano = nanos(trace.startedAt + ms);
    events.push({ timeUnixNano, name, attributes: attributes(values) });
  };
  add('tollgate.hold', hold);
  add('tollgate.hold_durable', held);
  for (const attempt of answer?.attempts ?? []) {
    if (attempt.credential !== undefined) continue;
    const { upstream, model, failure, startedAt } = attempt;
    add('tollgate.upstream_skipped', startedAt - trace.startedAt, {
      'gen_ai.provider.name': upstream,
      'tollgate.model': model,
      'error.type': failure,
    });
  }
  add('tollgate.first_token', firstTokenMs);
  add('tollgate.settle', settle, {
    'tollgate.outcome': answer?.outcome,
    'tollgate.debited_service_tokens':
      answer === undefined ? undefined : formatTokens(answer.debited),
  });
  return events;
}

function attemptSpan(attempt: AttemptSummary, spanId: string, trace: RequestTrace): TraceSpan {
  const { upstream, model, upstreamModel, startedAt, failure, firstByteMs, firstContentMs } =
    attempt;
  const events: SpanEvent[] = [];
  const add = (name: string, ms: number | undefined): void => {
    if (ms !== undefined) events.push({ timeUnixNano: nanos(startedAt + ms), name });
  };
  add('tollgate.first_byte', firstByteMs);
  add('tollgate.first_token', firstContentMs);
  return {
    traceId: trace.traceId,
    spanId,
    parentSpanId: trace.spanId,
    flags: SAMPLED + KNOWS_PARENT,
    name: `${OPERATION} ${upstreamModel ?? model}`,
    kind: CLIENT,
    startTimeUnixNano: nanos(startedAt),
    // The wall clock may have been set back in between.
    endTimeUnixNano: nanos(Math.max(startedAt, attempt.endedAt)),
    attributes: attributes({
      'gen_ai.operation.name': OPERATION,
      'gen_ai.provider.name': upstream,
      'gen_ai.request.model': upstreamModel,
      'http.response.status_code': attempt.status,
      'error.type': failure,
      'tollgate.model': model,
      'tollgate.upstream.credential': attempt.credential,
      'tollgate.upstream.cost_service_tokens': attempt.cost,
    }),
    events,
    status: { code: failure === undefined ? 0 : 2 },
  };
}

function seconds(ms: number | undefined): number | undefined {
  return ms === undefined ? undefined : ms / SECOND_MS;
}
