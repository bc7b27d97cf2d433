// Constructs all that answers requests: domains, limits, pipeline and handlers.

import { every, type Stop } from '../async/every.ts';
import { loadTokenizer } from '../generate/tokenizer.ts';
import { residentBytes } from '../observe/process.ts';
import type { Base } from './base.ts';
import { type CatalogSource, openDomains } from './domains.ts';
import { createHandlers } from './handlers.ts';
import { openServingRedis } from './limits.ts';
import { createMemoryWatch } from './memory-watch.ts';
import { createServingPipeline } from './pipeline.ts';
import { readSecrets } from './secrets.ts';
import type { ServingStore } from './store.ts';
import { DEADLINE_SWEEP_MS } from './upstreams.ts';

type RequestPathOptions = {
  readonly base: Base;
  readonly store: ServingStore;
  readonly catalog: CatalogSource;
};

export type RequestPath = Awaited<ReturnType<typeof createRequestPath>>;

/**
 * How often the server checks its memory: a burst of large bodies lasts some tenths of a second.
 */
const MEMORY_LOOK_MS = 100;

export async function createRequestPath({ base, store, catalog }: RequestPathOptions) {
  const { config, monotonic, observation } = base;
  const tokenizer = await loadTokenizer(monotonic);
  const secrets = readSecrets(base);
  const domains = await openDomains({ base, store, catalog, secrets });
  const redis = await openServingRedis(config.redis, observation.log);
  const pipeline = await createServingPipeline({ base, store, domains, tokenizer, redis });
  const handlers = createHandlers({ base, store, domains, pipeline });
  const { inFlight, limits } = pipeline;
  const { ledger } = store;
  const watchMemory = createMemoryWatch({
    inFlight: inFlight.count,
    residentBytes,
    monotonic,
    collect() {
      Bun.gc(true);
      ledger.collect();
    },
    shrink() {
      Bun.shrink();
      ledger.shrink();
    },
  });
  return {
    domains,
    redis,
    pipeline,
    handlers,
    load: handlers.load,
    warnings: () => [...pipeline.answers.warnings(), ...secrets.warnings],
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
        domains.serviceStates.watch((upstream) => {
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
