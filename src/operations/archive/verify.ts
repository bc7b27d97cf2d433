// Verifies the two files of an archived month without the database: the receipts form a chain, the
// audit finds nothing wrong in the rows, and both end with the same receipt.

import { formatTokens } from '../../core/money.ts';
import type { ChainTotals } from '../../core/receipt-chain.ts';
import { type ArchivedMonth, booksStart } from '../../ledger/archive/anchors.ts';
import { chainDifferences } from '../../ledger/audit/accounts.ts';
import { ReceiptReader } from '../../ledger/booked-receipts.ts';
import { hashText } from '../../ledger/receipts.ts';
import { openBooks } from '../../store/archive/books.ts';
import type { Queries } from '../../store/contract.ts';
import { StoreError } from '../../store/error.ts';
import { balances } from '../../store/money-tables.ts';
import { checkFile } from '../receipt-file.ts';
import type { MonthFiles } from './files.ts';

export type VerifiedMonth = {
  /** Of the receipts. */
  readonly totals: ChainTotals;
  /** In words for operators; empty for a sound archive. */
  readonly problems: readonly string[];
};

const PROBLEMS_MAX = 20;

/** Rejects where a file cannot be read. `rest` is awaited after each page of rows. */
export async function verifyMonth(
  { receipts, books }: MonthFiles,
  rest: () => Promise<void> = async () => undefined,
): Promise<VerifiedMonth> {
  const { problems: wrong, totals } = await checkFile(receipts);
  const problems = wrong.map(({ sequence, detail }) => `receipt ${sequence}: ${detail}`);
  for await (const problem of rowProblems(books, totals, rest)) {
    problems.push(problem);
    if (problems.length > PROBLEMS_MAX) break;
  }
  return { totals, problems: problems.slice(0, PROBLEMS_MAX) };
}

/** `stated` are the totals of the file of receipts. */
async function* rowProblems(
  path: string,
  stated: ChainTotals,
  rest: () => Promise<void>,
): AsyncGenerator<string> {
  const { db, close } = openBooks(path);
  try {
    const { accountId, sequence: to } = await endOf(db);
    const start = await booksStart(db, accountId);
    const after = start?.sequence ?? 0;
    const chain = start && { ...start, accountId, head: hashText(start.head) };
    const receipts = new ReceiptReader(db);
    const found = chainDifferences(receipts, accountId, { after, to }, chain, { rest });
    let next = await found.next();
    for (; !next.done; next = await found.next()) {
      yield `${next.value.subject}: ${next.value.detail}`;
    }
    const isSame = next.value.head === stated.head && next.value.closing === stated.closingBalance;
    const isWhole = stated.first === after + 1 && stated.last === to;
    if (stated.accountId === accountId && isSame && isWhole) return;
    yield 'the rows and the receipts end with different receipts';
  } finally {
    await close();
  }
}

/** The balance of the only account. */
async function endOf(db: Queries) {
  const { accountId, sequence } = balances;
  const end = await db.select({ accountId, sequence }).from(balances).get();
  if (end === undefined) throw new StoreError('The file has no balance.');
  return end;
}

/** How the verified receipts differ from the anchor in the books. */
export function anchorProblems(anchor: ArchivedMonth, totals: ChainTotals): readonly string[] {
  const { accountId, head, opening, closing, requests, movements } = anchor;
  const booked = {
    accountId,
    requests,
    movements,
    head: head.toHex(),
    first: anchor.firstSequence,
    last: anchor.lastSequence,
    openingBalance: formatTokens(opening),
    closingBalance: formatTokens(closing),
  };
  const found: Readonly<Record<keyof typeof booked, string | number | undefined>> = {
    ...totals,
    openingBalance: formatTokens(totals.openingBalance),
    closingBalance: formatTokens(totals.closingBalance),
  };
  return Object.entries(booked).flatMap(([name, value]) => {
    const own = found[name as keyof typeof booked];
    return own === value ? [] : [`the files have ${name} ${own}, and the books ${value}`];
  });
}
