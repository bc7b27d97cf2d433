// Redis as the rest of the program uses it: scripts, messages and availability. Limits and
// notifications depend on it, money never does. A breaker keeps requests from waiting for a server
// that does not answer. Never logs a password. Loaded only where Redis is configured.

import type { Redis as Subscriber } from 'ioredis';
import { every } from '../../async/every.ts';
import { withTimeout } from '../../async/timeout.ts';
import type { RedisTarget } from '../../core/redis-url.ts';
import {
  COMMAND_MS,
  connectCommands,
  connectSubscriber,
  type RedisConnection,
} from './connection.ts';
import type { RedisScript } from './script.ts';

export type Redis = ReturnType<typeof createRedis>;

export type RedisCounts = {
  /** Commands that were sent; each is one round trip. */
  readonly roundTrips: number;
  /** Commands that failed or timed out. */
  readonly failures: number;
};

export type RedisDependencies = {
  readonly target: RedisTarget;
  /** `reason` is a code such as ECONNREFUSED or WRONGPASS; absent when Redis is up again. */
  readonly onChange: (isUp: boolean, reason: string | undefined) => void;
  /** The timeout of a command; default: as long as a request may wait for it. */
  readonly timeoutMs?: number;
};

/** After this many failures in a row, commands are rejected until a probe succeeds. */
const FAILURES_IN_ROW = 5;
const PROBE_EVERY_MS = 2_000;

/** Written by a probe: a server that accepts no writes, such as a replica, is no use. */
const PROBE_KEY = 'tollgate:probe';
const PROBE_KEPT_MS = 10_000;

/**
 * Errors after which the client reconnects by address: the server is unreachable or no longer
 * primary.
 */
const LOST = ['timeout', 'READONLY'];

export function createRedis(dependencies: RedisDependencies) {
  const { target, onChange, timeoutMs = COMMAND_MS } = dependencies;
  const connection = connectCommands(target, timeoutMs);
  const waiting = new Set<() => void>();
  const subscriptions = new Set<() => void>();
  let up = false;
  let closed = false;
  let failuresInRow = 0;
  let roundTrips = 0;
  let failures = 0;
  let reason = 'not connected';

  function change(isUp: boolean): void {
    failuresInRow = 0;
    if (up === isUp || closed) return;
    up = isUp;
    onChange(isUp, isUp ? undefined : reason);
    if (!isUp) return;
    for (const resolve of waiting) resolve();
    waiting.clear();
  }

  /** Runs one command and counts its failure. */
  async function ask<T>(command: () => Promise<T>): Promise<T> {
    roundTrips += 1;
    try {
      const reply = await command();
      failuresInRow = 0;
      return reply;
    } catch (error) {
      if (wordOf(error) === 'NOSCRIPT') throw error;
      failures += 1;
      failuresInRow += 1;
      reason = wordOf(error);
      if (failuresInRow >= FAILURES_IN_ROW) change(false);
      throw error;
    }
  }

  function requireStep(isInStep: boolean): void {
    if (isInStep) return;
    failures += 1;
    reason = 'out of step';
    change(false);
    connection.disconnect(true);
    throw new Error('A reply of Redis belonged to another command.');
  }

  async function probe(): Promise<void> {
    if (connection.status !== 'ready') return;
    try {
      roundTrips += 1;
      await connection.set(PROBE_KEY, '', 'PX', PROBE_KEPT_MS);
      change(true);
    } catch (error) {
      failures += 1;
      reason = wordOf(error);
      if (LOST.includes(reason)) connection.disconnect(true);
    }
  }

  connection.on('error', (error: unknown) => {
    reason = wordOf(error);
  });
  connection.on('ready', () => {
    // A read-only server is probed at intervals, not as fast as it accepts connections.
    if (reason !== 'READONLY') void probe();
  });
  connection.on('close', () => {
    if (up && failuresInRow === 0) reason = 'connection closed';
    change(false);
  });
  const stopProbing = every(PROBE_EVERY_MS, () => {
    if (!up) void probe();
  });

  return {
    /**
     * Runs a script, and resolves with its result. After a rejection it is unknown whether it has
     * run, so it must be safe to repeat. Rejects at once while Redis is down. A reply that does not
     * match means that an earlier one was lost or duplicated and all later ones are shifted, so the
     * connection is replaced.
     */
    async run(
      { lua, sha }: RedisScript,
      keys: readonly string[],
      args: readonly string[],
      isAnswer: (reply: unknown) => boolean = () => true,
    ): Promise<unknown> {
      if (!up) throw new Error(`Redis is down (${reason}).`);
      const rest = [keys.length, ...keys, ...args] as const;
      let reply: unknown;
      try {
        reply = await ask(() => connection.evalsha(sha, ...rest));
      } catch (error) {
        // It has not run: the server does not have the script cached.
        if (wordOf(error) !== 'NOSCRIPT') throw error;
        reply = await ask(() => connection.eval(lua, ...rest));
      }
      requireStep(isAnswer(reply));
      return reply;
    },
    /**
     * Sends to every subscriber of a channel. Rejects where Redis is down; then none receives it.
     */
    async publish(channel: string, message: string): Promise<void> {
      if (!up) throw new Error(`Redis is down (${reason}).`);
      await ask(() => connection.publish(channel, message));
    },
    /**
     * Subscribes to a channel until the returned function is called. Calls `onConnect` for each
     * connection: earlier messages may have been missed.
     */
    subscribe(
      channel: string,
      onMessage: (message: string) => void,
      onConnect: () => void,
    ): () => void {
      const end = keepSubscribed(target, { channel, onMessage, onConnect });
      subscriptions.add(end);
      return () => {
        subscriptions.delete(end);
        end();
      };
    },
    isUp: (): boolean => up,
    counts: (): RedisCounts => ({ roundTrips, failures }),
    /** Resolves when Redis is up, or after the timeout. */
    async waitUntilUp(timeoutMs: number): Promise<void> {
      if (up) return;
      await withTimeout(timeoutMs, new Promise<void>((resolve) => waiting.add(resolve)));
    },
    close(): void {
      closed = true;
      stopProbing();
      for (const end of subscriptions) end();
      endConnection(connection);
    },
  };
}

