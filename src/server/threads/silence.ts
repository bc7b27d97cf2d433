// For how long a server thread has said nothing, as far as the main thread can tell. A thread speaks
// twice a second; one that is silent for long hangs. Kept for each thread by `handle.ts`.

/** For so long, the main thread may have been away itself: this process stood still, or starved. */
const GAP_MS = 1_000;

export type Silence = {
  readonly heard: (now: number) => void;
  /**
   * The silence until now, in milliseconds; 0 before the first word. Asked several times a second:
   * after a gap between two looks it is counted anew.
   */
  readonly look: (now: number) => number;
};

/** Every `now` is in milliseconds of a clock that never jumps. */
export function createSilence(): Silence {
  let since: number | undefined;
  let lookedAt = -Infinity;
  return {
    heard(now) {
      since = now;
    },
    look(now) {
      if (since === undefined) return 0;
      if (now - lookedAt > GAP_MS) since = now;
      lookedAt = now;
      return now - since;
    },
  };
}
