// W3C Trace Context (https://www.w3.org/TR/trace-context/): which headers of a client are accepted,
// and what a request carries of its trace. A header that breaks the grammar is ignored, as the
// recommendation says. Pure.

/** The trace that a client has begun. */
export type TraceParent = {
  /** 32 lower-case hexadecimal digits. */
  readonly traceId: string;
  /** 16 lower-case hexadecimal digits. */
  readonly spanId: string;
  readonly isSampled: boolean;
  /** The trace id was made randomly, by the client's own account. */
  readonly isRandom: boolean;
};

/** Headers for one attempt at an upstream. */
export type TraceHeaders = { readonly traceparent: string; readonly tracestate?: string };

/** `held`: the hold is on disk, and content may be delivered. */
export type TraceMark = 'hold' | 'held' | 'settle';

/** The trace of one request, from its first byte to its export. */
export type RequestTrace = {
  readonly traceId: string;
  readonly spanId: string;
  /** The client's span; absent if the trace begins here. */
  readonly parentSpanId: string | undefined;
  /** Whether its spans are exported. */
  readonly isSampled: boolean;
  /** Unix milliseconds. */
  readonly startedAt: number;
  /** The spans of the attempts, in the order in which they were started. */
  readonly attemptSpanIds: readonly string[];
  /** Milliseconds from the start; absent if that stage was not reached. */
  readonly marks: Readonly<Partial<Record<TraceMark, number>>>;
  /** Notes the time of a stage. */
  readonly mark: (mark: TraceMark) => void;
  /** Begins the span of an attempt. `undefined` if upstreams receive no trace. */
  readonly startAttempt: () => TraceHeaders | undefined;
};

export type StartTrace = (
  headers: { readonly get: (name: string) => string | null },
  startedAt: number,
) => RequestTrace;

const TRACEPARENT = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
const NO_TRACE = '0'.repeat(32);
const NO_SPAN = '0'.repeat(16);

/** Of version 00. A longer header is one of a later version, or several. */
const TRACEPARENT_LENGTH = 55;
const LENGTH_MAX = 512;

const SAMPLED = 1;
const RANDOM = 2;

/** `undefined` for an invalid header. Later versions are read as version 00, as they promise. */
export function readTraceparent(header: string | null): TraceParent | undefined {
  if (header === null || header.length > LENGTH_MAX) return undefined;
  const [, version, traceId = '', spanId = '', flags = ''] = TRACEPARENT.exec(header) ?? [];
  if (version === undefined || version === 'ff') return undefined;
  if (version === '00' && header.length !== TRACEPARENT_LENGTH) return undefined;
  if (traceId === NO_TRACE || spanId === NO_SPAN) return undefined;
  const bits = Number.parseInt(flags, 16);
  const isRandom = (bits & RANDOM) !== 0;
  return { traceId, spanId, isSampled: (bits & SAMPLED) !== 0, isRandom };
}

export function formatTraceparent(parent: TraceParent): string {
  const { traceId, spanId, isSampled, isRandom } = parent;
  const bits = (isSampled ? SAMPLED : 0) + (isRandom ? RANDOM : 0);
  return `00-${traceId}-${spanId}-0${bits}`;
}

const MEMBERS_MAX = 32;
const MEMBER =
  /^(?:[a-z][a-z0-9_*/-]{0,255}|[a-z0-9][a-z0-9_*/-]{0,240}@[a-z][a-z0-9_*/-]{0,13})=[\x20-\x2b\x2d-\x3c\x3e-\x7e]{0,255}[\x21-\x2b\x2d-\x3c\x3e-\x7e]$/;

/** `undefined` for an invalid header, and for one above 512 characters. */
export function readTracestate(header: string | null): string | undefined {
  if (header === null || header.length > LENGTH_MAX) return undefined;
  const members = header
    .split(',')
    .map((member) => member.replace(/^[\t ]+|[\t ]+$/g, ''))
    .filter((member) => member !== '');
  const keys = new Set(members.map((member) => member.slice(0, member.indexOf('='))));
  const isValid =
    members.length > 0 &&
    members.length <= MEMBERS_MAX &&
    keys.size === members.length &&
    members.every((member) => MEMBER.test(member));
  return isValid ? members.join(',') : undefined;
}
