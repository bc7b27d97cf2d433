// Decides which requests are admitted. Each stage is a list of checks over facts gathered earlier,
// and the first check that refuses decides. The concatenated lists are the public precedence of the
// error codes.

import { hasImages } from './conversation.ts';
import { type ErrorCode, GatewayError, invalidRequest } from './error.ts';
import type { GenerationRequest, OutputLimit } from './generation.ts';
import type { Catalog, Model } from './model.ts';
import { type Tokens, tokenCount } from './money.ts';
import { type Plan, planIncludes } from './plan.ts';

export type Standing = 'active' | 'suspended' | 'pending_deletion';

type Check<Facts> = { readonly code: ErrorCode; readonly refuses: (facts: Facts) => boolean };

export type StandingFacts = {
  readonly emailVerified: boolean;
  readonly standing: Standing;
  readonly accountBlocked: boolean;
  readonly keyBlocked: boolean;
  readonly keyPaused: boolean;
  readonly addressBlocked: boolean;
  /** The key has a list of networks, and the address is in none of them. */
  readonly addressExcluded: boolean;
  readonly maintenance: boolean;
};

const STANDING_CHECKS: readonly Check<StandingFacts>[] = [
  { code: 'email_not_verified', refuses: (facts) => !facts.emailVerified },
  { code: 'account_inactive', refuses: (facts) => facts.standing !== 'active' },
  { code: 'account_blocked', refuses: (facts) => facts.accountBlocked },
  { code: 'api_key_blocked', refuses: (facts) => facts.keyBlocked },
  { code: 'key_paused', refuses: (facts) => facts.keyPaused },
  { code: 'ip_blocked', refuses: (facts) => facts.addressBlocked },
  { code: 'address_not_allowed', refuses: (facts) => facts.addressExcluded },
  { code: 'maintenance_mode', refuses: (facts) => facts.maintenance },
];

/** The first standing check that refuses, if any. */
export function refusedByStanding(facts: StandingFacts): ErrorCode | undefined {
  for (const check of STANDING_CHECKS) if (check.refuses(facts)) return check.code;
  return undefined;
}

/**
 * The remainder of each limit. If both a plan and a model limit apply, the lower remainder counts.
 */
export type LimitFacts = {
  readonly freeSlots: number;
  readonly freeRequests: number;
  readonly freeTokens: number;
  /** The unused part of the daily and monthly caps. Reservations count as unused here. */
  readonly restOfDay: number;
  readonly restOfMonth: number;
  /** The smallest amount that lets an answer start: the prompt and one token. */
  readonly least: number;
  /** The part of both caps that is neither used nor reserved by requests in flight. */
  readonly freeCapTokens: number;
  /** What this request takes from the token window and from the daily and monthly caps. */
  readonly tokens: number;
};

export type LimitCode = Extract<
  ErrorCode,
  | 'concurrency_limit_exceeded'
  | 'rate_limit_exceeded'
  | 'tokens_per_minute_exceeded'
  | 'daily_limit_exceeded'
  | 'monthly_limit_exceeded'
>;

/** An estimate, because it is unknown when the next slot becomes free. */
export const CONCURRENCY_RETRY_SECONDS = 2;

/** `reserved`: requests in flight hold the rest of a cap and return what they do not use. */
export type LimitRefusal = { readonly code: LimitCode; readonly reserved?: true };

const LIMIT_CHECKS: readonly (Check<LimitFacts> & LimitRefusal)[] = [
  { code: 'concurrency_limit_exceeded', refuses: (facts) => facts.freeSlots < 1 },
  { code: 'rate_limit_exceeded', refuses: (facts) => facts.freeRequests < 1 },
  { code: 'tokens_per_minute_exceeded', refuses: (facts) => facts.freeTokens < facts.tokens },
  { code: 'daily_limit_exceeded', refuses: (facts) => facts.restOfDay < facts.least },
  { code: 'monthly_limit_exceeded', refuses: (facts) => facts.restOfMonth < facts.least },
  {
    code: 'concurrency_limit_exceeded',
    reserved: true,
    refuses: (facts) => facts.freeCapTokens < facts.tokens,
  },
];

/** The limit that refuses, if any. Checks all limits together and consumes nothing. */
export function refusedByLimits(facts: LimitFacts): LimitRefusal | undefined {
  for (const check of LIMIT_CHECKS) if (check.refuses(facts)) return check;
  return undefined;
}

const EARLY_CHECKS: readonly LimitCode[] = ['rate_limit_exceeded', 'concurrency_limit_exceeded'];

/** A balance below what any request reserves is refused earlier than one below the request's own. */
export type RankedRefusal = ErrorCode | 'minimum_balance';

/** The code that a caller gets. */
export function codeOf(refusal: RankedRefusal): ErrorCode {
  return refusal === 'minimum_balance' ? 'insufficient_balance' : refusal;
}

