// Reads until when something holds, as the console's pages send it.

import { parseInstant } from '../../core/instant.ts';
import { DashboardError } from '../edge/error.ts';

/** Unix milliseconds; `undefined` where nothing is said. Throws `invalid_request` for what is over. */
export function readFuture(
  text: string | undefined,
  param: string,
  nowMs: number,
): number | undefined {
  if (text === undefined) return undefined;
  const ms = parseInstant(text);
  if (ms !== undefined && ms > nowMs) return ms;
  throw new DashboardError(
    'invalid_request',
    `The field ${param} of the body is not valid. It needs an instant that is still to come, such as 2027-01-31T12:00:00Z.`,
    { param },
  );
}
