// Converts tool-call ids for Messages clients and back, so that every client accepts them.

const PLAIN_ID = /^[A-Za-z0-9_-]+$/;
const ENCODED_PREFIX = 'toolu_x';

/**
 * The id that a client sees. An upstream's id of plain characters is unchanged, at any length; any
 * other is encoded in base64url after our prefix. So is one that already has the prefix, because it
 * could not be distinguished from ours on its way back.
 */
export function encodeToolId(id: string): string {
  if (PLAIN_ID.test(id) && !id.startsWith(ENCODED_PREFIX)) return id;
  return ENCODED_PREFIX + Buffer.from(id, 'utf8').toString('base64url');
}

/**
 * The upstream's id for one that a client returned; ids without our prefix are unchanged. The bare
 * prefix is not ours either, because no upstream's id is empty.
 */
export function decodeToolId(id: string): string {
  if (!id.startsWith(ENCODED_PREFIX)) return id;
  const decoded = Buffer.from(id.slice(ENCODED_PREFIX.length), 'base64url').toString('utf8');
  return decoded !== '' && encodeToolId(decoded) === id ? decoded : id;
}
