// The pipeline over a real ledger and real limits: its parts, and the calls of one account.

import { createLearned } from '../../src/core/learned.ts';
import type { Catalog, Model, Upstream } from '../../src/core/model.ts';
import { micro, usdRate } from '../../src/core/money.ts';
import type { Plan } from '../../src/core/plan.ts';
import { DEFAULT_SERVICE } from '../../src/core/service.ts';
import { RequestEntrance } from '../../src/generate/entrance.ts';
import { createFunds } from '../../src/generate/funds.ts';
import { createInFlight } from '../../src/generate/in-flight.ts';
import type { GenerateDependencies, GenerationCall } from '../../src/generate/pipeline-types.ts';
import { createTokenizer } from '../../src/generate/tokenizer.ts';
import { createHistory } from '../../src/ledger/history.ts';
import { createLimits } from '../../src/limits/limits.ts';
import { createHealth } from '../../src/upstream/health.ts';
import { startTimer } from '../../src/upstream/timer.ts';
import { chatFormat } from '../../src/wire/chat/format.ts';
import { fundAccount, NOW, type OpenBooks } from '../support/ledger.ts';
import { demoUpstream } from '../support/model.ts';
import { SILENT_PROBE } from '../support/probe.ts';
import { serviceState } from '../support/service-state.ts';

export const TOKEN = 1_000_000n;

export function planWith(more: Partial<Plan>): Plan {
  return {
    slug: 'test',
    name: 'Test',
    requestsPerMinute: 10,
    tokensPerMinute: 100_000,
    concurrentRequests: 1,
    maxContext: 1_000,
    maxApiKeys: 1,
    models: ['*'],
    ...more,
  };
}

/** By default each model is served by an upstream of its name. */
export function catalogWith(
  plan: Plan,
  models: readonly Model[],
  upstreams: readonly Upstream[] = models.map(({ slug }) => demoUpstream(slug)),
): Catalog {
  return {
    serviceName: 'test',
    service: DEFAULT_SERVICE,
    usdPerMillion: usdRate(1_000_000n),
    minimumHold: micro(TOKEN),
    models,
    plans: new Map([[plan.slug, plan]]),
    upstreams: new Map(upstreams.map((upstream) => [upstream.id, upstream])),
    resolve: (name) => models.find(({ slug }) => slug === name),
  };
}

type Changes = Partial<GenerateDependencies> &
  Pick<GenerateDependencies, 'startAttempt'> & { readonly credit?: bigint };

/** A token is a character. The account has 10,000 service tokens, unless `credit` says otherwise. */
export async function openPipeline(
  open: OpenBooks,
  catalog: Catalog,
  accountId: string,
  { credit = 10_000n * TOKEN, clock = () => NOW, ...changes }: Changes,
) {
  await fundAccount(open, accountId, credit);
  const clocks = { clock, monotonic: clock };
  const alert = () => undefined;
  const inFlight = createInFlight();
  const limits = await createLimits({
    ...clocks,
    isLive: inFlight.isLive,
    history: createHistory(open.database),
  });
  const health = createHealth({
    ...clocks,
    probe: SILENT_PROBE,
    catalog: () => catalog,
    startTimer,
    alert,
  });
  const funds = createFunds(open.books);
  const dependencies: GenerateDependencies = {
    ...{
      ...clocks,
      random: () => 0,
      limits,
      health,
      startTimer,
      startDeadline: startTimer,
      inFlight,
      alert,
    },
    entrance: new RequestEntrance({ funds, limits, bodyBytes: Infinity, monotonic: clock }),
    ledger: open.ledger,
    tokenizer: createTokenizer(
      (text) => text.length,
      () => 0,
    ),
    funds,
    learned: createLearned(clock),
    reasoning: undefined,
    findPrivateHost: () => Promise.resolve(undefined),
    onInternal: () => undefined,
    heard: () => undefined,
    heartbeatMs: 10_000,
    silentCommitMs: 10_000,
    booking: 'bounded',
    ...changes,
  };
  const call = (
    requestId: string,
    more: Partial<GenerationCall> & Pick<GenerationCall, 'readBody'>,
  ): GenerationCall => ({
    format: chatFormat,
    requestId,
    startedAt: NOW,
    authorize: async () => ({
      keyId: 'key_1',
      accountId,
      plan: 'test',
      planSince: 0,
      standing: 'active',
      emailVerified: true,
    }),
    serviceState: serviceState(catalog),
    tally: { understood: () => undefined, ended: () => undefined },
    signal: new AbortController().signal,
    ...more,
  });
  return { dependencies, call, limits, health, inFlight };
}

/** Reads this body. */
export function reads(value: object): GenerationCall['readBody'] {
  return async () => ({ value, text: JSON.stringify(value) });
}
