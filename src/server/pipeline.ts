// Constructs the pipeline of a server between its domains and its upstreams: limits, upstream
// connections and their health.

import { createAnswerWatch } from '../core/answer-watch.ts';
import { createLearned } from '../core/learned.ts';
import { roomBytes } from '../generate/body-room.ts';
import { RequestEntrance } from '../generate/entrance.ts';
import { createFunds } from '../generate/funds.ts';
import { createInFlight } from '../generate/in-flight.ts';
import type { GenerateDependencies } from '../generate/pipeline-types.ts';
import type { Tokenizer } from '../generate/tokenizer.ts';
import { createHistory } from '../ledger/history.ts';
import { createLimits } from '../limits/limits.ts';
import type { Redis } from '../store/redis/client.ts';
import { createAttempts } from '../upstream/attempt.ts';
import { createHealth } from '../upstream/health.ts';
import { createImageHosts, imageLookup } from '../upstream/image-hosts.ts';
import { createProbe } from '../upstream/probe.ts';
import { startTimer } from '../upstream/timer.ts';
import type { Base } from './base.ts';
import type { Domains } from './domains.ts';
import { createServingLimits } from './limits.ts';
import { memoryBytes } from './runtime.ts';
import type { ServingStore } from './store.ts';
import { createUpstreams } from './upstreams.ts';

export type ServingPipelineOptions = {
  readonly base: Base;
  readonly store: ServingStore;
  readonly domains: Domains;
  readonly tokenizer: Tokenizer;
  /** The Redis that leases limits; undefined where none is set. */
  readonly redis: Redis | undefined;
};

export type ServingPipeline = Awaited<ReturnType<typeof createServingPipeline>>;

export async function createServingPipeline(options: ServingPipelineOptions) {
  const { base, store, domains, tokenizer, redis } = options;
  const { config, deployment, clock, monotonic, randomBytes, observation } = base;
  const { database, ledger } = store;
  const { liveNodes } = store.node.member;
  const { live, reasoning, books } = domains;
  const { alert } = observation;
  const upstreams = createUpstreams({ clock, monotonic });
  const { deadlines, client } = upstreams;
  const inFlight = createInFlight();
  const history = createHistory(database);
  const limiting = { clock, monotonic, isLive: inFlight.isLive, history };
  const local = createLimits(limiting);
  const serving = createServingLimits({ ...limiting, local, redis, liveNodes, randomBytes });
  const { limits } = serving;
  const answers = createAnswerWatch({
    catalog: live.current,
    alert,
    onUnknown: observation.metrics.unknownWord,
  });
  const startAttempt = createAttempts({ client, clock, deadlines, onAnswer: answers.see });
  const health = createHealth({
    catalog: live.current,
    clock,
    monotonic,
    startTimer,
    alert,
    probe: createProbe(startAttempt),
  });
  const funds = createFunds(books);
  const generation: GenerateDependencies = {
    clock,
    monotonic,
    random: Math.random,
    limits,
    entrance: new RequestEntrance({
      funds,
      limits,
      bodyBytes: roomBytes(memoryBytes()),
      monotonic,
    }),
    ledger,
    tokenizer,
    funds,
    learned: createLearned(clock),
    reasoning: config.reasoningStore === 'on' ? reasoning : undefined,
    startAttempt,
    health,
    findPrivateHost: createImageHosts({ lookup: imageLookup, monotonic }),
    startTimer,
    startDeadline: deadlines.start,
    inFlight,
    alert,
    heard: observation.heard,
    onInternal: (requestId, error) => alert({ kind: 'internal_error', requestId }, error),
    heartbeatMs: config.heartbeatMs,
    silentCommitMs: config.silentCommitMs,
    booking: deployment.booking.kind,
  };
  return {
    generation,
    limits,
    ledger,
    inFlight,
    deadlines,
    health,
    answers,
    trial: upstreams.trial,
    closeClient: upstreams.close,
    /** Whether there is a connection to an upstream for one more request. */
    hasRoom: () => upstreams.descriptors.hasRoom(inFlight.count()),
    limitsLoad: serving.load,
    closeLimits: serving.close,
  };
}
