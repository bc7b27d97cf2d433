// The metrics for operators: counts and times of requests, tokens, money, attempts and alerts. The
// server makes one set and passes its functions to all parts that report. Labels are closed sets:
// models and upstreams of the catalog, our own codes and classes; never an account, a key, an
// address, or a caller's text.

import type { Alert } from '../core/alert.ts';
import type { UnknownWord } from '../core/generation.ts';
import type { RequestSummary } from '../core/request-summary.ts';
import { CONTENT_TYPE, type Family, printFamilies } from './exposition.ts';
import { createGauges, type GaugeSources } from './gauges.ts';
import {
  createAnswerMetrics,
  createAttemptMetrics,
  createRepeatCounter,
  createRequestCounter,
} from './request-metrics.ts';
import { createCounter, createHistogram, createTable } from './series.ts';
import type { SpanResult } from './tracing/exporter.ts';

export type Metrics = ReturnType<typeof createMetrics>;

const SECOND_MS = 1_000;

/** For requests whose model is not in the catalog. */
const UNKNOWN = 'unknown';

const COMMIT_SECONDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5];
const LAG_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5];
const BATCH_COMMANDS = [1, 2, 4, 8, 16, 32, 64, 128, 256];

export function createMetrics({ version }: { readonly version: string }) {
  const build: Family = {
    name: 'tollgate_build_info',
    type: 'gauge',
    help: 'Always 1; the label says which version runs.',
    samples: [[{ version }, 1]],
  };
  const counted: (() => Family)[] = [];
  const register = (read: () => Family): void => void counted.push(read);
  let readGauges = async (): Promise<Family[]> => [];
  const countRequest = createRequestCounter(register);
  const countRepeat = createRepeatCounter(register);
  const countAnswer = createAnswerMetrics(register);
  const countAttempt = createAttemptMetrics(register);

  const alerts = createCounter(register, {
    name: 'tollgate_alerts_total',
    help: 'Alerts, which only the operator can fix, by kind.',
    labels: ['kind'],
  });
  const alertOf = createTable((kind) => alerts({ kind }));
  const batchSize = createHistogram(register, {
    name: 'tollgate_ledger_batch_commands',
    help: 'Commands that the ledger wrote in one transaction.',
    labels: [],
    buckets: BATCH_COMMANDS,
  })({});
  const commitSeconds = createHistogram(register, {
    name: 'tollgate_ledger_commit_seconds',
    help: 'From posting a batch to the thread of the ledger to its answer, disk included.',
    labels: [],
    buckets: COMMIT_SECONDS,
  })({});
  const troubles = createCounter(register, {
    name: 'tollgate_ledger_failures_total',
    help: 'Requests whose money could not be written: the end kept and tried again, or given_up; refused: the first of an outage.',
    labels: ['kind'],
  });
  const troubleOf = createTable((kind) => troubles({ kind }));
  const webhooks = createCounter(register, {
    name: 'tollgate_alert_webhooks_total',
    help: 'Alerts for the webhook: delivered, failed for good, or dropped because too many waited.',
    labels: ['result'],
  });
  const webhookOf = createTable((result) => webhooks({ result }));
  const spans = createCounter(register, {
    name: 'tollgate_trace_spans_total',
    help: 'Spans for the collector: exported, rejected by it, failed after retries, or dropped.',
    labels: ['result'],
  });
  const spansOf = createTable((result) => spans({ result }));
  const unknownWords = createCounter(register, {
    name: 'tollgate_upstream_unknown_words_total',
    help: 'Answers with a finish reason or a type of events that no reader knows.',
    labels: ['upstream', 'model', 'what'],
  });
  const unknownOf = createTable((upstream) =>
    createTable((model) => createTable((what) => unknownWords({ upstream, model, what }))),
  );
  const loopLag = createHistogram(register, {
    name: 'tollgate_event_loop_lag_seconds',
    help: 'Delay of a timer of the event loop, measured ten times a second.',
    labels: [],
    buckets: LAG_SECONDS,
  })({});

  return {
    request(summary: RequestSummary): void {
      const model = summary.model ?? UNKNOWN;
      countRequest(summary, model);
      countRepeat(summary);
      if (summary.answer === undefined) return;
      countAnswer(summary, summary.answer, model);
      for (const attempt of summary.answer.attempts) countAttempt(attempt);
    },
    alert(alert: Alert): void {
      alertOf(alert.kind).value += 1;
      if (alert.kind === 'ledger_failing') troubleOf(alert.trouble).value += 1;
    },
    /** Called by the ledger for each written batch. */
    batch(size: number, durationMs: number): void {
      batchSize(size);
      commitSeconds(durationMs / SECOND_MS);
    },
    webhook(result: 'delivered' | 'failed' | 'dropped'): void {
      webhookOf(result).value += 1;
    },
    /** Counts spans by what became of them. */
    spans(result: SpanResult, count: number): void {
      spansOf(result).value += count;
    },
    unknownWord(upstream: string, model: string, what: UnknownWord['what']): void {
      unknownOf(upstream)(model)(what).value += 1;
    },
    loopLag,
    /** Sets the sources of the gauges. Called once, when all parts exist. */
    watch(sources: Omit<GaugeSources, 'catalogsRefused'>): void {
      const catalogsRefused = (): number => alertOf('catalog_refused').value;
      readGauges = createGauges({ ...sources, catalogsRefused });
    },
    async print(): Promise<{ readonly contentType: string; readonly text: string }> {
      const gauges = await readGauges();
      const text = printFamilies([build, ...counted.map((read) => read()), ...gauges]);
      return { contentType: CONTENT_TYPE, text };
    },
  };
}
