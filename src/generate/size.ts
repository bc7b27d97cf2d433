// The size of a prompt, as far as its account may have it counted. Called by the pipeline alone:
// count_tokens needs no balance.

import { GatewayError } from '../core/error.ts';
import { estimatePrompt } from '../core/estimate.ts';
import type { CheckedRequest, GenerateDependencies } from './call.ts';
import { claimLimits } from './grant.ts';

/** What is known of a request before its prompt is counted. */
type Asked = Omit<CheckedRequest, 'price' | 'promptTokens' | 'outputBound'>;

/**
 * Throws where the account has no balance, or has had too much text counted in this minute. Limits
 * that would refuse the smallest prompt come first, and tell what is left, as for other refusals.
 */
export async function sizePrompt(
  dependencies: Pick<GenerateDependencies, 'funds' | 'tokenizer' | 'limits'>,
  asked: Asked,
): Promise<number> {
  const { funds, tokenizer } = dependencies;
  const { request, catalog, plan } = asked;
  const { accountId } = asked.facts;
  try {
    await funds.require(accountId, catalog.minimumHold);
    return await estimatePrompt(request, tokenizer.counterFor(accountId, plan));
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    const claim = await claimLimits(dependencies, { ...asked, promptTokens: 0, outputBound: 0 });
    const { code, message, retryAfterSeconds } = error;
    // A request without a balance uses up one of the minute.
    const limits = await claim.cancel(code === 'insufficient_balance' ? 'request' : undefined);
    const wait = retryAfterSeconds === undefined ? {} : { retryAfterSeconds };
    throw new GatewayError(code, { message, limits, ...wait });
  }
}
