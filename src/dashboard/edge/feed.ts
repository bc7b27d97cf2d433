// Live numbers as Server-Sent Events. Viewers of the same data share one reader, and all readers
// share one ticker: an idle feed costs one comparison per second. A feed ends with its session, on
// shutdown, and when its client disconnects.

import { Stream } from '@elysiajs/stream';
import { every, type Stop } from '../../async/every.ts';
import { DashboardError } from './error.ts';
import type { RouteCall } from './route.ts';

/** One reading of a feed. A new `changes` value triggers a new message. */
export type Reading = { readonly data: object; readonly changes: string };

type FeedTopic = {
  /** The data shared by all viewers with the same key, such as an account's id. */
  readonly key: string;
  /** Creates the reader for the first viewer; it then runs once per second for all of them. */
  readonly start: () => ReadFeed;
};

type ReadFeed = () => Promise<Reading>;

type FeedCall = Pick<RouteCall<unknown>, 'request' | 'server' | 'isAdmitted'>;

export type FeedOptions = {
  readonly draining: () => boolean;
  /** Milliseconds of a monotonic clock. */
  readonly monotonic?: () => number;
  /** The interval at which feeds check for shutdown. */
  readonly tickMs?: number;
  /** The minimum interval between two readings. */
  readonly everyMs?: number;
  readonly heartbeatMs?: number;
  readonly lifeMs?: number;
};

/** On shutdown the server closes open connections half a second later. */
const TICK_MS = 200;
const EVERY_MS = 1_000;
const HEARTBEAT_MS = 15_000;
/** The idle timeout of a connection whose feed has ended. */
const IDLE_SECONDS = 60;
const FEEDS_PER_KEY = 5;

/** The browser reconnects by itself. Bounds the data that a client leaves unread. */
const LIFE_MS = 15 * 60_000;

const HEARTBEAT = new TextEncoder().encode(': still here\n\n');

type Topic = {
  readonly key: string;
  readonly read: ReadFeed;
  readonly feeds: Set<Feed>;
  last: Reading;
  reading: boolean;
};

type Feed = {
  readonly openedAt: number;
  readonly isAdmitted: () => Promise<boolean>;
  /** The newest unsent message: a slow client skips outdated ones. */
  waiting: object | Uint8Array | undefined;
  wake: () => void;
  sentAt: number;
  checking: boolean;
  ended: boolean;
  readonly limitIdle: () => void;
};

export function createFeeds(options: FeedOptions) {
  const { draining, monotonic = () => performance.now() } = options;
  const { tickMs = TICK_MS, everyMs = EVERY_MS } = options;
  const { heartbeatMs = HEARTBEAT_MS, lifeMs = LIFE_MS } = options;
  const topics = new Map<string, Topic>();
  let stopTicking: Stop | undefined;
  let lookedAt = 0;

  function tick(): void {
    const now = monotonic();
    if (!draining()) {
      if (now - lookedAt >= everyMs) look(now);
      return;
    }
    for (const topic of topics.values()) {
      for (const feed of topic.feeds) end(feed);
    }
  }

  function look(now: number): void {
    lookedAt = now;
    for (const topic of topics.values()) {
      for (const feed of topic.feeds) {
        if (now - feed.openedAt >= lifeMs) end(feed);
        else if (now - feed.sentAt >= heartbeatMs) tell(feed, HEARTBEAT, now);
        check(feed);
      }
      void readAgain(topic, now);
    }
  }

  function remove(topic: Topic, feed: Feed): void {
    topic.feeds.delete(feed);
    if (topic.feeds.size === 0) topics.delete(topic.key);
    if (topics.size > 0) return;
    stopTicking?.();
    stopTicking = undefined;
  }

  async function* produce(topic: Topic, feed: Feed): AsyncGenerator<object> {
    try {
      for (;;) {
        const { waiting } = feed;
        feed.waiting = undefined;
        if (waiting !== undefined) yield waiting;
        else if (feed.ended) return;
        else await new Promise<void>((resolve) => (feed.wake = resolve));
      }
    } finally {
      feed.ended = true;
      remove(topic, feed);
    }
  }

  return {
    /** Returns the stream. Rejects if reading fails, and beyond a few feeds per key. */
    async open({ request, server, isAdmitted }: FeedCall, wanted: FeedTopic): Promise<Response> {
      const started = topics.get(wanted.key) ?? (await startTopic(wanted));
      // Another viewer may have started it during the await.
      const topic = topics.get(wanted.key) ?? started;
      if (topic.feeds.size >= FEEDS_PER_KEY) {
        throw new DashboardError(
          'too_many_feeds',
          `Live updates are limited to ${FEEDS_PER_KEY} open pages. Close one, or reload this page to refresh it.`,
          { retryAfterSeconds: 30 },
        );
      }
      const now = monotonic();
      const feed: Feed = {
        openedAt: now,
        isAdmitted,
        waiting: topic.last.data,
        wake: () => undefined,
        sentAt: now,
        checking: false,
        ended: request.signal.aborted,
        limitIdle: () => server?.timeout(request, IDLE_SECONDS),
      };
      topic.feeds.add(feed);
      topics.set(topic.key, topic);
      stopTicking ??= every(tickMs, tick);
      // The runtime's idle timeout counts although messages flow.
      server?.timeout(request, 0);
      request.signal.addEventListener('abort', () => end(feed), { once: true });
      return new Response(new Stream<object>(produce(topic, feed)).value as ReadableStream, {
        headers: { 'content-type': 'text/event-stream', 'x-accel-buffering': 'no' },
      });
    },
    /** The number of open feeds. */
    count: (): number => [...topics.values()].reduce((sum, { feeds }) => sum + feeds.size, 0),
  };
}

async function startTopic({ key, start }: FeedTopic): Promise<Topic> {
  const read = start();
  return { key, read, feeds: new Set(), last: await read(), reading: false };
}

/** If reading fails, its feeds end; a new feed gets the error. */
async function readAgain(topic: Topic, now: number): Promise<void> {
  if (topic.reading) return;
  topic.reading = true;
  try {
    const reading = await topic.read();
    if (reading.changes === topic.last.changes) return;
    topic.last = reading;
    for (const feed of topic.feeds) tell(feed, reading.data, now);
  } catch {
    for (const feed of topic.feeds) end(feed);
  } finally {
    topic.reading = false;
  }
}

function tell(feed: Feed, message: object, now: number): void {
  feed.waiting = message;
  feed.sentAt = now;
  feed.wake();
}

function end(feed: Feed): void {
  feed.ended = true;
  feed.limitIdle();
  feed.wake();
}

/** Ends the feed of an expired session; runs one check at a time. */
function check(feed: Feed): void {
  if (feed.ended || feed.checking) return;
  feed.checking = true;
  void feed.isAdmitted().then((admitted) => {
    feed.checking = false;
    if (!admitted) end(feed);
  });
}
