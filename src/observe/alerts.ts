// Where alerts go: one error line in the log, a counter, and the webhook where there is one. Raising
// one never waits and never throws: its caller is in the middle of a request.

import { type Alert, alertWords } from '../core/alert.ts';
import type { Log } from './log.ts';

/** `cause` is what was thrown, for the log alone. */
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
