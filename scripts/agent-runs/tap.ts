// A transparent proxy between an agent and the gateway that records requests, responses and times.
// Started by stage.ts.

/** One request of an agent. */
export type Passed = {
  readonly method: string;
  /** Without the query. */
  readonly path: string;
  readonly body: string;
  readonly startedAtMs: number;
  /** Absent while the gateway has not answered. */
  readonly status?: number;
  readonly requestId?: string;
  /** The answer's body as far as it has come. */
  readonly answer: string;
  /** When the last byte of the answer had passed; absent where the agent did not wait for it. */
  readonly endedAtMs?: number;
};

export type Tap = {
  readonly url: string;
  /** Everything that has passed since the last `clear`. */
  readonly passed: () => readonly Passed[];
  readonly clear: () => void;
  readonly stop: () => Promise<void>;
};

type Record = { -readonly [Member in keyof Passed]: Passed[Member] };

export function startTap(target: string): Tap {
  let records: Record[] = [];
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    idleTimeout: 0,
    async fetch(request) {
      const { pathname: path, search } = new URL(request.url);
      const { method, signal } = request;
      const startedAtMs = performance.now();
      const body = await request.text();
      const record: Record = { method, path, body, startedAtMs, answer: '' };
      records.push(record);
      const headers = forwarded(request.headers);
      const url = `${target}${path}${search}`;
      const answer = await fetch(url, {
        ...{ method, headers, signal },
        ...(body === '' ? {} : { body }),
      });
      record.status = answer.status;
      record.requestId = answer.headers.get('x-request-id') ?? '';
      if (answer.body === null) record.endedAtMs = performance.now();
      return new Response(answer.body?.pipeThrough(noteTo(record)), answer);
    },
  });
  return {
    url: `http://127.0.0.1:${server.port}`,
    passed: () => records,
    clear: () => {
      records = [];
    },
    stop: () => server.stop(true),
  };
}

/** The headers as they came, but for those that belong to one connection. */
function forwarded(headers: Headers): Headers {
  const copy = new Headers(headers);
  for (const name of ['host', 'connection', 'content-length']) copy.delete(name);
  return copy;
}

function noteTo(record: Record): TransformStream<Uint8Array, Uint8Array> {
  const decoder = new TextDecoder();
  return new TransformStream({
    transform(bytes, controller) {
      record.answer += decoder.decode(bytes, { stream: true });
      controller.enqueue(bytes);
    },
    flush() {
      record.endedAtMs = performance.now();
    },
  });
}
