// Verifies the two files of an archived month without a database: the receipts form a chain, and the
// rows give exactly these receipts.

import { formatTokens } from '../../core/money.ts';
import { receiptBody } from '../../core/receipt.ts';
import { type ChainTotals, createChainCheck } from '../../core/receipt-chain.ts';
import type { ArchivedMonth } from '../../ledger/archive/anchors.ts';
import {
  addName,
  type BookedMovement,
  type BookedRequest,
  hashOf,
  movementOf,
  requestOf,
} from '../../ledger/archive/rows.ts';
import { BookedNames } from '../../ledger/booked-names.ts';
import { receiptOfRow } from '../../ledger/booked-receipts.ts';
import { ArchiveError, type LedgerFacts } from '../../store/archive/format.ts';
import { checkFile, sha256 } from '../receipt-file.ts';
import type { MonthFiles } from './files.ts';
import { readMonth } from './read.ts';

export type VerifiedMonth = {
  /** What the file of rows says about itself. */
  readonly facts: LedgerFacts;
  /** Of the receipts that its rows give. */
  readonly totals: ChainTotals;
  /** In words for operators; empty for a sound archive. */
  readonly problems: readonly string[];
};

/** Rejects where a file cannot be read. `rest` is awaited after each portion. */
export async function verifyMonth(
  files: MonthFiles,
  rest: () => Promise<void> = async () => undefined,
): Promise<VerifiedMonth> {
  const receipts = await checkFile(files.receipts);
  const problems = receipts.problems
    .slice(0, PROBLEMS_MAX)
    .map(({ sequence, detail }) => `receipt ${sequence}: ${detail}`);
  try {
    const rows = await checkBooks(files.books, receipts.totals, rest);
    return { ...rows, problems: [...problems, ...rows.problems] };
  } catch (error) {
    if (!(error instanceof ArchiveError || error instanceof RangeError)) throw error;
    const totals = receipts.totals;
    return { facts: {}, totals, problems: [...problems, `the rows: ${error.message}`] };
  }
}

const PROBLEMS_MAX = 20;

/** `stated` are the totals of the file of receipts. */
async function checkBooks(
  path: string,
  stated: ChainTotals,
  rest: () => Promise<void>,
): Promise<VerifiedMonth> {
  const { names, movements, facts } = await readNames(path, rest);
  const accountId = facts['account'] ?? '';
  const problems: string[] = [];
  let previous = stated.previous;
  let own = '';
  const check = createChainCheck(() => own);
  function take(row: BookedRequest | BookedMovement): void {
    const receipt = receiptOfRow(accountId, row, previous, names);
    const body = receiptBody(receipt);
    own = sha256(body);
    previous = hashOf(row);
    if (own !== previous) problems.push(`row ${row.sequence} does not fit its receipt`);
    for (const { sequence, detail } of check.takeReceipt(receipt, body)) {
      problems.push(`row ${sequence}: ${detail}`);
    }
  }
  let next = 0;
  const takeMovementsBefore = (sequence: number): void => {
    for (; (movements[next]?.sequence ?? sequence) < sequence; next += 1) {
      take(movements[next] as BookedMovement);
    }
  };
  for await (const portion of readMonth(path)) {
    if (portion.kind !== 'rows' || portion.table !== 'requests') continue;
    for (const row of portion.rows.map(requestOf)) {
      takeMovementsBefore(row.sequence);
      take(row);
    }
    if (problems.length > PROBLEMS_MAX) break;
    await rest();
  }
  takeMovementsBefore(Number.MAX_SAFE_INTEGER);
  const totals = check.totals();
  if (totals.head !== stated.head || totals.first !== stated.first || totals.last !== stated.last) {
    problems.push('the rows and the receipts end with different receipts');
  }
  return { facts, totals, problems };
}

/** The first pass over the file, which reads and verifies all of it. */
async function readNames(path: string, rest: () => Promise<void>) {
  const names = new BookedNames();
  const movements: BookedMovement[] = [];
  let facts: LedgerFacts = {};
  for await (const portion of readMonth(path)) {
    if (portion.kind === 'end') facts = portion.ledger;
    if (portion.kind !== 'rows') continue;
    for (const row of portion.rows) {
      addName(names, portion.table, row);
      if (portion.table === 'movements') movements.push(movementOf(row));
    }
    await rest();
  }
  return { names, movements, facts };
}

/** How the verified files differ from the anchor in the books. */
export function anchorProblems(
  anchor: ArchivedMonth,
  { totals, facts }: Pick<VerifiedMonth, 'totals' | 'facts'>,
): readonly string[] {
  const booked = {
    account: anchor.accountId,
    month: anchor.month,
    first: anchor.firstSequence,
    last: anchor.lastSequence,
    head: anchor.head.toHex(),
    opening: formatTokens(anchor.opening),
    closing: formatTokens(anchor.closing),
    requests: anchor.requests,
    movements: anchor.movements,
  };
  const found: Readonly<Record<keyof typeof booked, string | number | undefined>> = {
    account: totals.accountId,
    month: facts['month'],
    first: totals.first,
    last: totals.last,
    head: totals.head,
    opening: formatTokens(totals.openingBalance),
    closing: formatTokens(totals.closingBalance),
    requests: totals.requests,
    movements: totals.movements,
  };
  return Object.entries(booked).flatMap(([name, value]) => {
    const own = found[name as keyof typeof booked];
    return own === value ? [] : [`the files have ${name} ${own}, and the books ${value}`];
  });
}
