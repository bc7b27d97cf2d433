// Sends alerts to the operator's webhook, one at a time. Repeated alerts are sent once in some
// minutes, with their count. A server that does not answer costs a bounded amount of memory and
// delays no caller. The URL may contain a secret, so it is never logged.

import { createHmac } from 'node:crypto';
import { withTimeout } from '../async/timeout.ts';
import { type Alert, alertSubject } from '../core/alert.ts';
import { alertWords } from '../core/alert-sentence.ts';
import { discard, type PostTarget, post } from './post.ts';

export type Webhook = ReturnType<typeof createWebhook>;

export type WebhookOptions = PostTarget & {
  /** Signs each body; absent: unsigned. */
  readonly secret: string | undefined;
  /** Identifies the gateway: its public address. */
  readonly instance: string;
  /** Unix milliseconds. */
  readonly clock: () => number;
  readonly onResult: (result: 'delivered' | 'failed' | 'dropped') => void;
  /** Called with the reason why an alert could not be delivered, in our own words. */
  readonly onFailure: (reason: string) => void;
  /** Replaces the times below in tests. */
  readonly times?: Partial<WebhookTimes>;
};

type WebhookTimes = typeof TIMES;

const TIMES = {
  /** An alert of the same kind and subject is sent once in this time. */
  repeatMs: 300_000,
  /** The timeout of one request. */
  timeoutMs: 5_000,
  /** Before the second try, doubling before each further one. */
  retryMs: 1_000,
  /** How long closing waits for requests in progress. */
  closeMs: 2_000,
};

const TRIES_MAX = 4;
const QUEUE_MAX = 100;

/** Kinds and subjects that were sent recently; mostly bounded by the catalog. */
const SUBJECTS_MAX = 1_000;

type Message = { readonly alert: Alert; readonly at: number; readonly repeated: number };

/** Repetitions since the last one was sent. */
type Repeated = { readonly timer: Timer; count: number; latest: Alert; at: number };

export function createWebhook(options: WebhookOptions) {
  const { clock, onResult, onFailure } = options;
  const times = { ...TIMES, ...options.times };
  const queue: Message[] = [];
  const subjects = new Map<string, Repeated>();
  const stopping = Promise.withResolvers<void>();
  let isStopping = false;
  let delivering: Promise<void> | undefined;

  function send(alert: Alert): void {
    if (isStopping) return;
    const subject = `${alert.kind} ${alertSubject(alert)}`;
    const known = subjects.get(subject);
    if (known !== undefined) {
      known.count += 1;
      known.latest = alert;
      known.at = clock();
      return;
    }
    if (subjects.size >= SUBJECTS_MAX) {
      onResult('dropped');
      return;
    }
    remember(subject, alert);
    enqueue({ alert, at: clock(), repeated: 0 });
  }

  function remember(subject: string, alert: Alert): void {
    const timer = setTimeout(() => turn(subject), times.repeatMs).unref();
    subjects.set(subject, { timer, count: 0, latest: alert, at: clock() });
  }

  /** The interval of a subject has ended: sends its repetitions and starts a new one. */
  function turn(subject: string): void {
    const known = subjects.get(subject);
    subjects.delete(subject);
    if (known === undefined || known.count === 0) return;
    remember(subject, known.latest);
    enqueue({ alert: known.latest, at: known.at, repeated: known.count });
  }

  function enqueue(message: Message): void {
    if (queue.length >= QUEUE_MAX) {
      onResult('dropped');
      return;
    }
    queue.push(message);
    delivering ??= deliverAll().finally(() => {
      delivering = undefined;
    });
  }

  async function deliverAll(): Promise<void> {
    for (let message = queue.shift(); message !== undefined; message = queue.shift()) {
      const failure = await deliver(bodyOf(message, options.instance));
      onResult(failure === undefined ? 'delivered' : 'failed');
      if (failure !== undefined) {
        onFailure(`the alert ${message.alert.kind} could not be sent to the webhook: ${failure}`);
      }
    }
  }

  /** Resolves with the reason of a final failure, or with `undefined`. */
  async function deliver(body: string): Promise<string | undefined> {
    for (let tries = 1, waitMs = times.retryMs; ; tries += 1, waitMs *= 2) {
      const headers = headersOf(body, options.secret, clock());
      const signal = AbortSignal.timeout(times.timeoutMs);
      const result = await post(options, { headers, body, signal }, isRetried, discard);
      if (result.kind === 'accepted') return undefined;
      if (result.kind === 'refused' || tries === TRIES_MAX) return result.reason;
      if (isStopping) return result.reason;
      await withTimeout(waitMs, stopping.promise);
    }
  }

  return {
    send,
    /** Sends the counts of pending repetitions, waits briefly for requests in progress, and stops. */
    async close(): Promise<void> {
      for (const [subject, { timer }] of [...subjects]) {
        clearTimeout(timer);
        turn(subject);
      }
      isStopping = true;
      stopping.resolve();
      for (const { timer } of subjects.values()) clearTimeout(timer);
      if (delivering !== undefined) await withTimeout(times.closeMs, delivering);
    },
  };
}

function isRetried(status: number): boolean {
  return status === 408 || status === 429 || status >= 500;
}

function bodyOf({ alert, at, repeated }: Message, instance: string): string {
  return JSON.stringify({
    service: 'tollgate',
    instance,
    kind: alert.kind,
    message: alertWords(alert),
    at: new Date(at).toISOString(),
    repeated,
  });
}

/** The signature covers the time and the body, so that an old message cannot be replayed. */
function headersOf(
  body: string,
  secret: string | undefined,
  nowMs: number,
): Record<string, string> {
  const headers = { 'content-type': 'application/json', 'user-agent': 'tollgate' };
  if (secret === undefined) return headers;
  const seconds = Math.floor(nowMs / 1_000);
  const signature = createHmac('sha256', secret).update(`${seconds}.${body}`).digest('hex');
  return { ...headers, 'tollgate-signature': `t=${seconds},v1=${signature}` };
}
