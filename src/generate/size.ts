// The size of a prompt, as far as its account may have it counted. The pipeline reserves by it, and
// count_tokens, which needs no balance, answers with it.

import type { Awaitable } from '../async/awaitable.ts';
import { GatewayError } from '../core/error.ts';
import { estimatePrompt } from '../core/estimate.ts';
import { modelImageTokens } from '../core/image-tokens.ts';
import type { Tokens } from '../core/money.ts';
import { NO_TOKENS } from '../core/price.ts';
import { imageSize } from '../wire/image-size.ts';
import { claimLimits } from './hold.ts';
import type { CheckedRequest, GenerateDependencies } from './pipeline-types.ts';
import type { Tokenizer } from './tokenizer.ts';

/** What is known of a request before its prompt is counted. */
export type UncountedRequest = Omit<CheckedRequest, 'price' | 'promptTokens' | 'outputBound'>;

/** Throws where the account has had too much text counted in this minute. */
export function countPrompt(
  { counterFor }: Pick<Tokenizer, 'counterFor'>,
  { facts, request, catalog, plan, model }: Omit<UncountedRequest, 'call'>,
): Awaitable<Tokens> {
  return estimatePrompt(request, counterFor(facts.accountId, plan), ({ url }) => {
    return modelImageTokens(model, catalog, imageSize(url));
  });
}

/**
 * Throws where the account has no balance, or has had too much text counted in this minute. Limits
 * that would refuse the smallest prompt come first, and tell what is left, as for other refusals.
 */
export async function sizePrompt(
  dependencies: Pick<GenerateDependencies, 'funds' | 'tokenizer' | 'limits'>,
  asked: UncountedRequest,
): Promise<Tokens> {
  const { funds, tokenizer } = dependencies;
  try {
    await funds.require(asked.facts.accountId, asked.catalog.minimumHold);
    return await countPrompt(tokenizer, asked);
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    const claim = await claimLimits(dependencies, {
      ...asked,
      promptTokens: NO_TOKENS,
      outputBound: NO_TOKENS,
    });
    const { code, message, retryAfterSeconds } = error;
    // Its body was read, so it uses up one of the minute.
    const limits = await claim.cancel('request');
    const wait = retryAfterSeconds === undefined ? {} : { retryAfterSeconds };
    throw new GatewayError(code, { message, limits, ...wait });
  }
}
