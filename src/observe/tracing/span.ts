// A span in OTLP's JSON encoding: https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding.
// Whole numbers of 64 bits are text, and ids are hexadecimal. Pure.

type Value =
  | { readonly stringValue: string }
  | { readonly intValue: string }
  | { readonly doubleValue: number }
  | { readonly boolValue: boolean };

export type Attribute = { readonly key: string; readonly value: Value };

export type SpanEvent = {
  readonly timeUnixNano: string;
  readonly name: string;
  readonly attributes?: readonly Attribute[];
};

export type TraceSpan = {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  /** The flags of Trace Context in the low byte, then whether the parent is known to be remote. */
  readonly flags: number;
  readonly name: string;
  readonly kind: SpanKind;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes: readonly Attribute[];
  readonly events: readonly SpanEvent[];
  readonly status: { readonly code: 0 | 2 };
};

export const SERVER = 2;
export const CLIENT = 3;
type SpanKind = typeof SERVER | typeof CLIENT;

const NANOS_DIGITS = 6;

/** Unix milliseconds, fractions included, as Unix nanoseconds. */
export function nanos(ms: number): string {
  const whole = Math.floor(ms);
  const rest = Math.floor((ms - whole) * 10 ** NANOS_DIGITS);
  return `${whole}${String(rest).padStart(NANOS_DIGITS, '0')}`;
}

export type AttributeValue = string | number | boolean | undefined;

/** Leaves out what is undefined. */
export function attributes(values: Readonly<Record<string, AttributeValue>>): Attribute[] {
  const list: Attribute[] = [];
  for (const key in values) {
    const value = values[key];
    if (value !== undefined) list.push({ key, value: toValue(value) });
  }
  return list;
}

function toValue(value: string | number | boolean): Value {
  if (typeof value === 'string') return { stringValue: value };
  if (typeof value === 'boolean') return { boolValue: value };
  return Number.isInteger(value) ? { intValue: String(value) } : { doubleValue: value };
}

/** The body of one export. */
export function exportBody(
  resource: readonly Attribute[],
  version: string,
  spans: readonly TraceSpan[],
): string {
  return JSON.stringify({
    resourceSpans: [
      {
        resource: { attributes: resource },
        scopeSpans: [{ scope: { name: 'tollgate', version }, spans }],
      },
    ],
  });
}
