// Sends spans to an OpenTelemetry collector: OTLP over HTTP in JSON, in batches, with a bounded queue.
// A collector that is slow or gone costs a bounded amount of memory and delays no request: what the
// queue cannot take is dropped and counted. Headers may contain a secret, so they are never logged.

import { withTimeout } from '../../async/timeout.ts';
import { type PostTarget, post } from '../post.ts';

export type SpanResult = 'exported' | 'rejected' | 'failed' | 'dropped';

export type ExporterOptions<Item> = PostTarget & {
  readonly headers: Readonly<Record<string, string>>;
  /** The body of a batch, and how many spans it has. */
  readonly encode: (items: readonly Item[]) => { readonly body: string; readonly spans: number };
  /** The spans of an item that is dropped. */
  readonly spansOf: (item: Item) => number;
  readonly random: () => number;
  readonly onResult: (result: SpanResult, spans: number) => void;
  /** Called when exports begin to fail, with the reason in our own words. */
  readonly onFailure: (reason: string) => void;
  /** Called with the first success after that. */
  readonly onRecovery: () => void;
  /** Replaces the bounds below in tests. */
  readonly bounds?: Partial<ExporterBounds>;
};

export type ExporterBounds = typeof BOUNDS;

const BOUNDS = {
  /** Requests that wait; some 3 KB each. */
  queueMax: 4_096,
  /** Requests of one export; encoding it takes about a millisecond. */
  batchMax: 64,
  /** How long a request waits for others to share its export. */
  delayMs: 1_000,
  timeoutMs: 10_000,
  triesMax: 5,
  /** Before the second try, doubling before each further one. */
  retryMs: 500,
  retryMsMax: 30_000,
  /** How long closing waits for what is in the queue. */
  closeMs: 3_000,
};

const ANSWER_BYTES_MAX = 65_536;

export function createExporter<Item>(options: ExporterOptions<Item>) {
  const { onResult } = options;
  const bounds = { ...BOUNDS, ...options.bounds };
  const headers = { 'content-type': 'application/json', ...options.headers };
  const closing = Promise.withResolvers<void>();
  const ending = new AbortController();
  let queue: Item[] = [];
  let timer: Timer | undefined;
  let running: Promise<void> | undefined;
  let isClosing = false;
  let isFailing = false;

  function drop(items: readonly Item[]): void {
    const spans = items.reduce((sum, item) => sum + options.spansOf(item), 0);
    if (spans > 0) onResult('dropped', spans);
  }

  function start(): void {
    clearTimeout(timer);
    timer = undefined;
    running ??= exportAll().finally(() => {
      running = undefined;
      if (queue.length > 0) schedule();
    });
  }

  function schedule(): void {
    if (isClosing) return;
    if (queue.length >= bounds.batchMax) start();
    else timer ??= setTimeout(start, bounds.delayMs).unref();
  }

  /** Leaves less than a batch for later, unless the first batch was no full one. */
  async function exportAll(): Promise<void> {
    do {
      const batch = queue.slice(0, bounds.batchMax);
      queue = queue.slice(bounds.batchMax);
      try {
        const { body, spans } = options.encode(batch);
        await deliver(body, spans);
      } catch {
        // A fault of ours: an error that nothing catches would end the server.
        drop(batch);
        options.onFailure('a batch could not be encoded');
      }
    } while (queue.length >= bounds.batchMax || (isClosing && queue.length > 0));
  }

  async function deliver(body: string, spans: number): Promise<void> {
    for (let tries = 1, waitMs = bounds.retryMs; ; tries += 1, waitMs *= 2) {
      const signal = AbortSignal.any([AbortSignal.timeout(bounds.timeoutMs), ending.signal]);
      const posted = await post(options, { headers, body, signal }, isRetried, rejectedSpans);
      if (posted.kind === 'accepted') {
        const rejected = Math.min(posted.answer, spans);
        if (rejected > 0) onResult('rejected', rejected);
        if (rejected < spans) onResult('exported', spans - rejected);
        if (isFailing) options.onRecovery();
        isFailing = false;
        return;
      }
      if (!isFailing) options.onFailure(posted.reason);
      isFailing = true;
      if (posted.kind === 'refused') return onResult('rejected', spans);
      if (tries === bounds.triesMax || isClosing) return onResult('failed', spans);
      const askedMs = Math.max(posted.retryAfterMs ?? 0, waitMs * (0.5 + options.random() / 2));
      await withTimeout(Math.min(askedMs, bounds.retryMsMax), closing.promise);
    }
  }

  return {
    /** Never waits and never throws. `item` must not change afterwards. */
    add(item: Item): void {
      if (isClosing || queue.length >= bounds.queueMax) {
        drop([item]);
        return;
      }
      queue.push(item);
      if (running === undefined) schedule();
    },
    /** Exports the queue, for a bounded time; drops what is left. */
    async close(): Promise<void> {
      isClosing = true;
      closing.resolve();
      const flush = async (): Promise<void> => {
        await running;
        if (queue.length > 0) start();
        await running;
      };
      await withTimeout(bounds.closeMs, flush());
      ending.abort();
      clearTimeout(timer);
      const left = queue;
      queue = [];
      drop(left);
    },
  };
}

/** The statuses that a client must retry: https://opentelemetry.io/docs/specs/otlp/#retryable-response-codes. */
function isRetried(status: number): boolean {
  return [429, 502, 503, 504].includes(status);
}

/** A longer body is cut: it is no answer of a collector. */
async function boundedText(response: Response): Promise<string> {
  const reader = response.body?.getReader();
  const decoder = new TextDecoder();
  let text = '';
  for (let bytes = 0; reader !== undefined && bytes < ANSWER_BYTES_MAX; ) {
    const { done, value } = await reader.read();
    if (done) return text;
    bytes += value.length;
    text += decoder.decode(value, { stream: true });
  }
  reader?.cancel().catch(() => {});
  return text;
}

/** A collector that accepts a part of a batch says how many spans it rejects. */
async function rejectedSpans(response: Response): Promise<number> {
  const text = await boundedText(response);
  try {
    const rejected = Number(JSON.parse(text)?.partialSuccess?.rejectedSpans ?? 0);
    return Number.isInteger(rejected) && rejected > 0 ? rejected : 0;
  } catch {
    return 0;
  }
}
