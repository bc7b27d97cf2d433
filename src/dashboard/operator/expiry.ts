// Parses the expiry sent by the console's pages.

import { parseInstant } from '../../core/instant.ts';
import { invalidRequest } from '../edge/error.ts';

/** Unix milliseconds; `undefined` if absent. Throws `invalid_request` for a past time. */
export function readFuture(text: string | undefined, nowMs: number): number | undefined {
  if (text === undefined) return undefined;
  const ms = parseInstant(text);
  if (ms !== undefined && ms > nowMs) return ms;
  throw invalidRequest(
    'The field expires_at of the body is not valid. Enter a future time, such as 2027-01-31T12:00:00Z.',
    'expires_at',
  );
}
