// Counts the replies that PostgreSQL sends, because postgres.js ignores unexpected ones. A session
// uses it to detect that it is out of step.

const HEADER_BYTES = 5;
const READY_FOR_QUERY = 'Z'.charCodeAt(0);

/** Takes every byte of an unencrypted connection; returns how many replies have ended. */
export function createReplyCount(): (bytes: Uint8Array) => number {
  const header = new Uint8Array(HEADER_BYTES);
  let filled = 0;
  let rest = 0;
  let replies = 0;

  /** A message is its kind, then its length without the kind, then that many bytes. */
  function begin(): void {
    const [kind = 0, a = 0, b = 0, c = 0, d = 0] = header;
    rest = ((a << 24) | (b << 16) | (c << 8) | d) - 4;
    if (kind === READY_FOR_QUERY) replies += 1;
    filled = 0;
  }

  return (bytes) => {
    for (let at = 0; at < bytes.length; ) {
      if (rest > 0) {
        const passed = Math.min(rest, bytes.length - at);
        rest -= passed;
        at += passed;
        continue;
      }
      header[filled] = bytes[at] ?? 0;
      filled += 1;
      at += 1;
      if (filled === HEADER_BYTES) begin();
    }
    return replies;
  };
}
