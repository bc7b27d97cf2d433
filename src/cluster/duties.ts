// What one node does for all of them: jobs that run while it leads, and end when it does not. Each is
// a function that begins it and returns what ends it. Settled every second by serve.

import type { Stop } from '../async/every.ts';

type Duties = {
  /** Begins or ends the jobs, as this node leads or does not. */
  readonly settle: () => void;
  /** Ends them for good. */
  readonly close: () => void;
};

export function createDuties(isLeader: () => boolean, jobs: readonly (() => Stop)[]): Duties {
  let stops: readonly Stop[] | undefined;
  let isClosed = false;

  function end(): void {
    for (const stop of stops ?? []) stop();
    stops = undefined;
  }

  return {
    settle() {
      if (isLeader() && !isClosed) stops ??= jobs.map((begin) => begin());
      else end();
    },
    close() {
      isClosed = true;
      end();
    },
  };
}
