// POST /v1/messages/count_tokens: returns the estimate that a reservation would use, free of
// charge. It has its own request limit and never uses the token budget.

import { requireInPlan, requireModel, requirePlan } from '../core/admit.ts';
import type { GenerationRequest } from '../core/generation.ts';
import { requireForKey } from '../identity/key-bounds.ts';
import type { ParsedBody } from '../wire/format.ts';
import { requireBudget } from './minute-budget.ts';
import type { GenerateDependencies, GenerationCall } from './pipeline-types.ts';
import { countPrompt } from './size.ts';
import { restoreThinking } from './thinking.ts';

type CountCall = Pick<GenerationCall, 'serviceState' | 'authorize' | 'readBody' | 'tally'>;

export async function countTokens(
  dependencies: Pick<GenerateDependencies, 'limits' | 'reasoning' | 'tokenizer' | 'entrance'>,
  call: CountCall,
  parse: (body: ParsedBody) => GenerationRequest,
): Promise<number> {
  const facts = await call.authorize();
  const { catalog } = call.serviceState;
  const plan = requirePlan(catalog, facts.plan);
  // Checked before the body is read, because reading costs more than counting a short text.
  requireBudget(await dependencies.limits.claimCount(facts.accountId, plan));
  const entry = dependencies.entrance.begin(facts.accountId, plan);
  try {
    await entry.lookForCount();
    const body = await call.readBody(entry);
    entry.arrived();
    const request = parse(body);
    const model = requireModel(catalog, request.model);
    call.tally.understood(model.slug, false);
    requireInPlan(plan, model);
    requireForKey(facts.bounds, model.slug);
    const query = { facts, request, catalog, model };
    const restored = await restoreThinking(dependencies, query, (lookups) =>
      dependencies.entrance.claimLookups(facts.accountId, plan, lookups),
    );
    const counted = { facts, request: restored, catalog, plan, model };
    return await countPrompt(dependencies.tokenizer, counted);
  } finally {
    entry.leave();
  }
}
