// What a server reports to its operators: the log, metrics, and alerts with their webhook. Opened
// first and closed last, because every other part reports to it.

import type { Config } from '../config/settings.ts';
import { publicUrl } from '../config/urls.ts';
import type { Activity } from '../core/activity.ts';
import type { Alert } from '../core/alert.ts';
import type { RequestSummary } from '../core/request-summary.ts';
import { createActivity } from '../observe/activity.ts';
import { createAlerts, type RaiseAlert } from '../observe/alerts.ts';
import { createLog, type Log } from '../observe/log.ts';
import { watchLoopLag } from '../observe/loop-lag.ts';
import { createMetrics, type Metrics } from '../observe/metrics.ts';
import { createWebhook, type Webhook } from '../observe/webhook.ts';
import { VERSION } from '../version.ts';

export type Observation = {
  readonly log: Log;
  readonly metrics: Metrics;
  readonly alert: RaiseAlert;
  /** Recent events, for the console. */
  readonly activity: Activity;
  /** Called at the end of each request. */
  readonly request: (summary: RequestSummary) => void;
  /** Sends pending alerts, within a short limit. */
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
  const activity = createActivity({ clock });
  const count = (raised: Alert): void => {
    metrics.alert(raised);
    activity.alert(raised);
  };
  const alert = createAlerts({ log, count, send: webhook?.send });
  const stopLag = watchLoopLag(monotonic, (seconds) => {
    metrics.loopLag(seconds);
    activity.loopLag(seconds);
  });
  return {
    log,
    metrics,
    alert,
    activity,
    request(summary) {
      metrics.request(summary);
      activity.request(summary);
      log.request(summary);
    },
    async close() {
      stopLag();
      await webhook?.close();
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
