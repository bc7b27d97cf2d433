// Opens the way to upstreams: connections, their timers and attempts. For the server, and for
// commands that ask an upstream without one.

import { createDeadlines } from '../core/deadlines.ts';
import { createTrial } from '../generate/trial.ts';
import { createAttempts } from '../upstream/attempt.ts';
import { createUpstreamClient } from '../upstream/client.ts';
import { answerDemo } from '../upstream/demo.ts';
import { createDescriptors } from '../upstream/descriptors.ts';
import { systemLookup } from '../upstream/resolver.ts';
import { VERSION } from '../version.ts';
import { proxiedSchemes } from './runtime.ts';

/** The precision of timeouts: the owner sweeps `deadlines` as often. */
export const DEADLINE_SWEEP_MS = 250;

export function createUpstreams(options: {
  readonly clock: () => number;
  readonly monotonic: () => number;
}) {
  const { clock, monotonic } = options;
  const deadlines = createDeadlines(monotonic);
  const descriptors = createDescriptors({ monotonic });
  const client = createUpstreamClient({
    descriptors,
    fetch,
    answerDemo: (body) => answerDemo(body),
    lookup: systemLookup,
    clock,
    monotonic,
    userAgent: `tollgate/${VERSION}`,
    proxiedSchemes: proxiedSchemes(process.env),
  });
  return {
    deadlines,
    descriptors,
    client,
    trial: createTrial(createAttempts({ client, clock, deadlines }), monotonic),
    close(): void {
      client.close();
      descriptors.close();
    },
  };
}
