// The clock of a node: the database's time, extrapolated by this machine's monotonic clock. Updated
// by every heartbeat (`member.ts`). All domains of a server use it, so that no machine's wall clock
// starts a day or ends a lease.

type TimeSample = {
  /** The database's answer, Unix milliseconds. */
  readonly databaseMs: number;
  /** The monotonic times of the query and of its answer. */
  readonly sentAt: number;
  readonly receivedAt: number;
};

export type DatabaseClock = ReturnType<typeof createDatabaseClock>;

/** A slower answer is too imprecise to set the clock. */
const TRIP_MS_MAX = 1_000;

/** Smaller differences are network latency, and do not set the clock. */
const SAME_MS = 20;

export function createDatabaseClock(clocks: {
  /** Unix milliseconds. */
  readonly wall: () => number;
  /** Milliseconds of a clock that never jumps. */
  readonly monotonic: () => number;
}) {
  const { wall, monotonic } = clocks;
  /** The offset from the monotonic clock. */
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
