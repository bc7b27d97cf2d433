// What the database knows of a key. Called wherever one is presented or made.

import { createHash } from 'node:crypto';

/** SHA-256 in lower-case hexadecimal. */
export function digestKey(key: string): string {
  return createHash('sha256').update(key).digest('hex');
}
