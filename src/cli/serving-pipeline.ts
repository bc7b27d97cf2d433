// The way of a request through a server, from its domains to its upstreams: limits, the connections
// to upstreams and their health, and the audit that looks at what is under way. Made by serve.

import type { Config } from '../config.ts';
import { createDeadlines } from '../core/deadlines.ts';
import type { RandomBytes } from '../core/id.ts';
import type { GenerateDependencies } from '../generate/call.ts';
import { createInFlight } from '../generate/in-flight.ts';
import type { Tokenizer } from '../generate/tokenizer.ts';
import { createHistory } from '../ledger/history.ts';
import { createLimits } from '../limits/limits.ts';
import { createAttempts } from '../upstream/attempt.ts';
import { createUpstreamClient } from '../upstream/client.ts';
import { answerDemo } from '../upstream/demo.ts';
import { createHealth } from '../upstream/health.ts';
import { systemLookup } from '../upstream/resolver.ts';
import { startTimer } from '../upstream/timer.ts';
import { VERSION } from '../version.ts';
import type { Observation } from './observation.ts';
import { proxiedSchemes } from './runtime.ts';
import { createServingAudit } from './serving-audit.ts';
import type { ServingDomains } from './serving-domains.ts';

/** Younger requests may be about to get their hold, or to lose it: the audit leaves them alone. */
const AUDITED_AGE_MS = 60_000;

export type ServingPipelineOptions = {
  readonly config: Config;
  /** Unix milliseconds. */
  readonly clock: () => number;
  /** Milliseconds of a clock that never jumps. */
  readonly monotonic: () => number;
  readonly randomBytes: RandomBytes;
  readonly observation: Pick<Observation, 'log' | 'alert'>;
  readonly domains: ServingDomains;
  readonly tokenizer: Tokenizer;
};

export async function createServingPipeline(options: ServingPipelineOptions) {
  const { config, clock, monotonic, randomBytes, observation, domains, tokenizer } = options;
  const { live, store, reasoning } = domains;
  const { database, ledger } = store;
  const { log, alert } = observation;
  const deadlines = createDeadlines(monotonic);
  const inFlight = createInFlight();
  const limits = await createLimits({
    clock,
    monotonic,
    isLive: inFlight.isLive,
    history: createHistory(database),
  });
  const health = createHealth({ catalog: live.current, clock, monotonic, startTimer, alert });
  const client = createUpstreamClient({
    fetch,
    answerDemo: (body) => answerDemo(body),
    lookup: systemLookup,
    clock,
    monotonic,
    userAgent: `tollgate/${VERSION}`,
    proxiedSchemes: proxiedSchemes(process.env),
  });
  const generation: GenerateDependencies = {
    clock,
    monotonic,
    random: Math.random,
    randomBytes,
    limits,
    ledger,
    tokenizer,
    reasoning: config.reasoningStore === 'on' ? reasoning : undefined,
    startAttempt: createAttempts({ client, clock, deadlines }),
    health,
    startTimer,
    inFlight,
    alert,
    onInternal: (requestId, error) => alert({ kind: 'internal_error', requestId }, error),
    heartbeatMs: config.heartbeatMs,
    silentCommitMs: config.silentCommitMs,
  };
  const selfAudit = createServingAudit({
    store,
    url: config.databaseUrl,
    everyMs: config.auditMs,
    clock,
    live() {
      const unwritten = new Set(ledger.unwritten());
      return {
        requests: [...inFlight.live(), ...unwritten],
        claims: limits.claims().filter(({ requestId }) => !unwritten.has(requestId)),
        createdBefore: clock() - AUDITED_AGE_MS,
      };
    },
    log,
    alert,
  });

  return { generation, limits, inFlight, deadlines, health, client, selfAudit };
}
