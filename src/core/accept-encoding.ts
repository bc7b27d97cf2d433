// Which compression of an answer a client accepts.

/** Whether `accept-encoding` has `br` with a nonzero weight. */
export function acceptsBrotli(accepted: string | null): boolean {
  const row = (accepted ?? '')
    .split(',')
    .map((coding) => coding.trim().toLowerCase())
    .find((coding) => /^br(?:\s*;|$)/.test(coding));
  return row !== undefined && !/;\s*q=0(?:\.0*)?$/.test(row);
}
