// Steps 3 to 5 of a request: body, model, size. Nothing is reserved yet, but a request refused for
// its body or for what it asks counts against the account's requests per minute.

import { yieldToEventLoop } from '../async/yield.ts';
import {
  decideOutputBound,
  requireFeatures,
  requireInPlan,
  requireModel,
  requirePlan,
} from '../core/admit.ts';
import { GatewayError } from '../core/error.ts';
import type { Tokens } from '../core/money.ts';
import type { Plan } from '../core/plan.ts';
import { priceAt } from '../core/price-book.ts';
import type { KeyFacts } from '../identity/authenticate.ts';
import { requireForKey } from '../identity/key-bounds.ts';
import type { ParsedBody } from '../wire/format.ts';
import { hasImageAddress } from '../wire/image-type.ts';
import { requirePublicImages } from './image-addresses.ts';
import type {
  CheckedRequest,
  GenerateDependencies,
  GenerationCall,
  Repeat,
} from './pipeline-types.ts';
import { sizePrompt, type UncountedRequest } from './size.ts';

/** A shorter body takes less than 2 ms in all. */
const LARGE_LENGTH = 131_072;

export async function check(
  dependencies: GenerateDependencies,
  call: GenerationCall,
  facts: KeyFacts,
): Promise<CheckedRequest | Repeat> {
  const { keyed } = call;
  const plan = requirePlan(call.serviceState.catalog, facts.plan);
  keyed?.enter(facts, plan);
  const entry = dependencies.entrance.begin(facts.accountId, plan);
  try {
    // Reading and parsing 2 MB costs more than the rest of a refusal, so limits are checked first.
    await entry.look(call.serviceState.catalog.minimumHold, keyed && (() => keyed.isNew(facts)));
    const body = await call.readBody(entry);
    if (dependencies.inFlight.aborted()) throw new GatewayError('provider_unavailable');
    await entry.enter();
    const repeat = await keyed?.find(facts, plan, body);
    if (repeat !== undefined) {
      await entry.leaveCounted();
      return repeat;
    }
    if (isLarge(body)) await yieldToEventLoop();
    const received = understand(call, facts, plan, body);
    if (isLarge(body)) await yieldToEventLoop();
    const { turns } = received.request;
    if (hasImageAddress(turns)) {
      await requirePublicImages(dependencies.findPrivateHost, turns, body.value);
    }
    const { asked, promptTokens } = await sizePrompt(dependencies, received);
    const checked = withPrice(asked, promptTokens);
    entry.leave();
    return checked;
  } catch (error) {
    await entry.refuse(error);
    throw error;
  }
}

/** Each step on a large body takes the event loop for some ms, so others get a turn between them. */
function isLarge(body: ParsedBody): boolean {
  return (body.length ?? body.text.length) >= LARGE_LENGTH;
}

/** Parses the body and resolves the model. Throws the refusal of either. */
function understand(
  call: GenerationCall,
  facts: KeyFacts,
  plan: Plan,
  body: ParsedBody,
): UncountedRequest {
  const request = call.format.parse(body);
  const { catalog } = call.serviceState;
  const model = requireModel(catalog, request.model);
  call.tally.understood(model.slug, request.stream);
  requireInPlan(plan, model);
  requireForKey(facts.bounds, model.slug);
  requireFeatures(model, request, call.format.name);
  return { call, facts, request, catalog, plan, model };
}

/** Throws if the prompt is too long. */
function withPrice(
  { call, facts, request, catalog, plan, model }: UncountedRequest,
  promptTokens: Tokens,
): CheckedRequest {
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
