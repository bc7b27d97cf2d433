// The exporter against a real server: batches, retries, bounds and the stop; and which requests are
// sampled.

import { expect, test } from 'bun:test';
import type { RequestSummary } from '../../src/core/request-summary.ts';
import type { RequestTrace } from '../../src/core/trace.ts';
import { requestSpans } from '../../src/observe/tracing/request-spans.ts';
import { createSampler } from '../../src/observe/tracing/request-trace.ts';
import { nanos } from '../../src/observe/tracing/span.ts';
import { createTracing, type Tracing } from '../../src/observe/tracing/tracing.ts';
import { accepted, type Collector, startCollector } from '../support/collector.ts';
import { waitUntil } from '../support/upstream.ts';

const SUMMARY: RequestSummary = {
  ...{ requestId: 'req_1', route: 'models', format: 'chat', status: 200, durationMs: 1 },
};

const NO_HEADERS = { get: () => null };

type Rig = {
  readonly tracing: Tracing;
  readonly collector: Collector;
  readonly counts: Record<string, number>;
  readonly messages: string[];
  /** Ends a request. */
  readonly end: (changes?: Partial<RequestSummary>) => void;
};

function rig(
  answer: (index: number) => Response | Promise<Response>,
  bounds: Partial<NonNullable<Parameters<typeof createTracing>[0]['bounds']>> = {},
): Rig {
  const collector = startCollector(answer);
  const counts: Record<string, number> = {};
  const messages: string[] = [];
  const tracing = createTracing({
    url: `${collector.url}/v1/traces`,
    headers: {},
    resource: { 'service.name': 'test' },
    version: '1',
    sampler: 'traceidratio',
    ratio: 1,
    propagates: true,
    monotonic: () => performance.now(),
    random: Math.random,
    fill: (bytes) => void crypto.getRandomValues(bytes),
    fetch,
    onResult(result, spans) {
      counts[result] = (counts[result] ?? 0) + spans;
    },
    onFailure: (reason) => void messages.push(reason),
    onRecovery: () => void messages.push('recovered'),
    bounds: { delayMs: 5, retryMs: 5, closeMs: 10_000, timeoutMs: 10_000, ...bounds },
  });
  const end = (changes: Partial<RequestSummary> = {}): void => {
    const trace = tracing.start(NO_HEADERS, Date.now());
    tracing.request({
      ...SUMMARY,
      ...changes,
      trace,
    });
  };
  return { tracing, collector, counts, messages, end };
}

test('a span ends with its last event, though the duration begins a moment later', () => {
  const trace: RequestTrace = {
    ...{ traceId: '1'.repeat(32), spanId: '2'.repeat(16), parentSpanId: undefined },
    ...{ isSampled: true, startedAt: 1_000, attemptSpanIds: [], marks: { hold: 5, settle: 20 } },
    ...{ mark() {}, startAttempt: () => undefined },
  };
  const [span] = requestSpans({ ...SUMMARY, durationMs: 12 }, trace);
  expect(span?.endTimeUnixNano).toBe(nanos(1_020));
});

test('exports in batches, each span once', async () => {
  const { tracing, collector, counts, end } = rig(accepted, { batchMax: 10 });
  for (let count = 0; count < 95; count += 1) end();
  await tracing.close();
  expect(counts).toEqual({ exported: 95 });
  expect(new Set(collector.spans.map(({ spanId }) => spanId)).size).toBe(95);
  expect(collector.exports()).toBe(10);
  await collector.close();
});

test('bounds the queue, and counts what it drops', async () => {
  const held = Promise.withResolvers<void>();
  const { tracing, collector, counts, end } = rig(
    async () => {
      await held.promise;
      return accepted();
    },
    { batchMax: 10, queueMax: 20, timeoutMs: 5_000 },
  );
  for (let count = 0; count < 10; count += 1) end();
  await waitUntil(() => collector.exports() === 1);
  for (let count = 0; count < 1_000; count += 1) end();
  expect(counts).toEqual({ dropped: 980 });
  held.resolve();
  await tracing.close();
  expect(counts).toEqual({ dropped: 980, exported: 30 });
  await collector.close();
});

