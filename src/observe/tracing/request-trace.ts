// Begins the trace of each request: takes the client's trace, decides whether to sample it, and
// makes the span ids. Runs on the request path, so it formats nothing but the upstream's header.

import {
  formatTraceparent,
  type RequestTrace,
  readTraceparent,
  readTracestate,
  type StartTrace,
  type TraceHeaders,
  type TraceMark,
  type TraceParent,
} from '../../core/trace.ts';

/** Decided once for each request. `parent` is absent if the trace begins here. */
type Sampler = (parent: TraceParent | undefined) => boolean;

export type SamplerName = `${'' | 'parentbased_'}${'always_on' | 'always_off' | 'traceidratio'}`;

/**
 * A client can choose both the flag and the id of its trace, so neither decides unless the sampler
 * is parent-based: it must not sample every request, or hide from the sample.
 */
export function createSampler(name: SamplerName, ratio: number, random: () => number): Sampler {
  const isParentBased = name.startsWith('parentbased_');
  const rates = { always_on: 1, always_off: 0, traceidratio: ratio };
  const rate = rates[name.replace('parentbased_', '') as keyof typeof rates];
  return (parent) => (isParentBased && parent !== undefined ? parent.isSampled : random() < rate);
}

type Tracer = {
  readonly sampler: Sampler;
  /** Whether traces are taken from clients and passed on to upstreams. */
  readonly propagates: boolean;
  /** Milliseconds of a monotonic clock. */
  readonly monotonic: () => number;
  readonly randomHex: (bytes: number) => string;
};

export function createTracer(tracer: Tracer): StartTrace {
  const { propagates, sampler } = tracer;
  return (headers, startedAt) => {
    const parent = propagates ? readTraceparent(headers.get('traceparent')) : undefined;
    const state = parent === undefined ? undefined : readTracestate(headers.get('tracestate'));
    return new OwnTrace(tracer, parent, state, sampler(parent), startedAt);
  };
}

class OwnTrace implements RequestTrace {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string | undefined;
  readonly isSampled: boolean;
  readonly startedAt: number;
  readonly attemptSpanIds: string[] = [];
  readonly marks: Partial<Record<TraceMark, number>> = {};
  readonly #tracer: Tracer;
  readonly #state: string | undefined;
  readonly #isRandom: boolean;
  readonly #startedMs: number;

  constructor(
    tracer: Tracer,
    parent: TraceParent | undefined,
    state: string | undefined,
    isSampled: boolean,
    startedAt: number,
  ) {
    this.#tracer = tracer;
    this.#state = state;
    this.#isRandom = parent?.isRandom ?? true;
    this.#startedMs = tracer.monotonic();
    this.traceId = parent?.traceId ?? tracer.randomHex(16);
    this.spanId = tracer.randomHex(8);
    this.parentSpanId = parent?.spanId;
    this.isSampled = isSampled;
    this.startedAt = startedAt;
  }

  mark(mark: TraceMark): void {
    this.marks[mark] = this.#tracer.monotonic() - this.#startedMs;
  }

  startAttempt(): TraceHeaders | undefined {
    const spanId = this.#tracer.randomHex(8);
    this.attemptSpanIds.push(spanId);
    if (!this.#tracer.propagates) return undefined;
    const { traceId, isSampled } = this;
    const isRandom = this.#isRandom;
    const traceparent = formatTraceparent({ traceId, spanId, isSampled, isRandom });
    return this.#state === undefined ? { traceparent } : { traceparent, tracestate: this.#state };
  }
}

const POOL_BYTES = 4_096;

/** Draws random hexadecimal digits from a pool, because one system call each is slow. */
export function createRandomHex(fill: (pool: Uint8Array) => void): (bytes: number) => string {
  const pool = Buffer.alloc(POOL_BYTES);
  let next = POOL_BYTES;
  return (bytes) => {
    if (next + bytes > POOL_BYTES) {
      fill(pool);
      next = 0;
    }
    next += bytes;
    return pool.toString('hex', next - bytes, next);
  };
}
