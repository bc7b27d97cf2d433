// Constructs all that answers requests: domains, limits, pipeline and handlers.

import { every, type Stop } from '../async/every.ts';
import { loadTokenizer } from '../generate/tokenizer.ts';
import type { RemoteLedger } from '../ledger/remote.ts';
import { residentBytes } from '../observe/process.ts';
import { type DomainsOptions, openDomains } from './domains.ts';
import { createHandlers } from './handlers.ts';
import { openServingRedis } from './limits.ts';
import { createMemoryWatch } from './memory-watch.ts';
import { createServingPipeline, type ServingPipelineOptions } from './pipeline.ts';
import { DEADLINE_SWEEP_MS } from './upstreams.ts';

type RequestPathOptions = DomainsOptions &
  Omit<ServingPipelineOptions, 'domains' | 'tokenizer' | 'redis'> & {
    readonly ledger: Pick<RemoteLedger, 'collect' | 'shrink'>;
  };

export type RequestPath = Awaited<ReturnType<typeof createRequestPath>>;

/**
 * How often the server checks its memory: a burst of large bodies lasts some tenths of a second.
 */
const MEMORY_LOOK_MS = 100;

export async function createRequestPath(options: RequestPathOptions) {
  const { config, monotonic, observation } = options;
  const tokenizer = await loadTokenizer(monotonic);
  const domains = await openDomains(options);
  const redis = await openServingRedis(config.redis, observation.log);
  const pipeline = await createServingPipeline({ ...options, domains, tokenizer, redis });
  const handlers = createHandlers({ ...options, domains, pipeline });
  const { inFlight, limits, ledger } = pipeline;
  const watchMemory = createMemoryWatch({
    inFlight: inFlight.count,
    residentBytes,
    monotonic,
    collect() {
      Bun.gc(true);
      options.ledger.collect();
    },
    shrink() {
      Bun.shrink();
      options.ledger.shrink();
    },
  });
  return {
    ...{ domains, redis, pipeline, handlers },
    load: handlers.load,
    live: () => ({
      requests: inFlight.live(),
      unwritten: ledger.unwritten(),
      claims: limits.claims(),
    }),
    /**
     * Starts sweeps and applies what operators change. Calls `onSeen` with the time up to which all
     * changes are applied. Returns a function that stops it.
     */
    start(onSeen: (atMs: number, hasChanges: boolean) => Promise<void>): Stop {
      const stops = [
        every(DEADLINE_SWEEP_MS, pipeline.deadlines.sweep),
        every(MEMORY_LOOK_MS, watchMemory),
        domains.operators.watch((upstream) => {
          pipeline.health.reset(upstream);
          observation.activity.forget(upstream);
        }, onSeen),
      ];
      return () => {
        for (const stop of stops) stop();
      };
    },
    async close(): Promise<void> {
      await handlers.idempotency?.close();
      pipeline.closeClient();
      await pipeline.closeLimits();
      redis?.close();
      await Promise.all([domains.activity.flush(), domains.refusals.flush()]);
    },
  };
}
