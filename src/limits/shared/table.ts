// Entries of the shared memory by the hash of what they are about: an account, or an account's use of
// a model. Found and held without a lock. Only one thread at a time makes a new entry, which happens
// once an account and minute; a thread that dies over it leaves nothing behind (`recoverThread`).

import {
  type CellName,
  JOURNAL_AT,
  LOCK_AT,
  type Memory,
  SEED_AT,
  type TableName,
  tableOf,
} from './memory.ts';

export type Key = {
  readonly hash: bigint;
  /** The entry that its hash names. */
  readonly first: number;
};

export type Table = {
  readonly keyOf: (name: string) => Key;
  /**
   * Finds an entry and keeps it from being given to another key until it is released. Every other
   * function takes entries that are held.
   */
  readonly hold: (key: Key) => number | undefined;
  readonly release: (entry: number) => void;
  /** Slots of an entry, of all threads. */
  readonly slots: (entry: number) => number;
  readonly addSlots: (entry: number, count: number) => void;
  /** Tokens that requests in flight have reserved of one of an account's periods, of all threads. */
  readonly reserved: (entry: number, period: number) => number;
  readonly addReserved: (entry: number, period: number, tokens: number) => void;
  /**
   * Makes an entry for a key, unless there is one by now, out of one that is not used. `busy` while
   * another thread makes one; `full` where all that it may take are in use.
   */
  readonly make: (key: Key, use: EntryUse) => 'made' | 'busy' | 'full';
};

export type EntryUse = {
  /** Whether nothing that was counted in it counts any more. */
  readonly isOver: (entry: number) => boolean;
  /** Writes all of it but the key; it may hold anything. */
  readonly fill: (entry: number) => void;
};

/** Entries that a key may be in, from the one that its hash names. */
const PROBES = 64;

/** In place of a key: never used, and taken from its last key. */
const EMPTY = 0n;
const FREED = 1n;

/** `thread` is the number of the thread that calls. */
export function createTable(memory: Memory, name: TableName, thread: number): Table {
  const { start, stride, capacity, cells } = tableOf(memory, name);
  const seed = memory.load(SEED_AT);
  const probes = Math.min(PROBES, capacity);

  const at = ({ first }: Key, turn: number): number => start + ((first + turn) % capacity) * stride;
  const sum = (entry: number, cell: CellName): number => memory.sum(cells(entry, cell));
  const release = (entry: number): void => memory.add(cells(entry, 'open'), thread, -1);

  function find(key: Key): number | undefined {
    for (let turn = 0; turn < probes; turn += 1) {
      const entry = at(key, turn);
      const found = memory.load(entry);
      if (found === key.hash) return entry;
      if (found === EMPTY) return undefined;
    }
    return undefined;
  }

  /** Takes an entry from a key that does not need it. Whoever holds it meanwhile keeps it. */
  function free(entry: number, hash: bigint, isOver: EntryUse['isOver']): boolean {
    memory.store(JOURNAL_AT + 1, hash);
    memory.store(JOURNAL_AT, BigInt(entry));
    memory.store(entry, FREED);
    // Who holds it has counted itself in before it looked at the key: one of the two sees the other.
    const isFree = sum(entry, 'open') === 0 && isOver(entry);
    if (!isFree) memory.store(entry, hash);
    memory.store(JOURNAL_AT, 0n);
    return isFree;
  }

  function take(entry: number, isOver: EntryUse['isOver']): boolean {
    const hash = memory.load(entry);
    if (hash === EMPTY || hash === FREED) return true;
    return sum(entry, 'open') === 0 && isOver(entry) && free(entry, hash, isOver);
  }

  function makeAlone(key: Key, { isOver, fill }: EntryUse): 'made' | 'full' {
    if (find(key) !== undefined) return 'made';
    for (let turn = 0; turn < probes; turn += 1) {
      const entry = at(key, turn);
      if (!take(entry, isOver)) continue;
      fill(entry);
      memory.store(entry, key.hash);
      return 'made';
    }
    return 'full';
  }

  return {
    keyOf(text) {
      const hash = BigInt(Bun.hash(text, seed));
      return { hash: hash > FREED ? hash : hash + 2n, first: Number(hash % BigInt(capacity)) };
    },
    hold(key) {
      const entry = find(key);
      if (entry === undefined) return undefined;
      memory.add(cells(entry, 'open'), thread, 1);
      if (memory.load(entry) === key.hash) return entry;
      release(entry);
      return undefined;
    },
    release,
    slots: (entry) => sum(entry, 'slots'),
    addSlots: (entry, count) => memory.add(cells(entry, 'slots'), thread, count),
    reserved: (entry, period) => memory.sum(cells(entry, 'reserved', period)),
    addReserved: (entry, period, tokens) =>
      memory.add(cells(entry, 'reserved', period), thread, tokens),
    make(key, use) {
      if (!memory.swap(LOCK_AT, 0n, BigInt(thread + 1))) return 'busy';
      const made = makeAlone(key, use);
      memory.store(LOCK_AT, 0n);
      return made;
    },
  };
}

/** Gives back what a thread held that has died, and ends what it was making. */
export function recoverThread(memory: Memory, dead: number): void {
  if (memory.load(LOCK_AT) === BigInt(dead + 1)) {
    const entry = Number(memory.load(JOURNAL_AT));
    if (entry !== 0 && memory.load(entry) === FREED) {
      memory.store(entry, memory.load(JOURNAL_AT + 1));
    }
    memory.store(JOURNAL_AT, 0n);
    memory.store(LOCK_AT, 0n);
  }
  for (const name of ['accounts', 'models'] as const) {
    const { start, stride, capacity, cells, periods } = tableOf(memory, name);
    for (let entry = start; entry < start + capacity * stride; entry += stride) {
      memory.drop(cells(entry, 'open'), dead);
      memory.drop(cells(entry, 'slots'), dead);
      for (let period = 0; period < periods; period += 1) {
        memory.drop(cells(entry, 'reserved', period), dead);
      }
    }
  }
}
