// A scripted OpenTelemetry collector on a socket. It checks each export against OTLP's JSON encoding
// as strictly as a collector does, and keeps its bytes and spans.

type Value = string | number | boolean;

export type CollectedSpan = {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string | undefined;
  readonly name: string;
  readonly kind: number;
  readonly startMs: number;
  readonly endMs: number;
  readonly attributes: Readonly<Record<string, Value>>;
  readonly events: readonly {
    readonly name: string;
    readonly atMs: number;
    readonly attributes: Readonly<Record<string, Value>>;
  }[];
  readonly isFailed: boolean;
};

export type Collector = {
  readonly url: string;
  readonly spans: CollectedSpan[];
  /** Every byte that was received: paths, headers and bodies. */
  readonly received: () => string;
  readonly resource: () => Readonly<Record<string, Value>>;
  readonly exports: () => number;
  readonly close: () => Promise<void>;
};

type Json = Readonly<Record<string, unknown>>;

/** `answer` replaces the answer to the n-th export, from 0. */
export function startCollector(
  answer: (index: number) => Response | Promise<Response> = accepted,
): Collector {
  const spans: CollectedSpan[] = [];
  let received = '';
  let resource: Readonly<Record<string, Value>> = {};
  let count = 0;
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      const body = await request.text();
      received += `${request.url}\n${JSON.stringify([...request.headers])}\n${body}\n`;
      const index = count;
      count += 1;
      const response = await answer(index);
      if (response.ok) {
        const read = readExport(request, body);
        resource = read.resource;
        spans.push(...read.spans);
      }
      return response;
    },
  });
  return {
    url: `http://127.0.0.1:${server.port}`,
    spans,
    received: () => received,
    resource: () => resource,
    exports: () => count,
    close: () => server.stop(true),
  };
}

export function accepted(): Response {
  return Response.json({});
}

/** Throws, and so fails the export, where a member is not what the encoding says. */
function readExport(request: Request, body: string) {
  if (request.method !== 'POST') throw new Error(`${request.method} is no export`);
  if (request.headers.get('content-type') !== 'application/json') throw new Error('no JSON');
  const { resourceSpans } = JSON.parse(body) as { readonly resourceSpans: readonly Json[] };
  const [group, ...others] = resourceSpans;
  if (group === undefined || others.length > 0) throw new Error('one resource was expected');
  const { attributes } = group['resource'] as { readonly attributes: readonly Json[] };
  const scopes = group['scopeSpans'] as readonly { readonly spans: readonly Json[] }[];
  return {
    resource: attributesOf(attributes),
    spans: scopes.flatMap((scope) => scope.spans.map(readSpan)),
  };
}

function readSpan(span: Json): CollectedSpan {
  const parent = span['parentSpanId'];
  const status = span['status'] as { readonly code: number };
  return {
    traceId: matching(span['traceId'], /^[0-9a-f]{32}$/),
    spanId: matching(span['spanId'], /^[0-9a-f]{16}$/),
    parentSpanId: parent === undefined ? undefined : matching(parent, /^[0-9a-f]{16}$/),
    name: String(span['name']),
    kind: Number(span['kind']),
    startMs: msOf(span['startTimeUnixNano']),
    endMs: msOf(span['endTimeUnixNano']),
    attributes: attributesOf(span['attributes'] as readonly Json[]),
    events: (span['events'] as readonly Json[]).map((event) => ({
      name: String(event['name']),
      atMs: msOf(event['timeUnixNano']),
      attributes: attributesOf((event['attributes'] ?? []) as readonly Json[]),
    })),
    isFailed: status.code === 2,
  };
}

function matching(value: unknown, pattern: RegExp): string {
  if (typeof value === 'string' && pattern.test(value)) return value;
  throw new Error(`${JSON.stringify(value)} does not match ${pattern}`);
}

function msOf(value: unknown): number {
  return Number(BigInt(matching(value, /^\d{19}$/)) / 1_000n) / 1_000;
}

function attributesOf(list: readonly Json[]): Record<string, Value> {
  const all: Record<string, Value> = {};
  for (const { key, value } of list) {
    const name = matching(key, /^[a-z][a-z0-9_.]*$/);
    if (name in all) throw new Error(`${name} comes twice`);
    all[name] = toValue(value as Json);
  }
  return all;
}

function toValue(value: Json): Value {
  const [[kind, content] = [], ...others] = Object.entries(value);
  if (others.length > 0) throw new Error('an attribute has one value');
  if (kind === 'intValue') return Number(matching(content, /^-?\d+$/));
  if (kind === 'stringValue' && typeof content === 'string') return content;
  if (kind === 'doubleValue' && typeof content === 'number') return content;
  if (kind === 'boolValue' && typeof content === 'boolean') return content;
  throw new Error(`${kind} is no kind of value`);
}
