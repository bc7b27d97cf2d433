// A word to the other nodes that something has changed, so that they look at once and not with their
// next look. Redis carries it and may lose it: what has changed is in the database, and every node
// looks there by itself. Used by serve, and by commands that change something.

import { createRedis, type Redis } from '../store/redis/client.ts';
import type { RedisTarget } from '../store/redis/target.ts';

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
  readonly close: () => void;
};

/** What a command waits for a Redis at most. */
const COMMAND_MS = 300;

/** Over a connection of its own, or, without a Redis, to and from nobody. */
export function openAnnouncements(target: RedisTarget | undefined): Announcements {
  if (target === undefined) {
    return {
      announce: async () => undefined,
      listen: () => () => undefined,
      close: () => undefined,
    };
  }
  const redis = createRedis({ target, onChange: () => undefined });
  return { ...announcementsOf(redis), close: redis.close };
}

/** For a command: one word over a connection of its own. Never rejects. */
export async function announceOnce(target: RedisTarget): Promise<void> {
  const redis = createRedis({ target, onChange: () => undefined });
  await redis.waitUntilUp(COMMAND_MS);
  await announcementsOf(redis).announce();
  redis.close();
}

function announcementsOf(redis: Redis): Omit<Announcements, 'close'> {
  return {
    announce: () => redis.publish(CHANNEL, '').catch(() => undefined),
    listen: (look) =>
      redis.subscribe(
        CHANNEL,
        () => look(false),
        () => look(true),
      ),
  };
}
