// Counts a prompt within the account's counting budget. The pipeline reserves by this size, and
// count_tokens returns it without requiring a balance.

import type { Awaitable } from '../async/awaitable.ts';
import { GatewayError } from '../core/error.ts';
import { estimatePrompt } from '../core/estimate.ts';
import { modelImageTokens } from '../core/image-tokens.ts';
import type { Tokens } from '../core/money.ts';
import { NO_TOKENS } from '../core/price.ts';
import { imageSize } from '../wire/image-size.ts';
import { claimLimits } from './hold.ts';
import type { CheckedRequest, GenerateDependencies } from './pipeline-types.ts';
import { restoreThinking } from './thinking.ts';
import type { Tokenizer } from './tokenizer.ts';

/** A request before its prompt is counted. */
export type UncountedRequest = Omit<CheckedRequest, 'price' | 'promptTokens' | 'outputBound'>;

/** Throws if the account has used its counting budget for this minute. */
export function countPrompt(
  { counterFor }: Pick<Tokenizer, 'counterFor'>,
  { facts, request, plan, model }: Omit<UncountedRequest, 'call'>,
): Awaitable<Tokens> {
  return estimatePrompt(request, counterFor(facts.accountId, plan), ({ url }) => {
    return modelImageTokens(model, imageSize(url));
  });
}

/**
 * Restores dropped thinking and counts the prompt. Throws if the account has no balance or has used
 * its counting budget for this minute. Limits that would refuse even the smallest prompt are checked
 * first, and report the remaining limits like other refusals.
 */
export async function sizePrompt(
  dependencies: Pick<GenerateDependencies, 'funds' | 'tokenizer' | 'limits' | 'reasoning'>,
  received: UncountedRequest,
): Promise<{ readonly asked: UncountedRequest; readonly promptTokens: Tokens }> {
  const { funds, tokenizer } = dependencies;
  try {
    // Before the many reads of the database that a conversation may need.
    await funds.require(received.facts.accountId, received.catalog.minimumHold);
    const request = await restoreThinking(dependencies, received);
    const asked = request === received.request ? received : { ...received, request };
    return { asked, promptTokens: await countPrompt(tokenizer, asked) };
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    const claim = await claimLimits(dependencies, {
      ...received,
      promptTokens: NO_TOKENS,
      outputBound: NO_TOKENS,
    });
    const { code, message, retryAfterSeconds } = error;
    // The body was read, so the refusal uses one request of the minute. A failure of ours uses none.
    const limits = await claim.cancel(error.status < 500 ? 'request' : undefined);
    const wait = retryAfterSeconds === undefined ? {} : { retryAfterSeconds };
    throw new GatewayError(code, { message, limits, ...wait });
  }
}
