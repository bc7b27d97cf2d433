// Starts the gateway of a round, kills it with SIGKILL at a moment that the seed chose, and
// restarts it on the same files. The moment is a time, or the next event of a kind after that time:
// kills right after an attempt, a first token, a bill or a disconnect find the most.

import { type Gateway, type GatewayOptions, startGateway } from '../support/gateway.ts';
import type { Target } from './client.ts';

export const TRIGGERS = ['now', 'ask', 'dispatch', 'content', 'bill', 'leave'] as const;

export type Trigger = (typeof TRIGGERS)[number];

export type Kill = {
  /** Which start of a gateway was killed, from 1 on. */
  readonly generation: number;
  readonly trigger: Trigger;
  readonly atMs: number;
  /** When the next one listened. */
  backAtMs: number;
};

export type Moment = {
  /** From now on, until the killer lies in wait for its event. */
  readonly afterMs: number;
  readonly trigger: Trigger;
  /** From the event to the kill; at 0 it comes before anything else can. */
  readonly delayMs: number;
  /** How long it stays dead; it starts again at once by default. */
  readonly downMs?: number;
};

export type Killer = {
  readonly kills: Kill[];
  readonly generation: () => number;
  readonly gateway: () => Gateway;
  readonly isUp: () => boolean;
  /** Where to ask now; waits while the gateway is down. */
  readonly target: () => Promise<Target>;
  /** Something happened; kills, at once, if that was what it waited for. */
  readonly happened: (trigger: Trigger) => void;
  /** Waits for the moment, kills, and starts again. Resolves when the next one listens. */
  readonly killOnce: (moment: Moment) => Promise<void>;
  /** Takes it out of rotation, stops it as an operator does, and starts it again. */
  readonly restart: () => Promise<number>;
};

/**
 * Half of the kills that wait for an event come at once: an acknowledgement has to be on disk by
 * then.
 */
export const KILL_DELAYS_MS = [0, 0, 0, 1, 2, 4] as const;

/** How long a killer waits for its event before any moment will do. */
const IMPATIENCE_MS = 500;

/** How long the load balancer may go on sending after a server was taken out. */
const TAKEN_OUT_MS = 300;

/** `nextGeneration` counts the starts of all gateways that it is shared by. */
export async function startKiller(
  start: (directory?: string) => Promise<Gateway>,
  nextGeneration: () => number = countStarts(),
): Promise<Killer> {
  const kills: Kill[] = [];
  let gateway = await start();
  let generation = nextGeneration();
  let up = Promise.resolve();
  let isUp = true;
  let armed: { readonly trigger: Trigger; readonly fire: () => void } | undefined;

  function kill(trigger: Trigger): Kill {
    process.kill(gateway.pid, 'SIGKILL');
    const killed: Kill = { generation, trigger, atMs: Date.now(), backAtMs: 0 };
    kills.push(killed);
    return killed;
  }

  /** From now on no client calls it; the returned function allows it again, once it has started. */
  function takeOut(): () => Promise<void> {
    const back = Promise.withResolvers<void>();
    up = back.promise;
    isUp = false;
    return async () => {
      gateway = await start(gateway.directory);
      generation = nextGeneration();
      isUp = true;
      back.resolve();
    };
  }

  async function killOnce({ afterMs, trigger, delayMs, downMs = 0 }: Moment): Promise<void> {
    await Bun.sleep(afterMs);
    let bringBack = async () => {};
    const killed = await new Promise<Kill>((resolve) => {
      const moment = {
        trigger,
        fire() {
          if (armed !== moment) return;
          armed = undefined;
          const now = () => {
            bringBack = takeOut();
            resolve(kill(trigger));
          };
          if (delayMs === 0) now();
          else setTimeout(now, delayMs);
        },
      };
      armed = moment;
      if (trigger === 'now') moment.fire();
      else setTimeout(moment.fire, IMPATIENCE_MS);
    });
    await gateway.kill();
    await Bun.sleep(downMs);
    await bringBack();
    killed.backAtMs = Date.now();
  }

  async function restart(): Promise<number> {
    const bringBack = takeOut();
    await Bun.sleep(TAKEN_OUT_MS);
    const code = await gateway.stop();
    await bringBack();
    return code;
  }

  return {
    kills,
    generation: () => generation,
    gateway: () => gateway,
    isUp: () => isUp,
    async target() {
      await up;
      return { url: gateway.url, generation };
    },
    happened(trigger) {
      if (armed?.trigger === trigger) armed.fire();
    },
    killOnce,
    restart,
  };
}

export function countStarts(): () => number {
  let starts = 0;
  return () => {
    starts += 1;
    return starts;
  };
}

/** The gateway of the rig over a catalog: quiet, and in a folder of its own until it is killed. */
export function gatewayOf(catalog: string, environment: GatewayOptions['environment'] = {}) {
  return (directory?: string): Promise<Gateway> =>
    startGateway({
      catalog,
      environment: { LOG_LEVEL: 'warn', REASONING_STORE: 'off', ...environment },
      ...(directory === undefined ? {} : { directory }),
    });
}
