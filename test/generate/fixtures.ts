// Attempts made of plain lists, for tests of the code that drives them. No network, no upstream.

import type { UpstreamFailure } from '../../src/core/failure.ts';
import type { GenerationEvent } from '../../src/core/generation.ts';
import type { Catalog } from '../../src/core/model.ts';
import { micro, usdRate } from '../../src/core/money.ts';
import type { Candidate, FallbackKind } from '../../src/core/route.ts';
import { DEFAULT_SERVICE } from '../../src/core/service.ts';
import type { Attempt, Batch } from '../../src/upstream/attempt.ts';
import { DEMO_PLACEMENT, demoUpstream, TIMEOUTS } from '../support/model.ts';
import { alwaysAt, flatPrice } from '../support/price.ts';

export const HELLO: GenerationEvent = { kind: 'text-delta', text: 'Hello' };
export const FINISH: GenerationEvent = { kind: 'finish', reason: 'stop' };
export const CUT: UpstreamFailure = { class: 'cut', detail: 'the connection was cut' };

export type ListedAttempt = Attempt & { readonly aborts: () => number };

export function candidate(slug: string, fallback: FallbackKind = 'none'): Candidate {
  return {
    model: {
      slug,
      aliases: [],
      displayName: slug,
      description: '',
      created: 0,
      contextWindow: 1_000,
      maxOutput: 100,
      features: new Set(),
      prices: alwaysAt(flatPrice(slug, 1n)),
      servedBy: [{ upstream: slug, model: slug, weight: 1, ...DEMO_PLACEMENT, timeouts: TIMEOUTS }],
      fallbacks: [],
    },
    upstream: demoUpstream(slug),
    profile: DEMO_PLACEMENT.profile,
    upstreamModel: slug,
    maxOutputTokens: 100,
    timeouts: TIMEOUTS,
    price: flatPrice(slug, 1n),
    fallback,
  };
}

/** Gives its batches one by one; after the last it is silent until it is aborted. */
export function listedAttempt(of: Candidate, batches: readonly Batch[]): ListedAttempt {
  const left = [...batches];
  let aborts = 0;
  let stop: ((batch: Batch) => void) | undefined;
  return {
    candidate: of,
    credential: '1',
    startedAt: 0,
    times: () => ({}),
    next() {
      const batch = left.shift();
      if (batch !== undefined) return Promise.resolve(batch);
      return new Promise((resolve) => {
        stop = resolve;
      });
    },
    abort() {
      aborts += 1;
      stop?.({ events: [], end: CUT });
    },
    aborts: () => aborts,
  };
}

/** A catalog of these candidates alone, each served where it says. */
export function catalogOf(all: readonly Candidate[]): Catalog {
  return {
    serviceName: 'test',
    service: DEFAULT_SERVICE,
    usdPerMillion: usdRate(1n),
    minimumHold: micro(1n),
    models: all.map(({ model, upstream }) => ({
      ...model,
      servedBy: model.servedBy.map((placement) => ({ ...placement, upstream: upstream.id })),
    })),
    plans: new Map(),
    upstreams: new Map(all.map(({ upstream }) => [upstream.id, upstream])),
    resolve: () => undefined,
  };
}
