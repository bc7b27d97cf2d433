// Verifies a chain of receipts or a slice of one: order, hashes and arithmetic, each receipt
// against the previous one. The command line uses it on exported files, and the audit on the
// ledger. It keeps one receipt in memory, regardless of the chain's length.

import { add, formatTokens, type Micro, subtract, ZERO } from './money.ts';
import { charge, chargeServed } from './price.ts';
import {
  type AccountReceipt,
  movedBy,
  NO_PREVIOUS_RECEIPT,
  type RequestReceipt,
  readReceipt,
} from './receipt.ts';
import { isRecomputed } from './unseen.ts';

/**
 * unreadable     not a receipt, or not in the canonical form
 * account        the receipt of another account
 * missing        receipts between the previous one and this one are missing
 * order          a receipt out of order, repeated, or with the wrong number
 * changed        the hash of receipt `sequence` differs from the one that its successor names
 * beginning      the first of all receipts names a predecessor
 * charge         the charge is not tokens times prices, or the tokens are not those of the estimate
 * debit          debit plus loss is not the charge
 * balance        the balance does not follow from the previous one
 * end            the chain does not end where its last line says
 */
export type ChainProblem = {
  readonly kind:
    | 'unreadable'
    | 'account'
    | 'missing'
    | 'order'
    | 'changed'
    | 'beginning'
    | 'charge'
    | 'debit'
    | 'balance'
    | 'end';
  /** The number of the wrong receipt or, if unreadable, the number expected there. */
  readonly sequence: number;
  /** One sentence for people, with the values that disagree. */
  readonly detail: string;
};

export type ChainTotals = {
  readonly accountId: string | undefined;
  /** Of the first and the last receipt; 0 if there is none. */
  readonly first: number;
  readonly last: number;
  readonly requests: number;
  readonly movements: number;
  /** By requests. */
  readonly debited: Micro;
  readonly loss: Micro;
  /** By all other movements, downward adjustments included. */
  readonly credited: Micro;
  /** Unverified if the slice begins in the middle of a chain, like its first `previous`. */
  readonly openingBalance: Micro;
  readonly closingBalance: Micro;
  /** The `previous` of the first receipt. */
  readonly previous: string;
  /** The hash of the last body, which the account's next receipt must name. */
  readonly head: string;
};

export type ChainCheck = {
  /** Checks the next body and returns the problems found in it or in the previous one. */
  readonly take: (body: string) => readonly ChainProblem[];
  /** The same for a body that is already parsed. */
  readonly takeReceipt: (receipt: AccountReceipt, body: string) => readonly ChainProblem[];
  readonly totals: () => ChainTotals;
};

/** Where a chain is known to be right: its receipts up to here were archived. */
export type ChainStart = {
  readonly accountId: string;
  /** Of the last receipt before the checked ones. */
  readonly sequence: number;
  readonly head: string;
  readonly posted: Micro;
};

/** What the next receipt continues. */
type Before = Pick<AccountReceipt, 'accountId' | 'sequence' | 'posted'>;

/** `sha256` returns lower-case hex. Without a start, the first receipt is taken as it is. */
export function createChainCheck(sha256: (body: string) => string, start?: ChainStart): ChainCheck {
  let before: Before | undefined = start;
  let isFirst = true;
  let totals: ChainTotals = {
    accountId: start?.accountId,
    first: 0,
    last: start?.sequence ?? 0,
    requests: 0,
    movements: 0,
    debited: ZERO,
    loss: ZERO,
    credited: ZERO,
    openingBalance: start?.posted ?? ZERO,
    closingBalance: start?.posted ?? ZERO,
    previous: start?.head ?? NO_PREVIOUS_RECEIPT,
    head: start?.head ?? NO_PREVIOUS_RECEIPT,
  };

  function take(body: string): readonly ChainProblem[] {
    const receipt = readReceipt(body);
    if (receipt !== undefined) return takeReceipt(receipt, body);
    return [problem('unreadable', totals.last + 1, 'This is no receipt.')];
  }

  function takeReceipt(receipt: AccountReceipt, body: string): readonly ChainProblem[] {
    const sequence = totals.last + 1;
    if (before !== undefined && receipt.accountId !== before.accountId) {
      const detail = 'This receipt belongs to another account.';
      return [problem('account', sequence, detail)];
    }
    const place = before === undefined ? placeOfFirst(receipt) : placeAfter(before, receipt);
    if (place.kind === 'misplaced') return place.problems;
    const problems = [...place.problems, ...arithmetic(receipt)];
    if (before !== undefined && place.kind === 'next') {
      problems.push(...continuity(before, receipt, sequence));
    }
    accept(receipt, place.kind === 'next' ? sequence : receipt.sequence, body);
    return problems;
  }

  /** Trusts the hash over the number: a receipt that names the previous one follows it. */
  function placeAfter(last: Before, receipt: AccountReceipt): Place {
    const expected = last.sequence + 1;
    if (receipt.previous === totals.head) {
      if (receipt.sequence === expected) return { kind: 'next', problems: [] };
      const detail = `This receipt calls itself ${receipt.sequence}.`;
      const problems = [problem('order', expected, detail)];
      return { kind: 'next', problems };
    }
    if (receipt.sequence === expected) {
      const detail = `Its hash is not the one that receipt ${expected} names.`;
      const problems = [problem('changed', last.sequence, detail)];
      return { kind: 'next', problems };
    }
    if (receipt.sequence < expected) {
      const detail = `This receipt comes after receipt ${last.sequence}.`;
      return { kind: 'misplaced', problems: [problem('order', receipt.sequence, detail)] };
    }
    const detail = `The receipts from ${expected} to ${receipt.sequence - 1} are not there.`;
    return { kind: 'jump', problems: [problem('missing', expected, detail)] };
  }

  function accept(receipt: AccountReceipt, sequence: number, body: string): void {
    if (isFirst) {
      isFirst = false;
      const { accountId, posted, previous } = receipt;
      totals = {
        ...totals,
        accountId,
        first: sequence,
        previous,
        openingBalance: subtract(posted, movedBy(receipt)),
      };
    }
    before = sequence === receipt.sequence ? receipt : { ...receipt, sequence };
    const isRequest = receipt.kind === 'request';
    totals = {
      ...totals,
      last: sequence,
      requests: totals.requests + (isRequest ? 1 : 0),
      movements: totals.movements + (isRequest ? 0 : 1),
      debited: add(totals.debited, isRequest ? receipt.debited : ZERO),
      loss: add(totals.loss, isRequest ? receipt.loss : ZERO),
      credited: add(totals.credited, isRequest ? ZERO : receipt.amount),
      closingBalance: receipt.posted,
      head: sha256(body),
    };
  }

  return { take, takeReceipt, totals: () => totals };
}

