// One server for all stand-ins. The first part of the path names the site, such as `/groq/v1/…`, and
// the site's vendor answers. The server records each request with what the vendor noticed, under the
// mark of the test that caused it.

export type Json = Readonly<Record<string, unknown>>;

/** A request as the vendor got it, and what the vendor noticed while it answered. */
export type Seen = {
  readonly site: string;
  /** The fault of the site, such as `402`; empty where it works. */
  readonly fault: string;
  /** The path behind the site. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Json;
  /** The mark of the test; empty where the request has none. */
  readonly mark: string;
  status: number;
  /** The vendor's reason, if it refused the request. */
  refusal?: string;
  /** Identifies the thinking of this answer: a text, a signature or an encrypted item. */
  readonly given: string[];
  /** The earlier thinking that the request returned in the vendor's own form. */
  readonly returned: string[];
  /** Whether the model thought about this answer. */
  thought: boolean;
  /** Images that the model saw. */
  images: number;
  /** What the vendor reported as its counts. */
  counts?: Counts;
  /** Set while the answer is being written; `left`: the other side closed the connection. */
  state: 'answering' | 'done' | 'left';
};

/** The prompt's parts are included in `prompt`, and thinking in `output`. */
export type Counts = {
  readonly prompt: number;
  readonly cached: number;
  readonly written: number;
  readonly output: number;
  readonly thinking: number;
};

export type Answer = { readonly whole: Json } | { readonly events: AsyncIterable<string> };

/** Answers a request or throws a `Refusal`. Notes what it noticed in `seen`. */
export type Vendor = (seen: Seen) => Answer | Promise<Answer>;

/** Thrown by a rule of a vendor: its status, body and headers. */
export class Refusal extends Error {
  readonly status: number;
  readonly body: unknown;
  readonly headers: Readonly<Record<string, string>>;

  constructor(status: number, body: unknown, headers: Readonly<Record<string, string>> = {}) {
    super(typeof body === 'string' ? body : JSON.stringify(body));
    this.status = status;
    this.body = body;
    this.headers = headers;
  }
}

export type StandIns = {
  /** The origin of a site, to which an operator's path such as `/v1` is added. */
  readonly site: (name: string) => string;
  /** The requests that carry a mark in their body, in order. */
  readonly seen: (mark: string) => readonly Seen[];
  readonly [Symbol.asyncDispose]: () => Promise<void>;
};

/** The mark of a test stands in its first user text, so every turn of its conversation has it. */
const MARK = /cell-\d+\./;

/** `/groq-402/v1/…` is Groq while all of its answers are that fault. */
const FAULTY = /^(.+)-(\d{3})$/;

/** Starts the server on a port that the system chooses. */
export function startStandIns(vendors: Readonly<Record<string, Vendor>>): StandIns {
  const byMark = new Map<string, Seen[]>();
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    idleTimeout: 255,
    async fetch(request) {
      const [, place = '', ...rest] = new URL(request.url).pathname.split('/');
      const [, site = place, fault = ''] = FAULTY.exec(place) ?? [];
      const raw = await request.text();
      const vendor = vendors[site];
      if (vendor === undefined || raw === '') return new Response('', { status: 404 });
      const seen = seenOf({ site, fault, path: `/${rest.join('/')}` }, request.headers, raw);
      byMark.set(seen.mark, [...(byMark.get(seen.mark) ?? []), seen]);
      return respond(vendor, seen);
    },
  });
  return {
    site: (name) => `http://127.0.0.1:${server.port}/${name}`,
    seen: (mark) => byMark.get(mark) ?? [],
    [Symbol.asyncDispose]: () => server.stop(true),
  };
}

type Place = Pick<Seen, 'site' | 'fault' | 'path'>;

function seenOf(place: Place, headers: Headers, raw: string): Seen {
  return {
    ...place,
    headers: Object.fromEntries(headers),
    body: JSON.parse(raw) as Json,
    mark: MARK.exec(raw)?.[0] ?? '',
    status: 200,
    given: [],
    returned: [],
    thought: false,
    images: 0,
    state: 'answering',
  };
}

async function respond(vendor: Vendor, seen: Seen): Promise<Response> {
  try {
    const answer = await vendor(seen);
    if ('events' in answer) return streamOf(answer.events, seen);
    seen.state = 'done';
    return Response.json(answer.whole);
  } catch (error) {
    seen.state = 'done';
    if (!(error instanceof Refusal)) {
      seen.refusal = `the stand-in itself failed: ${error instanceof Error ? error.stack : error}`;
      return new Response('', { status: 500 });
    }
    seen.status = error.status;
    seen.refusal = error.message;
    const headers = { 'content-type': 'application/json', ...error.headers };
    const body = typeof error.body === 'string' ? error.body : JSON.stringify(error.body);
    return new Response(body, { status: error.status, headers });
  }
}

function streamOf(events: AsyncIterable<string>, seen: Seen): Response {
  const encoder = new TextEncoder();
  const source = events[Symbol.asyncIterator]();
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const next = await source.next();
      if (!next.done) return controller.enqueue(encoder.encode(next.value));
      if (seen.state === 'answering') seen.state = 'done';
      controller.close();
    },
    cancel() {
      seen.state = 'left';
      source.return?.();
    },
  });
  return new Response(body, { headers: { 'content-type': 'text/event-stream' } });
}
