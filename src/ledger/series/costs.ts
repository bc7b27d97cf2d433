// Computes what the upstreams charge the operator for a request, from its attempts.

import {
  add,
  MICRO_DECIMALS,
  type Micro,
  micro,
  parseDecimal,
  subtract,
  ZERO,
} from '../../core/money.ts';
import type { BookedAttempt } from './attempts.ts';

/** The margin is `debited` less the cost, where every cost is known. */
export function costFigures(debited: Micro, attempts: readonly BookedAttempt[]) {
  let total = ZERO;
  /** False where an attempt used tokens at an unknown cost. */
  let isComplete = true;
  for (const { cost, usage } of attempts) {
    const known = typeof cost === 'string' ? parseDecimal(cost, MICRO_DECIMALS) : undefined;
    if (known !== undefined) total = add(total, micro(known));
    else if (typeof usage === 'object' && usage !== null) isComplete = false;
  }
  return {
    upstreamCost: total,
    margin: isComplete ? subtract(debited, total) : ZERO,
    uncosted: isComplete ? 0 : 1,
  };
}
