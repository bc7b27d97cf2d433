// Upstream probes made of promises that a test settles.

import type { UpstreamFailure } from '../../src/core/failure.ts';
import type { Candidate } from '../../src/core/route.ts';
import type { Probe } from '../../src/upstream/probe.ts';

/** An upstream that says nothing to a probe: what requests meet is all that is known. */
export const SILENT_PROBE: Probe = () => new Promise(() => {});

export type ListedProbes = {
  readonly probe: Probe;
  /** The upstreams that were probed, with the credential, in order. */
  readonly asked: string[];
  /** Ends the oldest probe in progress, and lets what waits for it go on. */
  readonly answer: (outcome: 'finished' | UpstreamFailure) => Promise<void>;
};

export function listedProbes(): ListedProbes {
  const asked: string[] = [];
  const waiting: ((outcome: 'finished' | UpstreamFailure) => void)[] = [];
  return {
    asked,
    probe({ upstream }: Candidate, { id }) {
      asked.push(`${upstream.id} ${id}`);
      return new Promise((resolve) => waiting.push(resolve));
    },
    async answer(outcome) {
      const settle = waiting.shift();
      if (settle === undefined) throw new Error('no probe is in progress');
      settle(outcome);
      await new Promise((wake) => setImmediate(wake));
    },
  };
}
