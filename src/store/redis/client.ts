// Redis as the rest of the program sees it: scripts, messages, and whether it can be asked at all.
// Limits and the fan-out of changes stand on it, money never does. A breaker keeps requests from
// waiting for a server that does not answer; nothing here ever says a password. Loaded where there is a
// Redis, and nowhere else.

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
  /** Commands that were sent, each of them one way there and back. */
  readonly roundTrips: number;
  /** Those that failed or took too long. */
  readonly failures: number;
};

export type RedisDependencies = {
  readonly target: RedisTarget;
  /** `reason` is a word such as ECONNREFUSED or WRONGPASS; absent when Redis is up again. */
  readonly onChange: (isUp: boolean, reason: string | undefined) => void;
  /** How long a command may take; by default as long as a request may wait for it. */
  readonly timeoutMs?: number;
};

/** After so many failures in a row, commands are refused until a probe was answered. */
const FAILURES_IN_ROW = 5;
const PROBE_EVERY_MS = 2_000;

/** What a probe writes: a server that answers and takes no writes, as a replica, is of no use. */
const PROBE_KEY = 'tollgate:probe';
const PROBE_KEPT_MS = 10_000;

/** A server that was cut off without a word, or is no primary any more, is found by its address anew. */
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

  /** One command; its failure counts. */
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
    throw new Error('Redis answered another question than the one that was asked.');
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
    // One that takes no writes is asked in its turn, and not as fast as it lets itself be connected.
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
     * Runs a script, and resolves to what it returns. Whether it has run is not known when the promise
     * is rejected, so it has to be one that may run twice. Rejects at once while Redis is down. A reply
     * that is not the answer shows that one was lost or doubled before it: all later ones would be
     * that of another call too, so the connection is given up for a new one.
     */
    async run(
      { lua, sha }: RedisScript,
      keys: readonly string[],
      args: readonly string[],
      isAnswer: (reply: unknown) => boolean = () => true,
    ): Promise<unknown> {
      if (!up) throw new Error(`Redis cannot be asked (${reason}).`);
      const rest = [keys.length, ...keys, ...args] as const;
      let reply: unknown;
      try {
        reply = await ask(() => connection.evalsha(sha, ...rest));
      } catch (error) {
        // It has not run: the server forgot it, or has never seen it.
        if (wordOf(error) !== 'NOSCRIPT') throw error;
        reply = await ask(() => connection.eval(lua, ...rest));
      }
      requireStep(isAnswer(reply));
      return reply;
    },
    /** Tells every subscriber of a channel. Rejects where Redis is away; then no subscriber hears it. */
    async publish(channel: string, message: string): Promise<void> {
      if (!up) throw new Error(`Redis cannot be asked (${reason}).`);
      await ask(() => connection.publish(channel, message));
    },
    /**
     * Hears a channel until the function that it returns is called. `onConnect` is called at each
     * beginning: messages that were published before it may have been missed.
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
    /** Resolves when Redis can be asked, or after so many milliseconds. */
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

/** One connection after the other, each until it breaks or no longer answers. */
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
      // What was on its way when it ended is not news any more.
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

/** A word for what went wrong. The error itself may carry the command, and so a password. */
function wordOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown';
  if ('code' in error && typeof error.code === 'string') return error.code;
  if (error.message === 'Command timed out') return 'timeout';
  return /^[A-Z]{3,30}(?= )/.exec(error.message)?.[0] ?? 'disconnected';
}
