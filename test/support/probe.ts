// Upstream probes made of promises that a test settles.

import type { UpstreamFailure } from '../../src/core/failure.ts';
import type { Candidate } from '../../src/core/route.ts';
import type { Probe } from '../../src/upstream/probe.ts';

/**
 * An upstream that accepts what the gateway sends, and says nothing to other probes: what requests
 * meet is all that is known.
 */
export const SILENT_PROBE: Probe = (_candidate, _credential, purpose) =>
  purpose === 'acceptance' ? Promise.resolve('finished') : new Promise(() => {});

export type ListedProbes = {
  readonly probe: Probe;
  /** What ends probes of whose fault a refusal is, at once; `finished` by default. */
  acceptance: 'finished' | UpstreamFailure;
  /** The upstreams that were asked so, in order. */
  readonly accepting: string[];
  /** The upstreams that were probed, with the credential, in order. */
  readonly asked: string[];
  /** Ends the oldest probe in progress, and lets what waits for it go on. */
  readonly answer: (outcome: 'finished' | UpstreamFailure) => Promise<void>;
};

export function listedProbes(): ListedProbes {
  const asked: string[] = [];
  const accepting: string[] = [];
  const waiting: ((outcome: 'finished' | UpstreamFailure) => void)[] = [];
  const listed: ListedProbes = {
    acceptance: 'finished',
    accepting,
    asked,
    probe({ upstream }: Candidate, { id }, purpose) {
      if (purpose === 'acceptance') {
        accepting.push(upstream.id);
        return Promise.resolve(listed.acceptance);
      }
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
  return listed;
}
