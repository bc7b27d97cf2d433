// The leader's jobs: started when this node becomes leader, stopped when it loses leadership. A job
// is a function that starts it and returns a function that stops it. Settled every second.

import type { Stop } from '../async/every.ts';

export function createDuties(isLeader: () => boolean, jobs: readonly (() => Stop)[]) {
  let stops: readonly Stop[] | undefined;
  let isClosed = false;

  function end(): void {
    for (const stop of stops ?? []) stop();
    stops = undefined;
  }

  return {
    /** Starts or stops the jobs, depending on leadership. */
    settle(): void {
      if (isLeader() && !isClosed) stops ??= jobs.map((begin) => begin());
      else end();
    },
    /** Stops them for good. */
    close(): void {
      isClosed = true;
      end();
    },
  };
}