test('retries what may pass, and gives up after its tries', async () => {
  const statuses = [429, 502, 503, 504, 200, 503, 503, 503, 503, 503];
  const { tracing, collector, counts, messages, end } = rig(
    (index) => new Response('{}', { status: statuses[index] ?? 200 }),
  );
  end();
  await waitUntil(() => counts['exported'] === 1);
  end();
  await waitUntil(() => counts['failed'] === 1);
  end();
  await waitUntil(() => counts['exported'] === 2);
  expect(messages).toEqual(['status 429', 'recovered', 'status 503', 'recovered']);
  await tracing.close();
  await collector.close();
});

test('does not retry what is refused for good, and counts a partial success', async () => {
  const answers = [
    () => new Response('', { status: 401 }),
    () => new Response('', { status: 302, headers: { location: 'http://127.0.0.1:1/' } }),
    () => Response.json({ partialSuccess: { rejectedSpans: '1', errorMessage: 'x' } }),
    () => new Response('y'.repeat(100_000)),
  ];
  const { tracing, collector, counts, messages, end } = rig(
    (index) => answers[index]?.() ?? accepted(),
  );
  for (const [index] of answers.entries()) {
    end();
    await waitUntil(() => Object.values(counts).reduce((a, b) => a + b, 0) === index + 1);
  }
  expect(counts).toEqual({ rejected: 3, exported: 1 });
  expect(collector.exports()).toBe(4);
  expect(messages).toEqual(['status 401', 'recovered']);
  await tracing.close();
  await collector.close();
});

test('stops within its time while the collector hangs, and drops the rest', async () => {
  const { tracing, collector, counts, end } = rig(() => new Promise<Response>(() => {}), {
    batchMax: 5,
    timeoutMs: 60_000,
    closeMs: 500,
  });
  for (let count = 0; count < 12; count += 1) end();
  const startedAt = performance.now();
  await tracing.close();
  expect(performance.now() - startedAt).toBeLessThan(30_000);
  await waitUntil(() => (counts['dropped'] ?? 0) + (counts['failed'] ?? 0) === 12);
  end();
  expect((counts['dropped'] ?? 0) + (counts['failed'] ?? 0)).toBe(13);
  await collector.close();
});

test('survives a batch that cannot be encoded, and goes on', async () => {
  const { tracing, collector, counts, messages, end } = rig(accepted, { batchMax: 1 });
  const broken = {
    get attempts(): never {
      throw new Error('broken');
    },
  };
  end({ answer: broken as unknown as NonNullable<RequestSummary['answer']> });
  end();
  await tracing.close();
  expect(counts).toEqual({ dropped: 1, exported: 1 });
  expect(messages).toEqual(['a batch could not be encoded']);
  await collector.close();
});

test('a flood of refusals takes a bounded number of places', async () => {
  const { tracing, collector, counts, end } = rig(accepted);
  for (let count = 0; count < 1_000; count += 1) end({ status: 401, code: 'invalid_api_key' });
  end();
  await tracing.close();
  expect(counts).toEqual({ dropped: 800, exported: 201 });
  await collector.close();
});

test('samples by its own dice, unless the operator trusts callers', () => {
  const parent = { traceId: 'a', spanId: 'b', isRandom: true };
  const yes = { ...parent, isSampled: true };
  const no = { ...parent, isSampled: false };
  const decide = (name: Parameters<typeof createSampler>[0], ratio: number, dice: number) => {
    const sampler = createSampler(name, ratio, () => dice);
    return [undefined, yes, no].map(sampler);
  };
  expect(decide('always_on', 0, 0.99)).toEqual([true, true, true]);
  expect(decide('always_off', 1, 0)).toEqual([false, false, false]);
  expect(decide('traceidratio', 0.5, 0.49)).toEqual([true, true, true]);
  expect(decide('traceidratio', 0.5, 0.5)).toEqual([false, false, false]);
  expect(decide('parentbased_always_on', 0, 0.99)).toEqual([true, true, false]);
  expect(decide('parentbased_always_off', 1, 0)).toEqual([false, true, false]);
  expect(decide('parentbased_traceidratio', 0.5, 0.7)).toEqual([false, true, false]);
});
