// The Redis client of a node in a simulated cluster: the timeouts and retries of the real one, over
// the simulated network.

import type { Redis } from '../../../src/store/redis/client.ts';
import type { RedisScript } from '../../../src/store/redis/script.ts';
import type { World } from '../world.ts';
import type { Connection } from './network.ts';

/** As `src/store/redis/` has them. */
const COMMAND_MS = 150;
const FAILURES_IN_ROW = 5;
const PROBE_EVERY_MS = 2_000;

export type SimulatedRedis = Redis & { readonly kill: () => void };

/** What the server makes of a script. */
export type Serve = (
  script: RedisScript,
  keys: readonly string[],
  args: readonly string[],
) => unknown;

/** Who gets the messages of all channels: there is one. */
export type Subscribers = Set<(message: string) => void>;

export function createSimulatedRedis(
  world: World,
  connection: Connection,
  serve: Serve,
  subscribers: Subscribers,
): SimulatedRedis {
  let up = true;
  let alive = true;
  let failuresInRow = 0;
  let roundTrips = 0;
  let failures = 0;

  function ask<T>(work: () => T): Promise<T> {
    roundTrips += 1;
    return new Promise((resolve, reject) => {
      let open = true;
      world.after(COMMAND_MS, () => {
        if (!open) return;
        open = false;
        failures += 1;
        failuresInRow += 1;
        if (failuresInRow >= FAILURES_IN_ROW && up) {
          up = false;
          world.after(PROBE_EVERY_MS, probe);
        }
        reject(new Error('Command timed out'));
      });
      connection.call(work).then((reply) => {
        if (!open) return;
        open = false;
        failuresInRow = 0;
        resolve(reply);
      }, reject);
    });
  }

  function probe(): void {
    if (!alive) return;
    ask(() => undefined).then(
      () => {
        up = true;
      },
      () => world.after(PROBE_EVERY_MS, probe),
    );
  }

  return {
    async run(script, keys, args) {
      if (!up) throw new Error('Redis cannot be asked.');
      return ask(() => serve(script, keys, args));
    },
    async publish(_channel, message) {
      if (!up) throw new Error('Redis cannot be asked.');
      await ask(() => {
        for (const receive of subscribers) receive(message);
      });
    },
    subscribe(_channel, onMessage) {
      const receive = (message: string): void => connection.push(() => onMessage(message));
      subscribers.add(receive);
      return () => subscribers.delete(receive);
    },
    isUp: () => up,
    counts: () => ({ roundTrips, failures }),
    waitUntilUp: async () => undefined,
    close: () => undefined,
    kill() {
      alive = false;
      connection.cut();
    },
  };
}
