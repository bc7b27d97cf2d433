// Checks a whole chain of receipts at once.

import { hash } from 'node:crypto';
import { createChainCheck } from '../../src/core/receipt-chain.ts';

export const sha256 = (text: string): string => hash('sha256', text, 'hex');

/** All problems of a complete chain, and its totals. */
export function checkChain(bodies: readonly string[]) {
  const check = createChainCheck(sha256);
  const problems = bodies.flatMap(check.take);
  return { problems, totals: check.totals() };
}
