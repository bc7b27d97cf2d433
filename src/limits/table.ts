// Records of numbers that are found by a key: a hash table in a typed array, which threads can share.
// A record that is idle goes to the next key. The caller has the lock. Its thread may be terminated
// between any two writes, so the key of a record is written last.

/** Plain data, so that it can be posted to a thread. */
export type TableMemory = {
  /** Numbers of a record, the first of which is its key. */
  readonly fields: number;
  /** After them it has so many of each thread, for what the open claims of that have. */
  readonly cells: number;
  readonly threads: number;
  /** A power of two. Memory that is not shared grows. */
  readonly capacity: number;
  readonly records: Float64Array;
};

/** A record is named by the place of its first number. None is at 0, where all that is read is 0. */
export type Table = ReturnType<typeof createTable>;

export const FIRST_FIELD = 1;

/** In place of a key: never used, which ends a search; and taken from its last key. */
const [EMPTY, FREED] = [0, 1];

/** Records that a key may be in. */
const PROBES = 16;

/** Names whose keys are remembered. */
const NAMES_MAX = 20_000;

export function createTableMemory(
  size: Omit<TableMemory, 'records'>,
  Buffer: typeof ArrayBuffer | typeof SharedArrayBuffer = ArrayBuffer,
): TableMemory {
  const numbers = (size.capacity + 1) * (size.fields + size.threads * size.cells);
  const records = new Float64Array(new Buffer(numbers * Float64Array.BYTES_PER_ELEMENT));
  return { ...size, records };
}

/** Keys of names; two of them add up to that of the pair. */
export function createKeys(): (name: string) => number {
  const keys = new Map<string, number>();
  return (name) => {
    let key = keys.get(name);
    if (key === undefined) {
      key = FREED + 1 + Number(BigInt.asUintN(52, BigInt(Bun.hash(name))));
      if (keys.size >= NAMES_MAX) keys.clear();
      keys.set(name, key);
    }
    return key;
  };
}

/** `thread` is the number of the thread that calls; `isIdle`: nothing in a record counts any more. */
export function createTable(
  memory: TableMemory,
  thread: number,
  isIdle: (record: number, nowMs: number) => boolean,
) {
  const { fields, cells, threads } = memory;
  const stride = fields + threads * cells;
  let { records, capacity } = memory;

  const get = (at: number): number => records[at] ?? 0;
  const set = (at: number, value: number): void => {
    records[at] = value;
  };

  /** Where a key is looked for in turn: steps of its own, so that full places do not add up. */
  function placeOf(key: number, probe: number): number {
    const turn = (key | 0) + Math.imul(probe, (key / 2 ** 32) | 1);
    return (1 + (turn & (capacity - 1))) * stride;
  }

  function find(key: number): number {
    for (let probe = 0; probe < PROBES; probe += 1) {
      const record = placeOf(key, probe);
      const found = get(record);
      if (found === key) return record;
      if (found === EMPTY) return 0;
    }
    return 0;
  }

  function spareFor(key: number, nowMs: number): number {
    for (let probe = 0; probe < PROBES; probe += 1) {
      const record = placeOf(key, probe);
      if (get(record) <= FREED || isIdle(record, nowMs)) return record;
    }
    return 0;
  }

  function grow(nowMs: number): void {
    const old = records;
    capacity *= 2;
    ({ records } = createTableMemory({ ...memory, capacity }));
    for (let from = stride; from < old.length; from += stride) {
      const key = old[from] ?? EMPTY;
      if (key > FREED) records.set(old.subarray(from, from + stride), spareFor(key, nowMs));
    }
  }

  /** A record for a key that has none, all zeros until it is filled; 0 where all are in use. */
  function add(key: number, nowMs: number, fill: (record: number) => void): number {
    const record = spareFor(key, nowMs);
    if (record === 0) {
      if (records.buffer instanceof SharedArrayBuffer) return 0;
      grow(nowMs);
      return add(key, nowMs, fill);
    }
    set(record, FREED);
    for (let at = record + FIRST_FIELD; at < record + stride; at += 1) set(at, 0);
    fill(record);
    set(record, key);
    return record;
  }

  return {
    get,
    set,
    find,
    add,
    /** What the cells of all threads add up to. */
    sum(record: number, cell: number): number {
      let sum = 0;
      for (let at = record + fields + cell; at < record + stride; at += cells) sum += get(at);
      return sum;
    },
    addOwn(record: number, cell: number, count: number): void {
      const at = record + fields + thread * cells + cell;
      set(at, get(at) + count);
    },
    clearCell(record: number, cell: number): void {
      for (let at = record + fields + cell; at < record + stride; at += cells) set(at, 0);
    },
  };
}
