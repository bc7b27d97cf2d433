// What the upstreams ask the operator for a request, read from the attempts of its usage record.
// Called by the roll-up for every record, so it reads nothing else of them.

import { add, MICRO_DECIMALS, type Micro, micro, parseDecimal, ZERO } from '../../core/money.ts';

/** `isComplete` is false where an attempt used something and its cost is not known. */
type UpstreamCost = { readonly total: Micro; readonly isComplete: boolean };

/** `text` is a JSON array of attempts; a member may lack. */
export function upstreamCost(text: string): UpstreamCost {
  let total = ZERO;
  let isComplete = true;
  const attempts: unknown = JSON.parse(text);
  for (const attempt of Array.isArray(attempts) ? attempts : []) {
    if (typeof attempt !== 'object' || attempt === null) continue;
    const { cost, usage } = attempt as { readonly cost?: unknown; readonly usage?: unknown };
    const known = typeof cost === 'string' ? parseDecimal(cost, MICRO_DECIMALS) : undefined;
    if (known !== undefined) total = add(total, micro(known));
    else if (typeof usage === 'object' && usage !== null) isComplete = false;
  }
  return { total, isComplete };
}
