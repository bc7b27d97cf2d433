// Time and randomness of a simulation: one seed, one queue of tasks, two clocks. An installed world
// replaces the timers of the whole process, so that the product's code waits in virtual time; an
// hour takes a second, and a seed always gives the same order of events.

import type { Awaitable } from '../../src/async/awaitable.ts';
import { createTasks, type Task } from './tasks.ts';

export type World = {
  readonly random: () => number;
  /** An integer from `least` to `most`, both included. */
  readonly between: (least: number, most: number) => number;
  readonly chance: (probability: number) => boolean;
  readonly pick: <T>(items: readonly T[]) => T;
  /** Milliseconds since the world began; never jumps. */
  readonly monotonic: () => number;
  /** Unix milliseconds, as wrong as `jump` has made them. */
  readonly wall: () => number;
  readonly jump: (ms: number) => void;
  /** Runs `work` later, regardless of the gateway. */
  readonly after: (ms: number, work: () => void) => void;
  readonly sleep: (ms: number) => Promise<void>;
  /** Forgets every timer that the product has set so far. */
  readonly endLife: () => void;
  /**
   * Runs tasks until none is left or `untilMs` is reached. `onStep` is called, and awaited, after
   * each.
   */
  readonly run: (untilMs: number, onStep: () => Awaitable<void>) => Promise<void>;
};

/** What outlives the gateway. */
const OUTSIDE = 0;

/**
 * Turns of the real event loop in which promises, native ones too, come to rest; one without those.
 */
const TURNS = 3;

const WALL_START = Date.UTC(2026, 10, 21, 23, 50);

/** Runs `work` in a world of its own, and gives the process its timers back. */
export async function inWorld<T>(
  seed: number,
  work: (world: World) => Promise<T>,
  turns = TURNS,
): Promise<T> {
  const real = {
    setTimeout,
    clearTimeout,
    setInterval,
    clearInterval,
    setImmediate,
    sleep: Bun.sleep,
  };
  const random = createRandom(seed);
  const tasks = createTasks();
  let life = OUTSIDE + 1;
  let nowMs = 0;
  let wallOffsetMs = WALL_START;

  const add = (ms: number, run: () => void, of: number, everyMs?: number): Task => {
    const task: Task = { at: nowMs + ms, rank: random(), life: of, run, gone: false };
    if (everyMs !== undefined) task.everyMs = everyMs;
    tasks.add(task);
    return task;
  };
  const remove = (task: unknown): void => {
    if (typeof task === 'object' && task !== null) (task as Task).gone = true;
  };
  const after = (ms: number, run: () => void): void => void add(ms, run, OUTSIDE);
  const world: World = {
    random,
    between: (least, most) => least + Math.floor(random() * (most - least + 1)),
    chance: (probability) => random() < probability,
    pick: (items) => items[Math.floor(random() * items.length)] as (typeof items)[number],
    monotonic: () => nowMs,
    wall: () => wallOffsetMs + nowMs,
    jump(ms) {
      wallOffsetMs += ms;
    },
    after,
    sleep: (ms) => new Promise((resolve) => after(ms, resolve)),
    endLife() {
      tasks.each((task) => {
        if (task.life !== OUTSIDE) task.gone = true;
      });
      life += 1;
    },
    async run(untilMs, onStep) {
      for (;;) {
        for (let turn = 0; turn < turns; turn += 1) {
          await new Promise<void>((resolve) => real.setImmediate(resolve));
        }
        await onStep();
        const task = tasks.first();
        if (task === undefined || task.at > untilMs) break;
        tasks.take();
        nowMs = Math.max(nowMs, task.at);
        if (task.everyMs !== undefined) {
          tasks.add(Object.assign(task, { at: nowMs + task.everyMs, rank: random() }));
        }
        task.run();
      }
      nowMs = Math.max(nowMs, untilMs);
    },
  };

  const unref = <T extends object>(task: T): T => Object.assign(task, { unref: () => task });
  Object.assign(globalThis, {
    setTimeout: (run: () => void, ms = 0) => unref(add(ms, run, life)),
    setInterval: (run: () => void, ms = 0) => unref(add(ms, run, life, ms)),
    setImmediate: (run: () => void) => unref(add(0, run, life)),
    clearTimeout: remove,
    clearInterval: remove,
  });
  Object.assign(Bun, {
    sleep: (ms: number) => new Promise<void>((resolve) => void add(ms, resolve, life)),
  });
  try {
    return await work(world);
  } finally {
    const { sleep, ...timers } = real;
    Object.assign(globalThis, timers);
    Object.assign(Bun, { sleep });
  }
}

/** Mulberry32: small, fast, and the same everywhere. */
function createRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