/** The precedence when several refusals apply. A test pins it in each format. */
export const REFUSAL_ORDER: readonly RankedRefusal[] = [
  'missing_api_key',
  'invalid_api_key',
  ...STANDING_CHECKS.map((check) => check.code),
  // Checked before the body is read, so that refusals cost no more than the plan's requests.
  ...EARLY_CHECKS,
  'minimum_balance',
  'payload_too_large',
  'invalid_request',
  'model_not_found',
  'model_not_in_plan',
  'model_not_allowed_for_key',
  'context_length_exceeded',
  ...LIMIT_CHECKS.map(({ code }) => code).filter((code) => !EARLY_CHECKS.includes(code)),
  'insufficient_balance',
  'key_budget_exhausted',
];

/** Each wire format has its own text for a context refusal, because clients parse it. */
export type ClientFormatName = 'chat' | 'messages' | 'responses';

const PROMPT_FIELDS = { chat: 'messages', messages: 'messages', responses: 'input' } as const;
const JSON_FIELDS = {
  chat: 'response_format',
  messages: 'output_config.format',
  responses: 'text.format',
} as const;

/**
 * The output bound of a request, or its refusal by size. With a limit of the caller, the sum of
 * prompt and limit must fit. Without one, only the prompt must fit, and the bound shrinks to the
 * rest.
 */
export function decideOutputBound(
  model: Model,
  plan: Plan,
  promptTokens: Tokens,
  limit: OutputLimit | undefined,
  format: ClientFormatName,
): Tokens {
  const context = Math.min(model.contextWindow, plan.maxContext);
  if (promptTokens >= context) throw promptTooLong(promptTokens, context, format);
  if (limit === undefined) return tokenCount(Math.min(model.maxOutput, context - promptTokens));
  if (promptTokens + limit.tokens > context) {
    throw outputTooLong(promptTokens, limit, context, format);
  }
  return tokenCount(Math.min(limit.tokens, model.maxOutput));
}

/** Resolves a slug or an alias. */
export function requireModel(catalog: Catalog, slugOrAlias: string): Model {
  const model = catalog.resolve(slugOrAlias);
  if (model === undefined) throw new GatewayError('model_not_found', { param: 'model' });
  return model;
}

/**
 * An account's plan. If an operator removed it from the catalog while accounts were on it, the
 * error is the server's and not the caller's, and clients may retry.
 */
export function requirePlan(catalog: Catalog, slug: string): Plan {
  const plan = catalog.plans.get(slug);
  if (plan !== undefined) return plan;
  throw new GatewayError('provider_unavailable', {
    message:
      'The plan of this account is not set up at the moment. Nothing was charged. Retry later, or ask the operator to change the plan.',
  });
}

/** Refuses a model that the plan does not include. */
export function requireInPlan(plan: Plan, model: Model): void {
  if (!planIncludes(plan, model.slug)) throw new GatewayError('model_not_in_plan');
}

/**
 * Rejects tools, images and a JSON format at a model that lacks them by the catalog's word, before
 * an upstream is asked, so that `/v1/models` and the answers agree.
 */
export function requireFeatures(
  { features, statesFeatures }: Pick<Model, 'features' | 'statesFeatures'>,
  { turns, tools, json }: Pick<GenerationRequest, 'turns' | 'tools' | 'json'>,
  format: ClientFormatName,
): void {
  if (statesFeatures !== true) return;
  if (tools.length > 0 && !features.has('tools')) {
    throw invalidRequest('tools', 'is not supported by this model; choose one with tools');
  }
  if (json && !features.has('json')) {
    throw invalidRequest(
      JSON_FIELDS[format],
      'is not supported by this model; leave it out, or choose one with json_mode',
    );
  }
  if (!features.has('vision') && hasImages(turns)) {
    throw invalidRequest(
      PROMPT_FIELDS[format],
      'contains an image, and this model accepts text only; choose one with vision',
    );
  }
}

function promptTooLong(prompt: number, context: number, format: ClientFormatName): GatewayError {
  const message =
    format === 'messages'
      ? `prompt is too long: ${prompt} tokens > ${context} maximum`
      : `This model's maximum context length is ${context} tokens for this account, and the prompt is too long for it: the messages take ${prompt} tokens. Shorten the messages.`;
  return new GatewayError('context_length_exceeded', { message, param: PROMPT_FIELDS[format] });
}

function outputTooLong(
  prompt: number,
  { tokens: output, field }: OutputLimit,
  context: number,
  format: ClientFormatName,
): GatewayError {
  const message =
    format === 'messages'
      ? `input length and \`max_tokens\` exceed context limit: ${prompt} + ${output} > ${context}, decrease input length or \`max_tokens\` and try again`
      : `This model's maximum context length is ${context} tokens for this account, but the request asks for ${prompt + output} tokens (${prompt} in the messages, ${output} in ${field}). Shorten the messages, or lower ${field}.`;
  return new GatewayError('context_length_exceeded', { message, param: field });
}
