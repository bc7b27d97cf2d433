// The mechanism of the live feeds over a real socket: messages and their rate, who shares a
// reader, and every way in which a feed ends.

import { afterEach, describe, expect, test } from 'bun:test';
import { createFeeds, type FeedOptions, type Reading } from '../../../src/dashboard/edge/feed.ts';
import { waitUntil } from '../../support/upstream.ts';

const TICK_MS = 5;

type Options = Partial<FeedOptions> & { readonly read?: () => Promise<Reading> };

const servers: { stop: (force: boolean) => unknown }[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.stop(true);
});

/** A server with a feed at each path: the path is the topic's key. */
function rig(options: Options = {}) {
  let value = 0;
  let reads = 0;
  let starts = 0;
  let admitted = true;
  let draining = false;
  const read =
    options.read ??
    (async () => {
      reads += 1;
      return { data: { value }, changes: String(value) };
    });
  const feeds = createFeeds({
    draining: () => draining,
    tickMs: TICK_MS,
    everyMs: TICK_MS,
    ...options,
  });
  const timeouts: number[] = [];
  const server = Bun.serve({
    port: 0,
    fetch: (request, runtime) =>
      feeds
        .open(
          {
            request,
            server: {
              timeout(asked, seconds) {
                timeouts.push(seconds);
                runtime.timeout(asked, seconds);
              },
            },
            isAdmitted: async () => admitted,
          },
          {
            key: new URL(request.url).pathname,
            start() {
              starts += 1;
              return read;
            },
          },
        )
        .catch((error: Error) => new Response(`${error.name}: ${error.message}`, { status: 429 })),
  });
  servers.push(server);
  return {
    feeds,
    timeouts,
    set(next: number): void {
      value = next;
    },
    reads: () => reads,
    starts: () => starts,
    signOut(): void {
      admitted = false;
    },
    drain(): void {
      draining = true;
    },
    async open(path = '/a') {
      const leave = new AbortController();
      const response = await fetch(new URL(path, server.url), { signal: leave.signal });
      return { response, leave: () => leave.abort(), ...listen(response) };
    },
  };
}

/** Reads a feed as it comes. */
function listen(response: Response) {
  let text = '';
  let over = false;
  const done = (async () => {
    try {
      for await (const chunk of response.body ?? []) text += new TextDecoder().decode(chunk);
    } catch {
      // The test has left.
    }
    over = true;
  })();
  return {
    text: () => text,
    isOver: () => over,
    done,
    values: () => [...text.matchAll(/^data: (.*)$/gm)].map(([, json = '']) => JSON.parse(json)),
  };
}

describe('messages', () => {
  test('is the state at once, and then each change, as events that have an id', async () => {
    const { set, open, timeouts } = rig();
    const feed = await open();
    expect(feed.response.headers.get('content-type')).toBe('text/event-stream');
    await waitUntil(() => feed.values().length === 1);
    set(1);
    await waitUntil(() => feed.values().length === 2);
    set(2);
    await waitUntil(() => feed.values().length === 3);
    expect(feed.values()).toEqual([{ value: 0 }, { value: 1 }, { value: 2 }]);
    expect(feed.text()).toMatch(/^(id: \S+\ndata: \{"value":\d\}\n\n){3}$/);
    expect(timeouts).toEqual([0]);
  });

  test('is nothing while nothing changes, but for a heartbeat', async () => {
    const { open, reads } = rig({ heartbeatMs: 40 });
    const feed = await open();
    await waitUntil(() => feed.text().split(': still here\n\n').length >= 3);
    expect(feed.values()).toEqual([{ value: 0 }]);
    expect(reads()).toBeGreaterThan(4);
  });

  test('is read once for all who look at the same, and apart for others', async () => {
    const { open, feeds, starts, set } = rig();
    const looking = [await open('/a'), await open('/a'), await open('/b')];
    expect([feeds.count(), starts()]).toEqual([3, 2]);
    set(7);
    await waitUntil(() => looking.every((feed) => feed.values().at(-1)?.value === 7));
  });
});

describe('a feed ends', () => {
  test('when its session does', async () => {
    const { open, signOut, feeds } = rig();
    const feed = await open();
    signOut();
    await feed.done;
    expect(feeds.count()).toBe(0);
  });

  test('when the server is about to stop', async () => {
    const { open, drain, feeds } = rig();
    const both = [await open('/a'), await open('/b')];
    drain();
    await Promise.all(both.map(({ done }) => done));
    expect(feeds.count()).toBe(0);
  });

  test('when its client disconnects, and the ticker stops without feeds', async () => {
    const { open, feeds, reads } = rig();
    const [gone, stays] = [await open(), await open()];
    gone.leave();
    await waitUntil(() => feeds.count() === 1);
    stays.leave();
    await waitUntil(() => feeds.count() === 0);
    const before = reads();
    const other = rig();
    const watcher = await other.open();
    await waitUntil(() => other.reads() > 10);
    watcher.leave();
    expect(reads()).toBe(before);
  });

  test('after its maximum age, so that unread data does not accumulate', async () => {
    const { open, feeds } = rig({ lifeMs: 30 });
    const feed = await open();
    await feed.done;
    expect(feeds.count()).toBe(0);
  });

  test('when its data can no longer be read', async () => {
    let broken = false;
    const { open, feeds } = rig({
      read: async () => {
        if (broken) throw new Error('the database is gone');
        return { data: {}, changes: '' };
      },
    });
    const feed = await open();
    broken = true;
    await feed.done;
    expect(feed.text()).not.toContain('database');
    expect(feeds.count()).toBe(0);
  });
});

test('a sixth of the same is refused, and there is room again when one has ended', async () => {
  const { open, feeds } = rig();
  const five = await Promise.all([1, 2, 3, 4, 5].map(() => open()));
  const sixth = await open();
  expect([sixth.response.status, feeds.count()]).toEqual([429, 5]);
  expect((await open('/b')).response.status).toBe(200);
  five[0]?.leave();
  await waitUntil(() => feeds.count() === 5);
  expect((await open()).response.status).toBe(200);
});

test('what cannot be read at first is refused with what reading says, and leaves nothing', async () => {
  const { open, feeds } = rig({ read: () => Promise.reject(new Error('no plan')) });
  const { response } = await open();
  expect([response.status, feeds.count()]).toEqual([429, 0]);
});
