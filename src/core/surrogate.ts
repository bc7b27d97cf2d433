// UTF-16 writes a character beyond the first 65,536 as two units. Text that is cut between them has
// half a character at its end.

/** Whether a UTF-16 unit is the first half of a character. */
export function isHighSurrogate(code: number): boolean {
  return code >= 0xd800 && code <= 0xdbff;
}