/**
 * The last line of an exported chain. It states where the chain ends and its last hash, so that
 * truncating the chain or changing its last receipt is detected.
 */
export function chainEnd({
  accountId,
  first,
  last,
  head,
}: Pick<ChainTotals, 'accountId' | 'first' | 'last' | 'head'>): string {
  return JSON.stringify({ end: last, account: accountId, first, head });
}

/** Whether a receipt follows the previous one, is further on, or is skipped. */
type Place = {
  readonly kind: 'next' | 'jump' | 'misplaced';
  readonly problems: readonly ChainProblem[];
};

function problem(kind: ChainProblem['kind'], sequence: number, detail: string): ChainProblem {
  return { kind, sequence, detail };
}

function placeOfFirst({ sequence, previous }: AccountReceipt): Place {
  const begins = previous === NO_PREVIOUS_RECEIPT;
  if (begins === (sequence === 1)) return { kind: 'jump', problems: [] };
  const detail = begins
    ? 'This receipt names none before it.'
    : 'This receipt names one before it.';
  return { kind: 'jump', problems: [problem('beginning', sequence, detail)] };
}

function arithmetic(receipt: AccountReceipt): ChainProblem[] {
  const { sequence, posted, available } = receipt;
  const problems: ChainProblem[] = [];
  if (available < 0n || available > posted) {
    const detail = `${formatTokens(available)} of ${formatTokens(posted)} cannot be available.`;
    problems.push(problem('balance', sequence, detail));
  }
  if (receipt.kind !== 'request') return problems;
  const { charged, debited, loss } = receipt;
  if (!chargeIsRight(receipt)) {
    const detail = `The tokens cost ${formatTokens(costOf(receipt))}, and ${formatTokens(charged)} was charged.`;
    problems.push(problem('charge', sequence, detail));
  }
  if (!isRecomputed(receipt.usage)) {
    const detail = 'The numbers of its estimate do not give the tokens.';
    problems.push(problem('charge', sequence, detail));
  }
  if (debited < 0n || loss < 0n || debited + loss !== charged) {
    const detail = `${formatTokens(debited)} debited and ${formatTokens(loss)} lost are not ${formatTokens(charged)}.`;
    problems.push(problem('debit', sequence, detail));
  }
  return problems;
}

/** The cost of the tokens at the lower of both prices; nothing if no model answered. */
function costOf({ modelServed, usage, price, priceServed }: RequestReceipt): Micro {
  if (modelServed === null) return ZERO;
  return priceServed === null ? charge(usage, price) : chargeServed(usage, price, priceServed);
}

/**
 * Checks the exact charge. An incomplete answer may have been counted by the gateway alone, and
 * such a charge never exceeds the hold.
 */
function chargeIsRight(receipt: RequestReceipt): boolean {
  const { charged, held, outcome } = receipt;
  const cost = costOf(receipt);
  return charged === cost || (outcome !== 'completed' && cost > held && charged === held);
}

function continuity(before: Before, receipt: AccountReceipt, sequence: number): ChainProblem[] {
  const expected = add(before.posted, movedBy(receipt));
  if (receipt.posted === expected) return [];
  const detail = `The balance would be ${formatTokens(expected)}, and is ${formatTokens(receipt.posted)}.`;
  return [problem('balance', sequence, detail)];
}
