// Sends alerts to the log as error lines, to a counter, and to the webhook where there is one.
// Never waits and never throws, because its caller is serving a request.

import { type Alert, alertWords } from '../core/alert.ts';
import type { Log } from './log.ts';

/** `cause` is the original error, for the log only. */
export type RaiseAlert = (alert: Alert, cause?: unknown) => void;

export function createAlerts(dependencies: {
  readonly log: Pick<Log, 'error'>;
  readonly count: (alert: Alert) => void;
  readonly send: ((alert: Alert) => void) | undefined;
}): RaiseAlert {
  const { log, count, send } = dependencies;
  return (alert, cause) => {
    log.error(alertWords(alert), cause);
    count(alert);
    send?.(alert);
  };
}
