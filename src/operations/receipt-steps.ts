// The check of an account's chain of receipts, a step at a time, so that a chain of a million keeps
// nobody waiting: each step begins with the receipt that the one before ended with. Called by the
// customer's pages.

import { formatTokens, type Micro } from '../core/money.ts';
import { type ChainProblem, type ChainTotals, createChainCheck } from '../core/receipt-chain.ts';
import { type ChainState, chainState } from '../ledger/booked-receipts.ts';
import { receiptPages } from '../ledger/receipt-slices.ts';
import type { Database } from '../store/contract.ts';
import { sha256 } from './receipt-file.ts';

type ReceiptStep = {
  /** The receipts that were checked; both 0 where there are none. */
  readonly first: number;
  readonly last: number;
  /** The last receipt there was. */
  readonly end: number;
  readonly problems: readonly ChainProblem[];
  readonly balance: Micro;
  /** The hash of the last receipt checked, to be compared with an export. */
  readonly head: string;
};

const STEP = 250;

/** Checks the receipts that follow `after`; 0 begins the chain. */
export async function checkReceipts(
  database: Database,
  accountId: string,
  after: number,
): Promise<ReceiptStep> {
  return database.snapshot(async (db) => {
    const state = await chainState(db, accountId);
    const end = state?.sequence ?? 0;
    const last = Math.min(end, after + STEP);
    const check = createChainCheck(sha256);
    const problems: ChainProblem[] = [];
    // The one before was checked already: it is here for what follows it.
    let isFirst = after > 0;
    const slice = { first: Math.max(1, after), last };
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

/** The last receipt has none behind it that names its hash: the balance does. */
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
