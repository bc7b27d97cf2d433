// Steps 3 to 5 of a request: body, model, size. Nothing is taken yet, but a request that is
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
  facts: KeyFacts,
): Promise<CheckedRequest> {
  const { entrance, inFlight } = dependencies;
  const plan = requirePlan(call.operator.catalog, facts.plan);
  const { accountId } = facts;
  // Reading and parsing 2 MB costs more than all that a refusal costs otherwise.
  await entrance.look(accountId, plan);
  const body = await call.readBody();
  if (inFlight.aborted()) throw new GatewayError('provider_unavailable');
  await entrance.enter(accountId, plan);
  try {
    const checked = await understand(dependencies, call, facts, plan, body);
    entrance.leave(accountId, plan);
    return checked;
  } catch (error) {
    await entrance.leave(accountId, plan, error);
    throw error;
  }
}

async function understand(
  dependencies: GenerateDependencies,
  call: GenerationCall,
  facts: KeyFacts,
  plan: Plan,
  body: ParsedBody,
): Promise<CheckedRequest> {
  const parsed = call.format.parse(body);
  const { catalog } = call.operator;
  const model = requireModel(catalog, parsed.model);
  call.tally.understood({ model: model.slug, stream: parsed.stream });
  requireInPlan(plan, model);
  const received = { call, facts, request: parsed, catalog, plan, model };
  const request = await restoreThinking(dependencies, received);
  const asked = request === parsed ? received : { ...received, request };
  const promptTokens = await sizePrompt(dependencies, asked);
  const { maxOutputTokens } = request;
  const { name } = call.format;
  return {
    call,
    facts,
    request,
    catalog,
    plan,
    model,
    price: priceAt(model.prices, call.startedAt),
    promptTokens,
    outputBound: decideOutputBound(model, plan, promptTokens, maxOutputTokens, name),
  };
}