type Subscription = {
  readonly channel: string;
  readonly onMessage: (message: string) => void;
  readonly onConnect: () => void;
};

const RESUBSCRIBE_MS = 200;

/** Keeps one connection subscribed, and replaces it when it breaks or stops answering. */
function keepSubscribed(target: RedisTarget, subscription: Subscription): () => void {
  const { channel, onMessage, onConnect } = subscription;
  let current: Subscriber | undefined;
  let again: ReturnType<typeof setTimeout> | undefined;
  let ended = false;

  function begin(attempt: number): void {
    const connection = connectSubscriber(target, attempt);
    current = connection;
    const stopChecking = every(PROBE_EVERY_MS, () => {
      if (connection.status === 'ready') connection.ping().catch(() => connection.disconnect());
    });
    connection.on('error', () => {});
    connection.on('message', (_channel: string, message: string) => {
      // Ignores a message that was in flight when the subscription ended.
      if (!ended) onMessage(message);
    });
    connection.on('ready', () => {
      connection.subscribe(channel).then(onConnect, () => connection.disconnect());
    });
    connection.on('end', () => {
      stopChecking();
      if (!ended) again = setTimeout(() => begin(attempt + 1), RESUBSCRIBE_MS);
    });
  }

  begin(0);
  return () => {
    ended = true;
    clearTimeout(again);
    if (current !== undefined) endConnection(current);
  };
}

function endConnection(connection: RedisConnection): void {
  connection.on('error', () => {});
  connection.disconnect();
}

/** A code for an error. The error itself may contain the command, and so a password. */
function wordOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown';
  if ('code' in error && typeof error.code === 'string') return error.code;
  if (error.message === 'Command timed out') return 'timeout';
  return /^[A-Z]{3,30}(?= )/.exec(error.message)?.[0] ?? 'disconnected';
}
