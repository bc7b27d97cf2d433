// Constructs what the request handlers need from the domains and the pipeline.

import { ERRORS } from '../core/error.ts';
import type { RequestSummary } from '../core/request-summary.ts';
import { createMinuteBudgets } from '../generate/minute-budget.ts';
import type { HandlerDependencies } from '../http/exchange.ts';
import { createIdempotency } from '../http/idempotency.ts';
import { createKnownHosts } from '../http/known-hosts.ts';
import { createOperatorAccess } from '../http/operator-access.ts';
import { createTallies } from '../http/tally.ts';
import { createVisitCount } from '../http/visit-count.ts';
import { createAccess, createPlaygroundAccess } from '../identity/access.ts';
import { createNetworkSet } from '../identity/address.ts';
import { boundKeyRecords } from '../operations/key-bounds.ts';
import type { RefusedCall } from '../refusals/recorder.ts';
import { isStoreFailure } from '../store/error.ts';
import { VERSION } from '../version.ts';
import type { Base } from './base.ts';
import type { Domains } from './domains.ts';
import type { ServingPipeline } from './pipeline.ts';
import type { ServingStore } from './store.ts';

export type OwnHandlers = Omit<
  HandlerDependencies,
  ('problems' | 'warnings' | 'isStopped' | 'draining' | 'isRefusing') | ('metrics' | 'upstreams')
> & {
  readonly version: string;
};

type HandlerOptions = {
  readonly base: Base;
  readonly store: Pick<ServingStore, 'database'>;
  readonly domains: Domains;
  readonly pipeline: ServingPipeline;
};

export function createHandlers({ base, store, domains, pipeline }: HandlerOptions): OwnHandlers {
  const { config, clock, monotonic, randomBytes, observation } = base;
  const { database } = store;
  const { authenticator, books, keys, serviceStates, activity, refusals, idempotency } = domains;
  const { generation, limits, deadlines } = pipeline;
  const tallies = createTallies({
    monotonic,
    tell(summary) {
      observation.request(summary);
      const failed = failedStream(summary);
      if (failed !== undefined) refusals.note({ ...failed, at: clock() });
    },
  });
  const trustedProxies = createNetworkSet(config.trustedProxies);
  return {
    serviceState: serviceStates.current,
    access: createAccess({ authenticator }),
    playgroundAccess: createPlaygroundAccess(database),
    generation,
    idempotency: idempotency && createIdempotency({ store: idempotency, books, clock, monotonic }),
    offersResponses: config.responsesFormat === 'on',
    lists: {
      limits,
      books,
      clock,
      looks: createMinuteBudgets(monotonic),
      keyLooks: createMinuteBudgets(monotonic),
      countActiveKeys: keys.countActive,
      async keyRecords({ accountId, keyId }, most) {
        const { rows, isCut } = await keys.listed(accountId, most);
        const catalog = () => serviceStates.current().catalog;
        const record = await boundKeyRecords({ database, catalog, clock }, rows, keyId);
        return { records: rows.map(record), isCut };
      },
    },
    randomBytes,
    clock,
    deadlines,
    trustedProxies,
    countVisit: createVisitCount(createMinuteBudgets(monotonic)),
    hasRoom: pipeline.hasRoom,
    touchKey: (keyId, from) => activity.touch(keyId, clock(), from),
    onInternal: generation.onInternal,
    isAway: isStoreFailure,
    tallies,
    startTrace: observation.startTrace,
    noteRefusal: refusals.note,
    operatorAccess: createOperatorAccess({
      token: config.metricsToken,
      isPublished: config.baseUrl !== undefined || trustedProxies.contains('127.0.0.1'),
    }),
    knownHosts: createKnownHosts([
      config.host,
      config.operatorHost,
      ...(config.baseUrl === undefined ? [] : [new URL(config.baseUrl).hostname]),
    ]),
    version: VERSION,
    load: () => ({
      requestsInFlight: pipeline.inFlight.count(),
      streamsOpen: tallies.openStreams(),
      ledgerPending: generation.ledger.pending(),
      limits: pipeline.limitsLoad(),
    }),
  };
}

/** A stream that failed after its headers and is not in the books. Other failures are refusals. */
function failedStream(summary: RequestSummary): Omit<RefusedCall, 'at'> | undefined {
  const { requestId, route, accountId, keyId, model, answer } = summary;
  if (summary.code !== undefined || answer?.counted !== true) return undefined;
  if (answer.outcome === 'client_cancelled') return undefined;
  const code = answer.outcome === 'gateway_failed' ? 'internal_error' : 'provider_unavailable';
  return { requestId, route, code, message: ERRORS[code].text, accountId, keyId, model };
}
