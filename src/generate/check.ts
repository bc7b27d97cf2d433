// Steps 2 to 5 of a request: identity, body, model, size. Nothing is taken yet, but a request that is
// refused after its body was read uses up one of the account's minute.

import { decideOutputBound, requireInPlan, requireModel, requirePlan } from '../core/admit.ts';
import { GatewayError } from '../core/error.ts';
import type { Plan } from '../core/plan.ts';
import { priceAt } from '../core/price-book.ts';
import type { KeyFacts } from '../identity/authenticate.ts';
import type { ParsedBody } from '../wire/format.ts';
import type { CheckedRequest, GenerateDependencies, GenerationCall } from './pipeline-types.ts';
import { sizePrompt } from './size.ts';
import { restoreThinking } from './thinking.ts';

export async function check(
  dependencies: GenerateDependencies,
  call: GenerationCall,
): Promise<CheckedRequest> {
  const facts = await call.authorize();
  const plan = requirePlan(call.operator.catalog, facts.plan);
  // Reading and parsing 2 MB costs more than all that a refusal costs otherwise.
  await dependencies.entrance.look(facts.accountId, plan);
  const body = await call.readBody();
  if (dependencies.inFlight.aborted()) throw new GatewayError('provider_unavailable');
  const inside = await dependencies.entrance.enter(facts.accountId, plan);
  let refusal: unknown;
  try {
    return await understand(dependencies, { call, facts, plan }, body);
  } catch (error) {
    refusal = error;
    throw error;
  } finally {
    await inside.leave(refusal);
  }
}

async function understand(
  dependencies: GenerateDependencies,
  { call, facts, plan }: { call: GenerationCall; facts: KeyFacts; plan: Plan },
  body: ParsedBody,
): Promise<CheckedRequest> {
  const parsed = call.format.parse(body);
  const { catalog } = call.operator;
  const model = requireModel(catalog, parsed.model);
  call.tally.understood({ model: model.slug, stream: parsed.stream });
  requireInPlan(plan, model);
  const request = await restoreThinking(dependencies, { facts, request: parsed, catalog, model });
  const asked = { call, facts, request, catalog, plan, model };
  const promptTokens = await sizePrompt(dependencies, asked);
  const price = priceAt(model.prices, call.startedAt);
  const { maxOutputTokens } = request;
  const { name } = call.format;
  const outputBound = decideOutputBound(model, plan, promptTokens, maxOutputTokens, name);
  return { ...asked, price, promptTokens, outputBound };
}

/** Whether the client gets to see the thinking of its answer. */
export function showsReasoning({ request, model }: CheckedRequest): boolean {
  return request.reasoning !== 'off' && model.features.has('reasoning');
}
