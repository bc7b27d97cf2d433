// The network between the nodes of a simulated cluster and its Redis: each node has an ordered
// connection, Redis executes one command at a time, and both may fail.

import type { World } from '../world.ts';
import { exponential } from './demand.ts';

/** One way, within a data centre: what light and switches take, and what queues add on average. */
const LEAST_MS = 0.1;
const QUEUES_MS = 0.1;

/** Now and then a packet is late: it was lost, or a process collected garbage. */
const LATE_CHANCE = 0.001;
const LATE_MS = 20;

/** What Redis is busy with for one script. */
const SCRIPT_MS = 0.03;

export type Traffic = {
  /** Commands that Redis has carried out. */
  readonly operations: number;
  /** How long a command and its answer took, milliseconds; of those that were answered. */
  readonly roundTripMs: readonly number[];
};

export type Connection = {
  /** Runs `work` at Redis. Never answers where Redis or the node is gone by then. */
  readonly call: <T>(work: () => T) => Promise<T>;
  /** Sends to the node by itself. */
  readonly push: (work: () => void) => void;
  /** The node has died: nothing of it arrives any more. */
  readonly cut: () => void;
};

export type Network = {
  readonly connect: () => Connection;
  /** Redis stops to answer, and forgets nothing; what reaches it during that time is lost. */
  readonly setAway: (away: boolean) => void;
  readonly traffic: () => Traffic;
};

/** What is late on a network worse than usual. */
export type Lateness = { readonly lateChance?: number; readonly lateMs?: number };

export function createNetwork(
  world: World,
  { lateChance = LATE_CHANCE, lateMs = LATE_MS }: Lateness,
): Network {
  let away = false;
  let busyUntil = 0;
  let operations = 0;
  const roundTripMs: number[] = [];

  const oneWayMs = (): number => {
    const late = world.chance(lateChance) ? exponential(world, lateMs) : 0;
    return LEAST_MS + exponential(world, QUEUES_MS) + late;
  };

  function connect(): Connection {
    let alive = true;
    let thereAt = 0;
    let backAt = 0;
    return {
      call: (work) =>
        new Promise((resolve, reject) => {
          const sentAt = world.monotonic();
          thereAt = Math.max(thereAt, sentAt + oneWayMs());
          const arrive = (): void => {
            if (away || !alive) return;
            const now = world.monotonic();
            busyUntil = Math.max(busyUntil, now) + SCRIPT_MS;
            operations += 1;
            let answer: () => void;
            try {
              const result = work();
              answer = () => resolve(result);
            } catch (error) {
              answer = () => reject(error);
            }
            backAt = Math.max(backAt, busyUntil + oneWayMs());
            world.after(backAt - now, () => {
              if (!alive) return;
              roundTripMs.push(world.monotonic() - sentAt);
              answer();
            });
          };
          world.after(thereAt - sentAt, arrive);
        }),
      push(work) {
        const now = world.monotonic();
        backAt = Math.max(backAt, now + oneWayMs());
        world.after(backAt - now, () => {
          if (alive && !away) work();
        });
      },
      cut: () => {
        alive = false;
      },
    };
  }

  return {
    connect,
    setAway: (next) => {
      away = next;
    },
    traffic: () => ({ operations, roundTripMs }),
  };
}
