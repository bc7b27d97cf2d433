// Reads days and instants that a person wrote, in the catalog or on the command line. What the
// calendar does not have is refused, and a time without a zone too: it could mean anything.

/** Whether `2026-02-28` is a day that the calendar has. */
export function isDay(text: string): boolean {
  const ms = Date.parse(`${text}T00:00:00Z`);
  return Number.isFinite(ms) && new Date(ms).toISOString().startsWith(text);
}

const INSTANT =
  /^(\d{4}-\d{2}-\d{2})[Tt ]((?:[01]\d|2[0-3]):[0-5]\d(?::[0-5]\d(?:\.\d{1,3})?)?)([Zz]|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/;

/** Reads `2026-10-01T00:00:00Z`, with any zone but never without; `undefined` for anything else. */
export function parseInstant(text: string): number | undefined {
  const [, day = '', time, zone = ''] = INSTANT.exec(text) ?? [];
  if (!isDay(day)) return undefined;
  return Date.parse(`${day}T${time}${zone.toUpperCase()}`);
}
