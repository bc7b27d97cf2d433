// Notifies the other nodes of a change over Redis, so that they look at once and not only at the
// next poll. Redis may lose the message: changes are in the database, which every node polls
// anyway. Used by serve and by commands that change something.

import type { RedisTarget } from '../core/redis-url.ts';
import type { Redis } from '../store/redis/client.ts';

/** Receivers read the audit trail; the message carries no content. */
const CHANNEL = 'tollgate:changes';

export type Announcements = {
  /** Resolves once Redis has accepted or refused the message. Never rejects. */
  readonly announce: () => Promise<void>;
  /**
   * Calls `look` for each message. `isAnew`: the connection was lost, so messages may have been
   * missed and caches must be dropped. Returns a function that unsubscribes.
   */
  readonly listen: (look: (isAnew: boolean) => void) => () => void;
};

/** How long a command waits for Redis. */
const COMMAND_MS = 300;

/** A no-op without Redis. The caller closes `redis`. */
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

/** For a command: sends one message over a connection of its own. Never rejects. */
export async function announceOnce(target: RedisTarget): Promise<void> {
  const { createRedis } = await import('../store/redis/client.ts');
  const redis = createRedis({ target, onChange: () => undefined });
  await redis.waitUntilUp(COMMAND_MS);
  await createAnnouncements(redis).announce();
  redis.close();
}
