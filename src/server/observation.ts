// What a server reports to its operators: the log, metrics, and alerts with their webhook. Opened
// first and closed last, because every other part reports to it.

import type { Config } from '../config/settings.ts';
import { publicUrl } from '../config/urls.ts';
import type { Activity } from '../core/activity.ts';
import type { Alert } from '../core/alert.ts';
import { alertWords } from '../core/alert-sentence.ts';
import type { HeardWords } from '../core/failure.ts';
import type { RequestSummary } from '../core/request-summary.ts';
import type { StartTrace } from '../core/trace.ts';
import { createActivity } from '../observe/activity.ts';
import { createLog, type Log } from '../observe/log.ts';
import { watchLoopLag } from '../observe/loop-lag.ts';
import { createMetrics, type Metrics } from '../observe/metrics.ts';
import { createRaisedAlerts, type RaisedAlerts } from '../observe/raised-alerts.ts';
import { createTracing, type Tracing } from '../observe/tracing/tracing.ts';
import { createWebhook, type Webhook } from '../observe/webhook.ts';
import { createHeardGroups, type HeardGroups } from '../operations/upstream-words.ts';
import { VERSION } from '../version.ts';

/**
 * Reports to operators. Never waits and never throws, because its caller is serving a request.
 * `cause` is the original error, for the log only.
 */
export type RaiseAlert = (alert: Alert, cause?: unknown) => void;

export type Observation = {
  readonly log: Log;
  readonly metrics: Metrics;
  readonly alert: RaiseAlert;
  /** Recent events, for the console. */
  readonly activity: Activity;
  /** Alerts that are not stored for the console yet. */
  readonly raised: RaisedAlerts;
  /** Takes what an upstream said of a failed attempt. */
  readonly heard: (words: HeardWords) => void;
  /** What upstreams said and is not stored yet. */
  readonly heardGroups: HeardGroups;
  /** Begins the trace of a request. Absent without tracing. */
  readonly startTrace: StartTrace | undefined;
  /** Called at the end of each request. */
  readonly request: (summary: RequestSummary) => void;
  /** Sends pending alerts and spans, within a short limit. */
  readonly close: () => Promise<void>;
};

export function createObservation(dependencies: {
  readonly config: Config;
  /** Unix milliseconds. */
  readonly clock: () => number;
  /** Milliseconds of a clock that never jumps. */
  readonly monotonic: () => number;
}): Observation {
  const { config, clock, monotonic } = dependencies;
  const log = createLog(config.logLevel);
  const metrics = createMetrics({ version: VERSION });
  const webhook = webhookOf(config, clock, log, metrics);
  const tracing = tracingOf(config, monotonic, log, metrics);
  const activity = createActivity({ clock });
  const raised = createRaisedAlerts({ clock });
  const heardGroups = createHeardGroups();
  const alert: RaiseAlert = (event, cause) => {
    log.error(alertWords(event), cause);
    metrics.alert(event);
    raised.raise(event);
    webhook?.send(event);
  };
  const stopLag = watchLoopLag(monotonic, (seconds) => {
    metrics.loopLag(seconds);
    activity.loopLag(seconds);
  });
  return {
    log,
    metrics,
    alert,
    activity,
    raised,
    heard(words) {
      log.failedAttempt(words);
      heardGroups.hear(words);
    },
    heardGroups,
    startTrace: tracing?.start,
    request(summary) {
      metrics.request(summary);
      activity.request(summary);
      log.request(summary);
      tracing?.request(summary);
    },
    async close() {
      stopLag();
      await Promise.all([webhook?.close(), tracing?.close()]);
    },
  };
}

function webhookOf(
  config: Config,
  clock: () => number,
  log: Log,
  metrics: Metrics,
): Webhook | undefined {
  const { alertWebhookUrl: url, alertWebhookSecret: secret } = config;
  if (url === undefined) return undefined;
  return createWebhook({
    url,
    secret,
    instance: publicUrl(config, config.port),
    clock,
    fetch,
    onResult: metrics.webhook,
    onFailure: log.warn,
  });
}

function tracingOf(
  config: Config,
  monotonic: () => number,
  log: Log,
  metrics: Metrics,
): Tracing | undefined {
  const { otlpEndpoint, otlpHeaders, otelResource, otelServiceName } = config;
  const url =
    config.otlpTracesEndpoint ??
    (otlpEndpoint === undefined ? undefined : `${otlpEndpoint}/v1/traces`);
  if (url === undefined) return undefined;
  return createTracing({
    url,
    headers: otlpHeaders,
    resource: {
      'service.instance.id': crypto.randomUUID(),
      ...otelResource,
      'service.name': otelServiceName ?? otelResource['service.name'] ?? 'tollgate',
      'service.version': VERSION,
    },
    version: VERSION,
    sampler: config.otelSampler,
    ratio: config.otelSampleRatio,
    propagates: config.otelPropagatesTraces,
    monotonic,
    random: Math.random,
    fill: (bytes) => void crypto.getRandomValues(bytes),
    fetch,
    onResult: metrics.spans,
    onFailure: (reason) => log.warn(`traces cannot be exported: ${reason}`),
    onRecovery: () => log.info('traces are exported again'),
  });
}
