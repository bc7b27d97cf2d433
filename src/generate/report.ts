// The operator's line about a request that has ended. Called by the pipeline, once for each request
// that had a grant. It holds counts and names, and nothing of what was said.

import type { Receipt, UsageDoubt } from '../core/generation.ts';
import type { CheckedRequest, GenerateDependencies } from './call.ts';

/** `failure` is the class of what the upstream did, where it failed. */
export function report(
  dependencies: GenerateDependencies,
  checked: CheckedRequest,
  receipt: Receipt,
  failure?: string,
): void {
  const { call, facts, request, model } = checked;
  const { doubt } = receipt.usage;
  if (doubt !== undefined) dependencies.alert(doubtWords(call.requestId, receipt, doubt));
  dependencies.report({
    requestId: call.requestId,
    format: call.format.name,
    accountId: facts.accountId,
    keyId: facts.keyId,
    model: model.slug,
    modelServed: receipt.modelServed,
    stream: request.stream,
    outcome: receipt.outcome,
    inputTokens: receipt.usage.inputTokens,
    outputTokens: receipt.usage.outputTokens,
    tokensDebited: receipt.tokensDebited,
    durationMs: dependencies.clock() - call.startedAt,
    ...(failure === undefined ? {} : { failure }),
    ...(doubt === undefined ? {} : { usageDoubt: doubt }),
  });
}

/** Money may be lost here without end: a server that reports nonsense does so for every request. */
function doubtWords(requestId: string, { modelServed }: Receipt, doubt: UsageDoubt): string {
  const report = `the usage that an upstream of ${modelServed} reported for ${requestId}`;
  return doubt === 'zero'
    ? `${report} is zero although there was something to count; it was charged as zero`
    : `${report} is ${doubt}; our own count was charged instead`;
}
