// Links from charts to the requests behind a point.

import { withQuery } from '../../ui/api.ts';

/** The requests that started between two instants. */
export function requestsBetween(
  from: string,
  to: string,
  filter: Readonly<Record<string, string>> = {},
): string {
  return withQuery('/requests', { ...filter, from, to });
}

/** The requests that started in the minute that begins then. */
export function requestsOfMinute(from: string, filter: Readonly<Record<string, string>>): string {
  return requestsBetween(from, new Date(Date.parse(from) + 60_000).toISOString(), filter);
}
