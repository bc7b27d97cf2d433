// Traces of requests for an OpenTelemetry collector: decision 0155. Off unless the operator names a
// collector.

import type { RequestSummary } from '../../core/request-summary.ts';
import { createRefusedLines } from '../refused-lines.ts';
import { createExporter, type ExporterOptions } from './exporter.ts';
import { requestSpans } from './request-spans.ts';
import { createRandomHex, createSampler, createTracer, type SamplerName } from './request-trace.ts';
import { attributes, exportBody } from './span.ts';

export type Tracing = ReturnType<typeof createTracing>;

/** `url` is the collector's path for traces. */
type TracingOptions = Omit<ExporterOptions<RequestSummary>, 'encode' | 'spansOf'> & {
  /** What identifies this process: `service.name` and others. */
  readonly resource: Readonly<Record<string, string>>;
  readonly version: string;
  readonly sampler: SamplerName;
  readonly ratio: number;
  /** Whether traces are taken from clients and passed on to upstreams. */
  readonly propagates: boolean;
  readonly monotonic: () => number;
  readonly fill: (bytes: Uint8Array) => void;
};

export function createTracing(options: TracingOptions) {
  const { monotonic, random, version, propagates } = options;
  const resource = attributes(options.resource);
  const exporter = createExporter<RequestSummary>({
    ...options,
    encode(summaries) {
      const spans = summaries.flatMap((summary) =>
        summary.trace === undefined ? [] : requestSpans(summary, summary.trace),
      );
      return { body: exportBody(resource, version, spans), spans: spans.length };
    },
    spansOf,
  });
  // Any client can be refused thousands of times a second, and must not displace other spans.
  const refused = createRefusedLines({ monotonic, onLeftOut: () => {} });
  return {
    /** Begins the trace of a request. */
    start: createTracer({
      sampler: createSampler(options.sampler, options.ratio, random),
      propagates,
      monotonic,
      randomHex: createRandomHex(options.fill),
    }),
    /** Exports an ended request, if it is sampled. Never waits. */
    request(summary: RequestSummary): void {
      if (summary.trace?.isSampled !== true) return;
      const isRefused = summary.code !== undefined && summary.answer === undefined;
      if (isRefused && !refused.mayWrite()) options.onResult('dropped', spansOf(summary));
      else exporter.add(summary);
    },
    close: exporter.close,
  };
}

function spansOf({ trace }: RequestSummary): number {
  return 1 + (trace?.attemptSpanIds.length ?? 0);
}
