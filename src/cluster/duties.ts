// What one node does for all of them: jobs that run while it leads, and end when it does not. Each is
// a function that begins it and returns what ends it. Settled every second by serve.

import type { Stop } from '../async/every.ts';

export function createDuties(isLeader: () => boolean, jobs: readonly (() => Stop)[]) {
  let stops: readonly Stop[] | undefined;
  let isClosed = false;

  function end(): void {
    for (const stop of stops ?? []) stop();
    stops = undefined;
  }

  return {
    /** Begins or ends the jobs, as this node leads or does not. */
    settle(): void {
      if (isLeader() && !isClosed) stops ??= jobs.map((begin) => begin());
      else end();
    },
    /** Ends them for good. */
    close(): void {
      isClosed = true;
      end();
    },
  };
}
