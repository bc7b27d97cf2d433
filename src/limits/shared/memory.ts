// The memory that the threads of one process share: its size, what lies where, and the atomic steps
// in which it is read and changed. Made once by the main thread and opened by each thread.

/** Who is in use of an entry, and who holds slots of it: a cell a thread, which only it changes. */
export type CellName = 'open' | 'slots' | 'reserved';

export type MemorySize = {
  /** Threads that claim, each with a number of its own, from zero. */
  readonly threads: number;
  /** Accounts, and pairs of account and model, that may be in use at the same time. */
  readonly accounts: number;
  readonly models: number;
};

export type Memory = MemorySize & {
  readonly load: (at: number) => bigint;
  readonly store: (at: number, word: bigint) => void;
  /** Writes `next` where `expected` is still there; answers whether it was. */
  readonly swap: (at: number, expected: bigint, next: bigint) => boolean;
  /** What all threads together have in the cells of an entry. */
  readonly sum: (cells: number) => number;
  readonly add: (cells: number, thread: number, count: number) => void;
  /** Empties the cell of a thread. */
  readonly drop: (cells: number, thread: number) => void;
};

/** Sizes, the hash seed and the lock; see `table.ts`. */
const HEADER_WORDS = 8;

const WORD_BYTES = 8;
const [THREADS_AT, ACCOUNTS_AT, MODELS_AT] = [0, 1, 2];

export const LOCK_AT = 3;
export const JOURNAL_AT = 4;
export const SEED_AT = 6;

/** Where the parts of an entry are, counted from its first word, which is its key. */
export const WINDOW = 1;
/** The request window of count_tokens, the end of its use, and the periods: of accounts alone. */
export const COUNT_WINDOW = 3;
export const KEPT_UNTIL = 5;
export const PERIODS = 6;

/** Days and months that are remembered at a time: the clock may be set back and come forward. */
export const DAYS_KEPT = 4;
export const MONTHS_KEPT = 2;
export const PERIOD_WORDS = 3;

const MODEL_WORDS = 3;
const PERIODS_KEPT = DAYS_KEPT + MONTHS_KEPT;
const ACCOUNT_WORDS = PERIODS + PERIODS_KEPT * PERIOD_WORDS;

/** Cells of an entry a thread, two of which lie in a word: accounts have one more a period. */
const MODEL_CELLS = 2;
const ACCOUNT_CELLS = MODEL_CELLS + PERIODS_KEPT;

/** `seed` makes the hashes of this process its own. Pages that nobody touches cost nothing. */
export function createMemory(size: MemorySize, seed = 0n): SharedArrayBuffer {
  const models = tableOf(size, 'models');
  const buffer = new SharedArrayBuffer((models.start + models.stride * size.models) * WORD_BYTES);
  const words = new BigUint64Array(buffer);
  words[THREADS_AT] = BigInt(size.threads);
  words[ACCOUNTS_AT] = BigInt(size.accounts);
  words[MODELS_AT] = BigInt(size.models);
  words[SEED_AT] = seed;
  return buffer;
}

/** `onStep` is called before each atomic step: tests let another thread go first there. */
export function openMemory(buffer: SharedArrayBuffer, onStep = () => {}): Memory {
  const words = new BigUint64Array(buffer);
  const cells = new Int32Array(buffer);
  const threads = Number(words[THREADS_AT]);
  return {
    threads,
    accounts: Number(words[ACCOUNTS_AT]),
    models: Number(words[MODELS_AT]),
    load(at) {
      onStep();
      return Atomics.load(words, at);
    },
    store(at, word) {
      onStep();
      Atomics.store(words, at, word);
    },
    swap(at, expected, next) {
      onStep();
      return Atomics.compareExchange(words, at, expected, next) === expected;
    },
    sum(first) {
      let sum = 0;
      for (let thread = 0; thread < threads; thread += 1) {
        onStep();
        sum += Atomics.load(cells, first + thread);
      }
      return sum;
    },
    add(first, thread, count) {
      onStep();
      Atomics.add(cells, first + thread, count);
    },
    drop(first, thread) {
      onStep();
      Atomics.store(cells, first + thread, 0);
    },
  };
}

export type TableName = 'accounts' | 'models';

export type TablePlace = {
  /** The word at which it starts, and the words of each entry. */
  readonly start: number;
  readonly stride: number;
  readonly capacity: number;
  /** The first of an entry's cells; what is reserved has some for each of the periods. */
  readonly cells: (entry: number, name: CellName, period?: number) => number;
  readonly periods: number;
};

export function tableOf(size: MemorySize, name: TableName): TablePlace {
  const isAccounts = name === 'accounts';
  const words = isAccounts ? ACCOUNT_WORDS : MODEL_WORDS;
  const accountStride = ACCOUNT_WORDS + (size.threads * ACCOUNT_CELLS) / 2;
  const stride = isAccounts ? accountStride : MODEL_WORDS + (size.threads * MODEL_CELLS) / 2;
  const start = isAccounts ? HEADER_WORDS : HEADER_WORDS + size.accounts * accountStride;
  const first = { open: 0, slots: 1, reserved: MODEL_CELLS };
  return {
    start,
    stride,
    capacity: size[name],
    cells: (entry, cell, period = 0) => (entry + words) * 2 + (first[cell] + period) * size.threads,
    periods: isAccounts ? PERIODS_KEPT : 0,
  };
}
