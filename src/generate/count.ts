// POST /v1/messages/count_tokens: the estimate that a reservation would use, for free. It has a
// request window of its own and never touches the token budget (design section 6).

import { requireInPlan, requireModel, requirePlan } from '../core/admit.ts';
import { GatewayError } from '../core/error.ts';
import { estimatePrompt } from '../core/estimate.ts';
import type { GenerationRequest } from '../core/generation.ts';
import type { Catalog } from '../core/model.ts';
import type { KeyFacts } from '../identity/authenticate.ts';
import type { AccountLimits } from '../limits/limits.ts';
import type { ReasoningStore } from '../reasoning/reasoning.ts';
import type { ParsedBody } from '../wire/format.ts';
import { restoreThinking } from './thinking.ts';
import type { Tokenizer } from './tokenizer.ts';

export type CountDependencies = {
  readonly catalog: () => Catalog;
  readonly limits: AccountLimits;
  readonly reasoning: ReasoningStore | undefined;
  readonly tokenizer: Tokenizer;
};

export async function countTokens(
  dependencies: CountDependencies,
  call: {
    readonly authorize: () => KeyFacts;
    readonly readBody: () => Promise<ParsedBody>;
    readonly parse: (body: ParsedBody) => GenerationRequest;
  },
): Promise<number> {
  const facts = call.authorize();
  const request = call.parse(await call.readBody());
  const catalog = dependencies.catalog();
  const plan = requirePlan(catalog, facts.plan);
  const model = requireModel(catalog, request.model);
  requireInPlan(plan, model);
  const retryAfterSeconds = dependencies.limits.claimCount(facts.accountId, plan);
  if (retryAfterSeconds !== undefined) {
    throw new GatewayError('rate_limit_exceeded', { retryAfterSeconds });
  }
  const restored = restoreThinking(dependencies, { facts, request, catalog, model });
  return estimatePrompt(restored, dependencies.tokenizer.countText);
}
