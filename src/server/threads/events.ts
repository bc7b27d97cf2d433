// What a server thread reports to its operators goes to the main thread, which has the log, the
// metrics and the alerts: a few times a second, in one message, so that requests do not pay for it.

import { type ErrorWords, errorWords } from '../../observe/error-text.ts';
import { watchLoopLag } from '../../observe/loop-lag.ts';
import type { Observation } from '../observation.ts';
import type { ThreadEvent } from './protocol.ts';

/** In a server thread. */
export type ThreadObservation = Pick<Observation, 'log' | 'alert' | 'request'> & {
  readonly batch: (size: number, durationMs: number) => void;
  /** Posts what there is now. */
  readonly flush: () => void;
  readonly close: () => void;
};

const FLUSH_MS = 50;

/** `monotonic` in milliseconds. `post` is called for nothing new, too, while a thread is busy. */
export function createThreadObservation(
  monotonic: () => number,
  post: (events: readonly ThreadEvent[]) => void,
): ThreadObservation {
  let events: ThreadEvent[] = [];
  let timer: Timer | undefined;

  function flush(): void {
    clearTimeout(timer);
    timer = undefined;
    const taken = events;
    events = [];
    post(taken);
  }

  function add(each: ThreadEvent): void {
    events.push(each);
    timer ??= setTimeout(flush, FLUSH_MS);
  }

  const withCause = (cause: unknown): { readonly cause?: ErrorWords } =>
    cause === undefined ? {} : { cause: errorWords(cause) };
  const stopLag = watchLoopLag(monotonic, (seconds) => add({ kind: 'lag', seconds }));
  return {
    log: {
      request: (summary) => add({ kind: 'request', summary }),
      info: (message) => add({ kind: 'info', message }),
      warn: (message) => add({ kind: 'warn', message }),
      error: (message, cause) => add({ kind: 'error', message, ...withCause(cause) }),
      close: async () => flush(),
    },
    alert: (alert, cause) => add({ kind: 'alert', alert, ...withCause(cause) }),
    request: (summary) => add({ kind: 'request', summary }),
    batch: (size, durationMs) => add({ kind: 'batch', size, durationMs }),
    flush,
    close() {
      stopLag();
      flush();
    },
  };
}

/** In the main thread: as if it had happened there. */
export function observeEvents(observation: Observation, events: readonly ThreadEvent[]): void {
  const { log, metrics } = observation;
  for (const each of events) {
    switch (each.kind) {
      case 'request':
        observation.request(each.summary);
        break;
      case 'alert':
        observation.alert(each.alert, errorOf(each.cause));
        break;
      case 'batch':
        metrics.batch(each.size, each.durationMs);
        break;
      case 'lag':
        observation.loopLag(each.seconds);
        break;
      case 'info':
        log.info(each.message);
        break;
      case 'warn':
        log.warn(each.message);
        break;
      case 'error':
        log.error(each.message, errorOf(each.cause));
        break;
    }
  }
}

/** An error of which the log says what these words say. */
function errorOf(words: ErrorWords | undefined): Error | undefined {
  if (words === undefined) return undefined;
  const { name, message = '', stack = '' } = words;
  const frames = stack === '' ? [] : stack.split('\n').map((line) => `    ${line}`);
  return Object.assign(new Error(message), { name, stack: [name, ...frames].join('\n') });
}
