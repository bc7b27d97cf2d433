// The one place that calls out. It sends a body to an upstream and hands back the status and a
// bounded body, or a failure as a value. It never retries, never follows a redirect (an upstream
// that could send us elsewhere could send our credential elsewhere too), and never makes a caller
// that aborts wait for the runtime.

import type { UpstreamFailure } from '../core/failure.ts';
import type { Upstream } from '../core/model.ts';
import { ANSWER_BYTES_MAX } from '../wire/upstream/limits.ts';

export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

export type ByteReader = {
  readonly read: () => Promise<{ readonly done: boolean; readonly value?: Uint8Array | undefined }>;
  readonly cancel: () => Promise<void>;
};

export type UpstreamAnswer = {
  readonly status: number;
  readonly isJson: boolean;
  /** How long the upstream wants to be left alone, where it says so. */
  readonly retryAfterMs?: number;
  /** Reads the whole body, or fails above the limit of the decoder. */
  readonly text: () => Promise<string | UpstreamFailure>;
  readonly reader: () => ByteReader | undefined;
};

export type UpstreamClient = {
  readonly send: (call: {
    readonly upstream: Upstream;
    readonly path: string;
    readonly headers: Readonly<Record<string, string>>;
    readonly body: string;
    /** Until a new connection is made, name and TLS included. */
    readonly connectMs: number;
    readonly signal: AbortSignal;
  }) => Promise<UpstreamAnswer | UpstreamFailure>;
};

/** `answerDemo` stands in for the network where the upstream is the one inside the binary. */
export function createUpstreamClient(dependencies: {
  readonly fetch: Fetch;
  readonly answerDemo: (body: string) => Response;
}): UpstreamClient {
  const { fetch, answerDemo } = dependencies;
  return {
    async send({ upstream, path, headers, body, signal }) {
      const aborted = whenAborted(signal);
      if (upstream.dialect === 'demo') return readAnswer(answerDemo(body), aborted);
      try {
        const init = { method: 'POST', headers, body, signal, redirect: 'manual' } as const;
        const response = await Promise.race([fetch(upstream.baseUrl + path, init), aborted]);
        return response instanceof Response ? readAnswer(response, aborted) : response;
      } catch {
        return { class: 'unreachable', detail: 'the connection could not be made or was closed' };
      }
    },
  };
}

/**
 * Resolves in the same turn as the abort. The runtime's own rejection comes some turns later, and
 * until then a client that has left would still hold the slot that its next request needs.
 */
function whenAborted(signal: AbortSignal): Promise<UpstreamFailure> {
  return new Promise((resolve) => {
    const failure: UpstreamFailure = { class: 'cut', detail: 'the request was given up' };
    signal.addEventListener('abort', () => resolve(failure), { once: true });
  });
}

/** The one type, whatever its letters and parameters; not its relatives, such as lines of JSON. */
const JSON_TYPE = /^application\/json *(;|$)/i;

function readAnswer(response: Response, aborted: Promise<UpstreamFailure>): UpstreamAnswer {
  const type = response.headers.get('content-type') ?? '';
  return {
    status: response.status,
    isJson: JSON_TYPE.test(type),
    text: () => Promise.race([readText(response), aborted]),
    reader: () => response.body?.getReader(),
  };
}

async function readText(response: Response): Promise<string | UpstreamFailure> {
  try {
    // The length of a compressed body does not say how much comes out of it.
    const isPlain = !response.headers.has('content-encoding');
    const declared = Number(response.headers.get('content-length') ?? Number.NaN);
    if (isPlain && declared <= ANSWER_BYTES_MAX) return await response.text();
    return await readBounded(response);
  } catch {
    return { class: 'cut', detail: 'the connection broke before the answer was complete' };
  }
}

async function readBounded(response: Response): Promise<string | UpstreamFailure> {
  const reader = response.body?.getReader();
  if (reader === undefined) return '';
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return new TextDecoder().decode(Buffer.concat(chunks));
    bytes += value.length;
    if (bytes > ANSWER_BYTES_MAX) {
      await reader.cancel();
      return { class: 'malformed', detail: `the answer is larger than ${ANSWER_BYTES_MAX} bytes` };
    }
    chunks.push(value);
  }
}
