// A Redis script with its digest, by which a server that has it cached runs it. Separate from the
// client, so that a file with scripts does not load ioredis.

import { createHash } from 'node:crypto';

export type RedisScript = { readonly lua: string; readonly sha: string };

export function redisScript(lua: string): RedisScript {
  return { lua, sha: createHash('sha1').update(lua).digest('hex') };
}
