// The built-in plans, and the rule that the lower limit applies.

export type Limits = {
  readonly requestsPerMinute: number;
  readonly tokensPerMinute: number;
  readonly concurrentRequests: number;
};

export type Plan = Limits & {
  readonly slug: string;
  readonly name: string;
  /** Caps the prompt, independent of the model's window. `K` is 1,000. */
  readonly maxContext: number;
  readonly maxApiKeys: number;
  /** Caps in model tokens per UTC day and month; no cap if absent. */
  readonly dailyTokens?: number;
  readonly monthlyTokens?: number;
  /** Model slugs, or `*` for every model. */
  readonly models: readonly string[];
};

/** Lower limits of one model during a capacity incident; absent members do not apply. */
export type IncidentLimits = Partial<Limits>;

/** The values of the rate-limit headers: the lower of the plan's and the model's limits. */
export type LimitView = {
  readonly limitRequests: number;
  readonly remainingRequests: number;
  readonly limitTokens: number;
  readonly remainingTokens: number;
  readonly resetRequestsSeconds: number;
};

/** An upper bound of the average characters per token: prose has 5, code 3, other scripts fewer. */
const CHARACTERS_PER_TOKEN = 8;

/**
 * Characters of uncached prompt text that an account may have counted per minute. They hold more
 * tokens than the plan allows, so only text that is counted but never served exhausts them.
 */
export function countedCharacters({ tokensPerMinute }: Plan): number {
  return tokensPerMinute * CHARACTERS_PER_TOKEN;
}

/** A lower bound of the average tokens of a tool call with its result. */
const TOKENS_PER_CALL = 40;

/**
 * Tool calls whose kept thinking an account may have looked up per minute for `count_tokens`. They
 * have more tokens than the plan allows, so counting each served turn a few times does not exhaust it.
 */
export function lookedUpCalls({ tokensPerMinute }: Plan): number {
  return Math.ceil(tokensPerMinute / TOKENS_PER_CALL);
}

const MIB = 1_048_576;

/** Above most answers, so that a plan's requests of a minute may all be such repeats. */
const REPLAYED_BYTES_PER_REQUEST = MIB;

/** Two answers of the largest size. */
const REPLAYED_BYTES_MIN = 64 * MIB;

/** Bytes of earlier answers that an account may get again per minute, because repeats are free. */
export function replayedBytes({ requestsPerMinute }: Plan): number {
  return Math.max(REPLAYED_BYTES_MIN, requestsPerMinute * REPLAYED_BYTES_PER_REQUEST);
}

export const DEFAULT_PLAN = 'pay-as-you-go';

export const BUILT_IN_PLANS: readonly Plan[] = [
  {
    slug: 'pay-as-you-go',
    name: 'Pay as you go',
    requestsPerMinute: 60,
    tokensPerMinute: 200_000,
    concurrentRequests: 4,
    maxContext: 128_000,
    maxApiKeys: 5,
    models: ['*'],
  },
  {
    slug: 'starter',
    name: 'Starter',
    requestsPerMinute: 60,
    tokensPerMinute: 300_000,
    concurrentRequests: 4,
    maxContext: 128_000,
    maxApiKeys: 5,
    models: ['*'],
  },
  {
    slug: 'pro',
    name: 'Pro',
    requestsPerMinute: 300,
    tokensPerMinute: 1_000_000,
    concurrentRequests: 10,
    maxContext: 256_000,
    maxApiKeys: 20,
    models: ['*'],
  },
  {
    slug: 'power',
    name: 'Power',
    requestsPerMinute: 1_000,
    tokensPerMinute: 4_000_000,
    concurrentRequests: 30,
    maxContext: 256_000,
    maxApiKeys: 50,
    models: ['*'],
  },
  {
    slug: 'business',
    name: 'Business',
    requestsPerMinute: 3_000,
    tokensPerMinute: 15_000_000,
    concurrentRequests: 100,
    maxContext: 256_000,
    maxApiKeys: 200,
    models: ['*'],
  },
];

export function planIncludes(plan: Plan, modelSlug: string): boolean {
  return plan.models.includes('*') || plan.models.includes(modelSlug);
}

/** The effective limits of a model now. `set` finds the operator's own by its slug. */
export function incidentOn(
  model: { readonly slug: string; readonly incidentLimits?: IncidentLimits | undefined },
  set: (slug: string) => IncidentLimits | undefined,
): IncidentLimits | undefined {
  return lowerIncident(model.incidentLimits, set(model.slug));
}

/** The effective limits of a model: the lower of the catalog's and the operator's own. */
export function lowerIncident(
  own: IncidentLimits | undefined,
  set: IncidentLimits | undefined,
): IncidentLimits | undefined {
  if (own === undefined || set === undefined) return own ?? set;
  const lower: { -readonly [Name in keyof Limits]?: number } = { ...own };
  for (const name of LIMIT_NAMES) {
    const value = set[name];
    if (value !== undefined) lower[name] = Math.min(value, own[name] ?? value);
  }
  return lower;
}

export const LIMIT_NAMES = ['requestsPerMinute', 'tokensPerMinute', 'concurrentRequests'] as const;

/** The lower of plan and model limit, member by member. */
export function effectiveLimits(plan: Limits, incident: IncidentLimits | undefined): Limits {
  if (incident === undefined) return plan;
  return {
    requestsPerMinute: Math.min(plan.requestsPerMinute, incident.requestsPerMinute ?? Infinity),
    tokensPerMinute: Math.min(plan.tokensPerMinute, incident.tokensPerMinute ?? Infinity),
    concurrentRequests: Math.min(plan.concurrentRequests, incident.concurrentRequests ?? Infinity),
  };
}
