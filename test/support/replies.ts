// Finds the end of a server's reply in its bytes, so that a fault hits exactly one of several
// replies in flight on a connection. Does not interpret replies. Called by fault-proxy.ts.

/** The length of the first reply in `bytes`; undefined while it is not complete. */
export type ReplyLength = (bytes: Buffer) => number | undefined;

/** Bytes that arrived together are is one reply. */
export const anyBytes: ReplyLength = (bytes) => (bytes.length === 0 ? undefined : bytes.length);

const READY_FOR_QUERY = 'Z'.charCodeAt(0);

/** Messages up to "ready for query": all that answers one query, or ends the beginning. */
export const postgresReply: ReplyLength = (bytes) => {
  for (let position = 0; position + 5 <= bytes.length; ) {
    const end = position + 1 + bytes.readInt32BE(position + 1);
    if (end > bytes.length) return undefined;
    if (bytes[position] === READY_FOR_QUERY) return end;
    position = end;
  }
  return undefined;
};

/** One value in either version of Redis' protocol, with all that is in it. */
export const redisReply: ReplyLength = (bytes) => valueEnd(bytes, 0);

function valueEnd(bytes: Buffer, start: number): number | undefined {
  const lineEnd = bytes.indexOf('\r\n', start);
  if (lineEnd === -1) return undefined;
  const kind = String.fromCharCode(bytes[start] ?? 0);
  const count = Number(bytes.toString('latin1', start + 1, lineEnd));
  let end = lineEnd + 2;
  if ('$=!'.includes(kind)) {
    // A length of -1 is the value that is none.
    end += count < 0 ? 0 : count + 2;
    return end <= bytes.length ? end : undefined;
  }
  const members = '*~>'.includes(kind) ? count : '%|'.includes(kind) ? count * 2 : 0;
  for (let member = 0; member < members; member += 1) {
    const next = valueEnd(bytes, end);
    if (next === undefined) return undefined;
    end = next;
  }
  return end;
}
