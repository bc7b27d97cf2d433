// Tool-call ids on the way to a Messages client and back: what every client takes. Used by the
// response, the stream encoder and the request parser.

const PLAIN_ID = /^[A-Za-z0-9_-]+$/;
const ENCODED_PREFIX = 'toolu_x';

/**
 * The id that a client sees. An upstream's id of plain characters passes as it is, whatever its
 * length; any other is spelled in base64url behind a prefix of ours. So is one that has the prefix
 * already, or it could not be told from ours on its way back.
 */
export function encodeToolId(id: string): string {
  if (PLAIN_ID.test(id) && !id.startsWith(ENCODED_PREFIX)) return id;
  return ENCODED_PREFIX + Buffer.from(id, 'utf8').toString('base64url');
}

/**
 * The upstream's id behind one that a client gave back; ids that are not ours stay as they are. No
 * upstream's id is empty, so the bare prefix is not ours either.
 */
export function decodeToolId(id: string): string {
  if (!id.startsWith(ENCODED_PREFIX)) return id;
  const decoded = Buffer.from(id.slice(ENCODED_PREFIX.length), 'base64url').toString('utf8');
  return decoded !== '' && encodeToolId(decoded) === id ? decoded : id;
}
