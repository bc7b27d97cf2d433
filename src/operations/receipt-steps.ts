// Verifies an account's chain of receipts in steps, so that a chain of a million blocks no other
// request: each step begins with the last receipt of the previous one. Called by the customer's
// pages.

import { formatTokens, type Micro } from '../core/money.ts';
import { type ChainProblem, type ChainTotals, createChainCheck } from '../core/receipt-chain.ts';
import { booksStart } from '../ledger/archive/anchors.ts';
import { type ChainState, chainState } from '../ledger/booked-receipts.ts';
import { receiptPages } from '../ledger/receipt-slices.ts';
import type { Database } from '../store/contract.ts';
import { sha256 } from './receipt-file.ts';

type ReceiptStep = {
  /** The verified receipts; both 0 where there are none. */
  readonly first: number;
  readonly last: number;
  /** The last receipt of the account. */
  readonly end: number;
  readonly problems: readonly ChainProblem[];
  readonly balance: Micro;
  /** The hash of the last verified receipt, for comparison with an export. */
  readonly head: string;
};

const STEP = 250;

/**
 * Verifies the receipts after `asked`; 0 is the beginning of the chain. Where months are archived,
 * it is verified from the anchor on, which has the hash and the balance of the receipt before.
 */
export async function checkReceipts(
  database: Database,
  accountId: string,
  asked: number,
): Promise<ReceiptStep> {
  return database.snapshot(async (db) => {
    const state = await chainState(db, accountId);
    const archived = await booksStart(db, accountId);
    const after = Math.max(asked, archived?.sequence ?? 0);
    const end = state?.sequence ?? 0;
    const last = Math.min(end, after + STEP);
    const start =
      archived === undefined || archived.sequence < after
        ? undefined
        : { ...archived, accountId, head: archived.head.toHex() };
    const check = createChainCheck(sha256, start);
    const problems: ChainProblem[] = [];
    // The previous receipt was verified before; it only provides the hash for the next one.
    let isFirst = after > 0 && start === undefined;
    const slice = { first: Math.max(1, start === undefined ? after : after + 1), last };
    for await (const bodies of last > after ? receiptPages(db, accountId, slice) : []) {
      for (const body of bodies) {
        const found = check.take(body);
        if (!isFirst) problems.push(...found);
        isFirst = false;
      }
    }
    const { head, closingBalance } = check.totals();
    if (state !== undefined && last === end && end > after) {
      problems.push(...endProblems(check.totals(), state));
    }
    const first = Math.min(after + 1, last);
    return { first, last, end, problems, balance: closingBalance, head };
  });
}

/** The hash of the last receipt is in the balance, as there is no later receipt. */
function* endProblems(
  { closingBalance, head }: ChainTotals,
  state: ChainState,
): Generator<ChainProblem> {
  const { sequence, posted } = state;
  if (head !== state.head) {
    const detail = 'Its hash is not the one that the balance names.';
    yield { kind: 'changed', sequence, detail };
  }
  if (closingBalance !== posted) {
    const detail = `The last receipt leaves ${formatTokens(closingBalance)}, and the account has ${formatTokens(posted)}.`;
    yield { kind: 'balance', sequence, detail };
  }
}
