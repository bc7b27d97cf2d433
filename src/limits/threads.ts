// What the limits of several server threads need to be one: memory that they share, a lock over it,
// and the release of what a dead thread held. A process with one thread uses none of it.

import { RECORD } from './accounts.ts';
import { clearCells, createTableMemory, type TableMemory } from './table.ts';

/** Plain data: the main thread posts it to each thread. */
export type LimitMemory = {
  readonly table: TableMemory;
  /** Its holder, in a number of its own each time; 0 when it is free. */
  readonly lock: Int32Array;
};

const MAIN_THREAD = 0;

/** The memory of all threads, and the number of this one. */
export type Sharing = { readonly memory: LimitMemory; readonly thread: number };

/** Runs a section while no other thread runs one. It waits for nothing, and takes microseconds. */
type RunLocked = <T>(section: () => T) => T;

/** Attempts to take the lock before a thread gives its core to the holder, and for how long. */
const SPINS = 100;
const WAIT_MS = 1;

/**
 * Waits for one section, until its thread must have been terminated in it. The main thread frees the
 * lock when it hears of that, which it cannot while it waits for the lock itself.
 */
const WAITS_MAX = 5_000;

/** More than there are threads. */
const HOLDERS = 256;

/** Records of accounts, and of the models of each, that are in use within a minute. */
const CAPACITY = 131_072;

/** Those that were never used cost nothing: they are no real memory yet. */
export function createLimitMemory(threads: number, capacity = CAPACITY): LimitMemory {
  const lock = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
  return { table: createTableMemory({ ...RECORD, threads, capacity }, SharedArrayBuffer), lock };
}

/** One thread alone needs none. */
export function createLock(sharing: Sharing | undefined): RunLocked {
  if (sharing === undefined) return (section) => section();
  const { memory, thread } = sharing;
  let turn = 0;
  return (section) => {
    turn = (turn + HOLDERS) & 0x7fffffff;
    const own = turn + thread + 1;
    acquire(memory.lock, own);
    try {
      return section();
    } finally {
      Atomics.compareExchange(memory.lock, 0, own, 0);
    }
  };
}

function acquire(lock: Int32Array, own: number): void {
  let holder = 0;
  for (let waits = 0; ; waits += 1) {
    for (let spin = 0; spin < SPINS; spin += 1) {
      const expected = waits > WAITS_MAX ? holder : 0;
      const found = Atomics.compareExchange(lock, 0, expected, own);
      if (found === expected) return;
      if (found !== holder) waits = 0;
      holder = found;
    }
    Atomics.wait(lock, 0, holder, WAIT_MS);
  }
}

/** Frees the lock, the slots and the reservations of a thread that has died. The main thread calls. */
export function releaseThread(memory: LimitMemory, dead: number): void {
  const holder = Atomics.load(memory.lock, 0);
  if (holder % HOLDERS === dead + 1) Atomics.compareExchange(memory.lock, 0, holder, 0);
  createLock({ memory, thread: MAIN_THREAD })(() => clearCells(memory.table, dead));
}
