// The release of a hold: the end of a request without a charge.

import type { Outcome, Usage } from '../core/generation.ts';
import { NO_USAGE } from '../core/usage.ts';
import type { ReleaseCommand } from '../ledger/contract.ts';
import type { AttemptEntry } from './attempt-log.ts';
import type { CheckedRequest, GenerateDependencies } from './pipeline-types.ts';

export const UNUSED: Usage = { ...NO_USAGE, basis: 'reported' };

/**
 * Releases a hold that the ledger may have written without confirming it. Other failures have
 * written nothing, and a release for each would fill the ledger while its disk fails.
 */
export function releaseUnconfirmed(
  { clock, ledger }: Pick<GenerateDependencies, 'clock' | 'ledger'>,
  checked: CheckedRequest,
): void {
  ledger
    .release({ ...releaseOf(checked, [], 'gateway_failed', clock()), isUnconfirmed: true })
    // Either no hold was taken, or the ledger keeps the release and retries it. No caller waits for
    // it.
    .catch(() => {});
}

export function releaseOf(
  { call, catalog }: CheckedRequest,
  attempts: readonly AttemptEntry[],
  outcome: Outcome,
  nowMs: number,
): ReleaseCommand {
  return {
    requestId: call.requestId,
    outcome,
    usage: UNUSED,
    attempts: JSON.stringify(attempts),
    usdPerMillion: catalog.usdPerMillion,
    nowMs,
  };
}
