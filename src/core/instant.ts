// Parses days and instants from the catalog and the command line. Rejects dates that do not exist
// and times without a zone, which would be ambiguous.

/** Whether a text such as `2026-02-28` is a day that exists. */
export function isDay(text: string): boolean {
  const ms = Date.parse(`${text}T00:00:00Z`);
  return Number.isFinite(ms) && new Date(ms).toISOString().startsWith(text);
}

const INSTANT =
  /^(\d{4}-\d{2}-\d{2})[Tt ]((?:[01]\d|2[0-3]):[0-5]\d(?::[0-5]\d(?:\.\d{1,3})?)?)([Zz]|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/;

/**
 * Parses `2026-10-01T00:00:00Z`, with any zone but never without one; `undefined` for anything
 * else.
 */
export function parseInstant(text: string): number | undefined {
  const [, day = '', time, zone = ''] = INSTANT.exec(text) ?? [];
  if (!isDay(day)) return undefined;
  return Date.parse(`${day}T${time}${zone.toUpperCase()}`);
}
