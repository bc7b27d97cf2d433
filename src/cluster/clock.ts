// What time it is for a node of a cluster: the database's time, carried on by a clock of this machine
// that never jumps. Learned from every heartbeat (`member.ts`); used by serve as the clock of all
// domains, so that no wall clock of one machine opens a day or ends a lease.

type TimeSample = {
  /** The database's answer, Unix milliseconds. */
  readonly databaseMs: number;
  /** When it was asked and when it had answered, by the clock that never jumps. */
  readonly sentAt: number;
  readonly receivedAt: number;
};

export type DatabaseClock = ReturnType<typeof createDatabaseClock>;

/** What took longer to answer says too little about the time. */
const TRIP_MS_MAX = 1_000;

/** Differences below it are the way there and back, and are no reason to set a clock. */
const SAME_MS = 20;

export function createDatabaseClock(clocks: {
  /** Unix milliseconds. */
  readonly wall: () => number;
  /** Milliseconds of a clock that never jumps. */
  readonly monotonic: () => number;
}) {
  const { wall, monotonic } = clocks;
  /** What to add to the clock that never jumps. */
  let base: number | undefined;

  /** Unix milliseconds; this machine's own time until the database's is known. */
  const now = (): number => (base === undefined ? wall() : Math.floor(monotonic() + base));

  return {
    now,
    learn({ databaseMs, sentAt, receivedAt }: TimeSample): void {
      const tripMs = receivedAt - sentAt;
      if (tripMs > TRIP_MS_MAX) return;
      const learned = databaseMs - (sentAt + receivedAt) / 2;
      if (base === undefined || Math.abs(learned - base) > SAME_MS + tripMs / 2) base = learned;
    },
    /** By how much this machine's time is ahead of the database's; 0 until that is known. */
    offsetMs: (): number => Math.round(wall() - now()),
  };
}
