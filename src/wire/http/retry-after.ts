// Parses the delay that an upstream requests. The wall clock is an argument.

/** One hour: longer delays are not waited for, and a wrong clock could request years. */
const RETRY_AFTER_MS_MAX = 3_600_000;

const DECIMAL = /^\d{1,15}(?:\.\d{1,9})?$/;
/** The only date format that may be sent, such as "Sun, 06 Nov 1994 08:49:37 GMT". */
const DATE = /^\w{3}, \d{2} \w{3} \d{4} \d{2}:\d{2}:\d{2} GMT$/;

/**
 * Milliseconds from now, at most an hour, from `retry-after-ms` (`exact`) or else `retry-after`
 * (`text`: seconds or a date); `undefined` if neither is present and valid. `clock` is Unix time.
 */
export function readRetryAfterMs(
  exact: string | undefined,
  text: string | undefined,
  clock: () => number,
): number | undefined {
  if (exact !== undefined && DECIMAL.test(exact)) return bounded(Number(exact));
  if (text === undefined) return undefined;
  if (DECIMAL.test(text)) return bounded(Number(text) * 1_000);
  const atMs = DATE.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(atMs) ? undefined : bounded(atMs - clock());
}

/** Rounded up, because a retry that is slightly early is refused again. */
function bounded(ms: number): number {
  return Math.min(RETRY_AFTER_MS_MAX, Math.max(0, Math.ceil(ms)));
}
