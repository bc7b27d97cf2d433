// A word to the other nodes that something has changed, so that they look at once and not with their
// next look. Redis carries it and may lose it: what has changed is in the database, and every node
// looks there by itself. Used by serve, and by commands that change something.

import type { RedisTarget } from '../core/redis-url.ts';
import type { Redis } from '../store/redis/client.ts';

/** Whoever hears it reads the audit trail; the message says nothing. */
const CHANNEL = 'tollgate:changes';

export type Announcements = {
  /** Resolves when Redis has it, or will not get it. Never rejects. */
  readonly announce: () => Promise<void>;
  /**
   * Calls `look` at each word. `isAnew` after a connection was lost, when words may have been missed:
   * then nothing is to be remembered. Returns what ends it.
   */
  readonly listen: (look: (isAnew: boolean) => void) => () => void;
};

/** What a command waits for a Redis at most. */
const COMMAND_MS = 300;

/** Without a Redis, it says and hears nothing. Whoever made `redis` closes it. */
export function createAnnouncements(redis: Redis | undefined): Announcements {
  return {
    async announce() {
      await redis?.publish(CHANNEL, '').catch(() => undefined);
    },
    listen: (look) =>
      redis?.subscribe(
        CHANNEL,
        () => look(false),
        () => look(true),
      ) ?? (() => undefined),
  };
}

/** For a command: one word over a connection of its own. Never rejects. */
export async function announceOnce(target: RedisTarget): Promise<void> {
  const { createRedis } = await import('../store/redis/client.ts');
  const redis = createRedis({ target, onChange: () => undefined });
  await redis.waitUntilUp(COMMAND_MS);
  await createAnnouncements(redis).announce();
  redis.close();
}
